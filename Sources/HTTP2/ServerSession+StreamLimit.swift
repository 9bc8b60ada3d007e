internal import CNghttp2

/// The limit of concurrent streams, kept by the session itself.
///
/// nghttp2 would refuse streams only until the client has acknowledged a new limit and would end
/// the connection afterwards, and it holds a raised limit back until the acknowledgement, which
/// some clients send after the first streams that make use of it. Here a limit holds from the
/// moment it is set, and a stream above it is refused and nothing more (RFC 9113, section 5.1.2).
extension ServerSession {
    /// Added to the limit that nghttp2 is told, so that it never refuses by itself; taken off again
    /// on the frame's way out. Real limits are far below.
    static let limitMark = 1 << 30

    /// Refused streams whose RST_STREAM waits to be sent, at most: a client that goes on opening
    /// streams without reading has its connection ended.
    static let refusalsWaitingMax = 4_096

    /// SETTINGS frames that the client has not acknowledged, at most, before further limits wait
    /// for an acknowledgement: bounds what a client that does not read makes pile up.
    static let settingsWaitingMax = 16

    /// Sets SETTINGS_MAX_CONCURRENT_STREAMS: it holds at once, and is announced by a SETTINGS frame
    /// with that one entry. Streams that are open stay open.
    package func setConcurrentStreamsMax(_ count: Int) {
        precondition((0..<Self.limitMark).contains(count))
        guard !hasEnded, count != settings.concurrentStreamsMax else { return }
        settings.concurrentStreamsMax = count
        if isAnnounced { announceStreamLimit() }
    }

    /// The client has acknowledged a SETTINGS frame.
    func onSettingsAcknowledged() {
        settingsWaiting = max(0, settingsWaiting - 1)
        if isStreamLimitUnannounced { announceStreamLimit() }
    }

    /// Whether a new stream is within the limit; one that is not is refused.
    func admits(_ stream: Int32) -> Bool {
        if openStreamCount < settings.concurrentStreamsMax { return true }
        refusalsWaiting += 1
        nghttp2_submit_rst_stream(handle.raw, 0, stream, HTTP2ErrorCode.refusedStream.rawValue)
        if refusalsWaiting > Self.refusalsWaitingMax, cause == nil {
            let code = HTTP2ErrorCode.enhanceYourCalm
            cause = HTTP2Error(code: code, message: "the peer opened too many streams")
            nghttp2_session_terminate_session(handle.raw, code.rawValue)
        }
        return false
    }

    private func announceStreamLimit() {
        isStreamLimitUnannounced = settingsWaiting >= Self.settingsWaitingMax
        guard !isStreamLimitUnannounced else { return }
        var entry = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
            value: UInt32(settings.concurrentStreamsMax + Self.limitMark))
        let result = nghttp2_submit_settings(handle.raw, 0, &entry, 1)
        if result == 0 {
            settingsWaiting += 1
        } else if cause == nil {
            cause = NGHTTP2Handle.error(result)
        }
    }
}
