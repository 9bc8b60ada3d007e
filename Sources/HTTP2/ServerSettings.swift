/// What a server session announces and keeps to (RFC 9113, section 6.5.2).
package struct ServerSettings: Sendable, Equatable {
    /// SETTINGS_HEADER_TABLE_SIZE: memory for the client's header compression.
    package var headerTableBytes = 4_096
    /// SETTINGS_MAX_CONCURRENT_STREAMS; more are refused with REFUSED_STREAM.
    package var concurrentStreamsMax = 1_000
    /// SETTINGS_INITIAL_WINDOW_SIZE: body bytes a stream may send before it is granted more.
    package var initialWindowBytes = 65_535
    /// SETTINGS_MAX_FRAME_SIZE, 16,384 to 16,777,215.
    package var frameBytesMax = 16_384
    /// SETTINGS_MAX_HEADER_LIST_SIZE: names, values and 32 bytes per field; above: status 431.
    package var headerListBytesMax = 8_000
    /// Body bytes that all streams together may send before they are granted more.
    package var connectionWindowBytes = 65_535
    /// A stream's window once its headers are here, when larger than `initialWindowBytes`: what a
    /// server does that announces 0 and grants room request by request, as nginx.
    package var streamWindowBytes = 0

    /// Body bytes after which WINDOW_UPDATE gives them back, on a stream and on the connection; 0:
    /// half of the window.
    package var windowStepBytes = 0

    package init() {}
}
