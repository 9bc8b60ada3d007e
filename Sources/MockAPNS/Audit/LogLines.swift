/// Collects a worker's log lines, and hands them to the log once per turn, or when there are many.
///
/// *Thread*: the worker's. *Limits*: 64 KiB; no allocation per line.
final class LogLines {
    private static let bufferBytes = 65_536
    /// More than any line has: 200 characters of token, 64 of reason, 36 of id, the rest numbers.
    private static let lineBytesMax = 1_024
    private static let tokenBytesMax = 200

    private let log: RequestLog
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: bufferBytes, alignment: 64)
    private var used = 0

    init(log: RequestLog) { self.log = log }

    deinit { buffer.deallocate() }

    /// What a line tells of a request.
    struct Entry {
        var monotonicNs: UInt64
        var wallMs: UInt64
        var connection: UInt64
        var stream: Int32
        var token: UnsafeRawBufferPointer?
        /// 0: no answer was given.
        var status: UInt16
        /// The answer's JSON.
        var answerBody: UnsafeRawBufferPointer?
        var messageID: UnsafeRawBufferPointer?
        var bodyBytes: Int
        var fault: FaultKind?
    }

    func add(_ entry: Entry) {
        if Self.bufferBytes - used < Self.lineBytesMax { flush() }
        number("{\"timeNs\":", entry.monotonicNs)
        number(",\"wallMs\":", entry.wallMs)
        number(",\"connection\":", entry.connection)
        number(",\"stream\":", UInt64(entry.stream))
        text(
            ",\"token\":",
            entry.token.map { UnsafeRawBufferPointer(rebasing: $0.prefix(Self.tokenBytesMax)) })
        number(",\"status\":", UInt64(entry.status))
        text(",\"reason\":", entry.answerBody.flatMap(Self.reason(in:)))
        text(",\"apnsId\":", entry.messageID)
        number(",\"bytes\":", UInt64(entry.bodyBytes))
        if let fault = entry.fault {
            put(",\"fault\":\"")
            for byte in fault.row.key.utf8 { put(byte) }
            put("\"")
        }
        put("}\n")
    }

    /// Hands all lines over; waits when the log's writer is behind.
    func flush() {
        guard used > 0 else { return }
        log.append(UnsafeRawBufferPointer(rebasing: buffer[..<used]))
        used = 0
    }

    /// The text in `{"reason":"…"`, which is how every refusal begins.
    private static func reason(in body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let start: StaticString = "{\"reason\":\""
        guard body.starts(with: start) else { return nil }
        let text = body[start.utf8CodeUnitCount...].prefix { $0 != UInt8(ascii: "\"") }
        return UnsafeRawBufferPointer(rebasing: text.prefix(64))
    }

    private func put(_ text: StaticString) {
        UnsafeMutableRawBufferPointer(rebasing: buffer[used...]).copyMemory(
            from: UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        used += text.utf8CodeUnitCount
    }

    private func put(_ byte: UInt8) {
        buffer[used] = byte
        used += 1
    }

    private func number(_ key: StaticString, _ value: UInt64) {
        put(key)
        var divisor: UInt64 = 1
        while value / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            put(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }

    /// A member with a text; left out when there is none. What would need an escape becomes "?":
    /// tokens, reasons and ids have no such bytes, unless a client plays tricks.
    private func text(_ key: StaticString, _ value: UnsafeRawBufferPointer?) {
        guard let value else { return }
        put(key)
        put(UInt8(ascii: "\""))
        for byte in value {
            let isPlain =
                byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"")
                && byte != UInt8(ascii: "\\")
            put(isPlain ? byte : UInt8(ascii: "?"))
        }
        put(UInt8(ascii: "\""))
    }
}
