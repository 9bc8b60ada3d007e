/// The SETTINGS of a server that its client keeps to (RFC 9113, section 6.5.2). The windows are
/// `SendWindows`' matter, the frame size nobody's: we send no frame over the smallest limit there
/// is.
final class PeerSettings {
    /// What one frame has changed beside the values here.
    struct Change {
        var initialWindowBytes: UInt32?
        /// Every value in turn: a table that shrinks and grows again is emptied between.
        var headerTableBytesMin: UInt32?
        var headerTableBytes: UInt32?
    }

    /// SETTINGS_MAX_CONCURRENT_STREAMS; without a word from the server there is no limit.
    private(set) var concurrentStreamsMax = UInt32.max
    /// SETTINGS_MAX_HEADER_LIST_SIZE; likewise.
    private(set) var headerListBytesMax = UInt32.max

    private static let entryBytes = 6
    private static let frameBytesRange: ClosedRange<UInt32> = 16_384...16_777_215

    init() {}

    /// Takes the values of a frame in their order; unknown ones are ignored.
    func apply(_ payload: UnsafeRawBufferPointer) throws(HTTP2Error) -> Change {
        guard payload.count % Self.entryBytes == 0 else {
            throw .frameSizeError("SETTINGS of \(payload.count) bytes")
        }
        var change = Change()
        guard let start = payload.baseAddress else { return change }
        for offset in stride(from: 0, to: payload.count, by: Self.entryBytes) {
            let id = start.bigEndian32(at: offset) >> 16
            let value = start.bigEndian32(at: offset + 2)
            switch id {
            case 1:
                change.headerTableBytes = value
                change.headerTableBytesMin = min(change.headerTableBytesMin ?? value, value)
            case 2:
                guard value == 0 else { throw .protocolError("a server enables push") }
            case 3: concurrentStreamsMax = value
            case 4: change.initialWindowBytes = value
            case 5:
                guard Self.frameBytesRange.contains(value) else {
                    throw .protocolError("SETTINGS_MAX_FRAME_SIZE of \(value)")
                }
            case 6: headerListBytesMax = value
            default: break
            }
        }
        return change
    }
}
