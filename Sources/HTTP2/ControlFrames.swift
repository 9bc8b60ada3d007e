/// The frames of a client session beside its requests: what is due, until the output has room.
///
/// *Limits*: all of it is fixed. Answers to PING and SETTINGS that find no room, because the peer
/// does not read them, add up to an error; resets cannot be more than there are streams.
final class ControlFrames {
    private static let pingsMax = 32
    private static let acknowledgementsMax = 32
    /// A stream number, an error code or an increment.
    private static let numberBytes = 4
    private static let pingBytes = 8
    /// RFC 9113, section 3.4.
    private static let preface: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    private let pings: UnsafeMutablePointer<UInt64>  // owned: payloads as they came
    private var pingCount = 0
    private let resets: UnsafeMutablePointer<Int32>  // owned: a queue of stream numbers
    private let resetsMax: Int
    private var resetCount = 0
    private var acknowledgementCount = 0
    private var needsPreface = true
    private var ownPing: UInt64?
    private var goAway: HTTP2ErrorCode?
    /// Anything is due.
    private(set) var isWaiting = true

    init(streamsMax: Int) {
        pings = .allocate(capacity: Self.pingsMax)
        resets = .allocate(capacity: streamsMax)
        resetsMax = streamsMax
    }

    deinit {
        pings.deallocate()
        resets.deallocate()
    }

    // MARK: What is due

    /// The peer's SETTINGS are to be acknowledged.
    func acknowledgeSettings(_ output: OutputBuffer) throws(HTTP2Error) {
        acknowledgementCount += 1
        isWaiting = true
        guard acknowledgementCount == Self.acknowledgementsMax else { return }
        writeAcknowledgements(output)
        guard acknowledgementCount < Self.acknowledgementsMax else {
            throw .enhanceYourCalm("the peer sends SETTINGS and does not read what they cause")
        }
    }

    /// The peer's PING is to be answered.
    func answerPing(_ payload: UInt64, _ output: OutputBuffer) throws(HTTP2Error) {
        pings[pingCount] = payload
        pingCount += 1
        isWaiting = true
        guard pingCount == Self.pingsMax else { return }
        writeAcknowledgements(output)
        writePongs(output)
        guard pingCount < Self.pingsMax else {
            throw .enhanceYourCalm("the peer sends PING and does not read the answers")
        }
    }

    /// A PING of our own.
    func ping(_ payload: UInt64) {
        ownPing = payload
        isWaiting = true
    }

    /// The stream is to be reset. *Limits*: each open stream once.
    func reset(_ stream: Int32) {
        precondition(resetCount < resetsMax)
        resets[resetCount] = stream
        resetCount += 1
        isWaiting = true
    }

    /// GOAWAY is to be sent; an error takes the place of a polite one that waits.
    func sayGoodbye(_ code: HTTP2ErrorCode) {
        goAway = code
        isWaiting = true
    }

    // MARK: Bytes

    /// Writes what has room. `takeReset` is asked for the code of each reset when it is written;
    /// nil: the stream is over already.
    func write(
        to output: OutputBuffer, takeReset: (Int32) -> HTTP2ErrorCode?
    ) {
        guard isWaiting, writePreface(output) else { return }
        writeAcknowledgements(output)
        writePongs(output)
        if let payload = ownPing,
            output.appendFrame(
                .ping, byteCount: Self.pingBytes, { $0.storeBytes(of: payload, as: UInt64.self) })
        {
            ownPing = nil
        }
        writeResets(output, takeReset)
        if let code = goAway, resetCount == 0,
            // The server opened no streams: the last one is 0.
            output.appendFrame(
                .goAway, byteCount: 2 * Self.numberBytes,
                {
                    $0.storeBigEndian(0, at: 0)
                    $0.storeBigEndian(code.rawValue, at: Self.numberBytes)
                })
        {
            goAway = nil
        }
        isWaiting =
            acknowledgementCount + pingCount + resetCount > 0 || ownPing != nil || goAway != nil
    }

    private func writePreface(_ output: OutputBuffer) -> Bool {
        guard needsPreface else { return true }
        let settings: [(id: UInt32, value: UInt32)] = [
            (2, 0),  // ENABLE_PUSH
            (6, UInt32(ClientSession.headerListBytesMax)),  // MAX_HEADER_LIST_SIZE
        ]
        let text = UnsafeRawBufferPointer(
            start: Self.preface.utf8Start, count: Self.preface.utf8CodeUnitCount)
        guard output.free >= 64, output.append(text) else { return false }
        needsPreface = false
        return output.appendFrame(.settings, byteCount: 6 * settings.count) { payload in
            for (index, setting) in settings.enumerated() {
                payload.storeBigEndian(setting.id << 16, at: 6 * index)
                payload.storeBigEndian(setting.value, at: 6 * index + 2)
            }
        }
    }

    private func writeAcknowledgements(_ output: OutputBuffer) {
        while acknowledgementCount > 0,
            output.appendFrame(.settings, flags: .ack, byteCount: 0, { _ in })
        {
            acknowledgementCount -= 1
        }
    }

    private func writePongs(_ output: OutputBuffer) {
        var written = 0
        while written < pingCount,
            output.appendFrame(
                .ping, flags: .ack, byteCount: Self.pingBytes,
                {
                    $0.storeBytes(of: pings[written], as: UInt64.self)
                })
        {
            written += 1
        }
        pingCount -= written
        if written > 0, pingCount > 0 { pings.update(from: pings + written, count: pingCount) }
    }

    private func writeResets(
        _ output: OutputBuffer, _ takeReset: (Int32) -> HTTP2ErrorCode?
    ) {
        var written = 0
        while written < resetCount,
            output.free >= FrameHead.byteCount + Self.numberBytes
        {
            let stream = resets[written]
            written += 1
            guard let code = takeReset(stream) else { continue }
            _ = output.appendFrame(.resetStream, stream: stream, byteCount: Self.numberBytes) {
                $0.storeBigEndian(code.rawValue, at: 0)
            }
        }
        resetCount -= written
        if written > 0, resetCount > 0 { resets.update(from: resets + written, count: resetCount) }
    }
}

extension OutputBuffer {
    /// Appends a frame whose payload `fill` writes; false, and nothing happens, without room.
    func appendFrame(
        _ type: FrameType, flags: FrameFlags = [], stream: Int32 = 0, byteCount: Int,
        _ fill: (UnsafeMutableRawPointer) -> Void
    ) -> Bool {
        guard let room = reserve(FrameHead.byteCount + byteCount), let start = room.baseAddress
        else { return false }
        FrameHead(type, flags: flags, stream: stream, payloadBytes: byteCount).write(to: start)
        fill(start + FrameHead.byteCount)
        commit(room.count)
        return true
    }

    /// Appends a WINDOW_UPDATE; false, and nothing happens, without room.
    func appendWindowUpdate(stream: Int32, byteCount: Int32) -> Bool {
        appendFrame(.windowUpdate, stream: stream, byteCount: 4) {
            $0.storeBigEndian(UInt32(byteCount), at: 0)
        }
    }
}
