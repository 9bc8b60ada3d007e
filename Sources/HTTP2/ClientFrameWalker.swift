/// Follows the frames in a client's bytes, and finds what is not handed to nghttp2 as it came: the
/// last-stream-id of each GOAWAY, and HEADERS frames for `HeaderUnpacker`.
///
/// A last-stream-id is about streams that the server opened, and this one opens none, so it says
/// nothing. Some clients put the number of a stream of their own there, for which nghttp2 ends the
/// connection with PROTOCOL_ERROR and the answers that are still due are lost. A session therefore
/// reads a zero in its place.
///
/// *Limits*: none on the size or split of the bytes; it keeps no more than a frame's header.
struct ClientFrameWalker {
    /// RFC 9113, section 4.1: length (3 bytes), type, flags, stream (4).
    private static let headBytesCount = 9
    /// RFC 9113, section 6.8.
    private static let goAwayType: UInt8 = 7
    private static let lastStreamBytesCount = 4

    /// Bytes until the next header; at first the client's preface (RFC 9113, section 3.4).
    private var skippedLeft = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8.count
    private var headBytesSeen = 0
    private var length = 0
    private var type: UInt8 = 0
    private var lastStreamLeft = 0

    /// Walks over the bytes that come next, at most to the end of the first part of a
    /// last-stream-id or of a HEADERS frame: `plain` bytes, then `lastStream` or `headers` bytes of
    /// those. Together they are more than none, unless `bytes` is empty.
    mutating func next(
        _ bytes: UnsafeRawBufferPointer
    ) -> (plain: Int, lastStream: Int, headers: Int) {
        var at = 0
        while at < bytes.count, lastStreamLeft == 0 {
            if skippedLeft == 0, headBytesSeen == 0 {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[at...])
                let headers = HeaderUnpacker.frameBytes(rest)
                if headers > 0 { return (at, 0, headers) }
            }
            if skippedLeft > 0 {
                let count = min(skippedLeft, bytes.count - at)
                skippedLeft -= count
                at += count
            } else {
                addHeadByte(bytes[at])
                at += 1
            }
        }
        let lastStream = min(lastStreamLeft, bytes.count - at)
        lastStreamLeft -= lastStream
        return (at, lastStream, 0)
    }

    private mutating func addHeadByte(_ byte: UInt8) {
        if headBytesSeen < 3 { length = length << 8 | Int(byte) }
        if headBytesSeen == 3 { type = byte }
        headBytesSeen += 1
        guard headBytesSeen == Self.headBytesCount else { return }
        // A frame that is too short for its type is refused by nghttp2 at its header.
        if type == Self.goAwayType { lastStreamLeft = min(Self.lastStreamBytesCount, length) }
        skippedLeft = length - lastStreamLeft
        headBytesSeen = 0
        length = 0
    }
}
