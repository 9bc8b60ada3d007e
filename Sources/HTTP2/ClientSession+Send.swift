// What leaves: requests, what is left of a body, and the frames beside them.

extension ClientSession {
    /// Whether a request with such a body would be taken now: the session is ready and not
    /// draining, the peer's stream limit and connection window have room, no body waits for its
    /// stream's window, and the output has room.
    package func canSubmit(bodyBytes: Int) -> Bool {
        hasSettings && body.leftBytes == 0 && bodyBytes <= Self.bodyBytesMax
            && streams.openCount < streamLimit && streams.freeCount > 0
            && connectionWindow >= bodyBytes
            && output.free >= roomBytes(bodyBytes: bodyBytes, valueBytes: 512) && !isDraining
    }

    /// Serialises a request into `output` and names its stream; nil: not now, nothing happened.
    ///
    /// `path` follows the template's prefix; `values` belong to the template's `perRequestHeaders`,
    /// an empty one leaves its header out. What the peer's stream window does not take of the body
    /// is kept and sent when it opens. *Ownership*: all three are borrowed for the call. *Limits*:
    /// 1,024 bytes of path, `bodyBytesMax` of body; the output must hold all at once. A header list
    /// that the peer announced not to take ends the connection.
    package func submit(
        request: UInt32, path: UnsafeRawBufferPointer,
        values: UnsafeBufferPointer<UnsafeRawBufferPointer>, body bytes: UnsafeRawBufferPointer
    ) -> StreamID? {
        guard canSubmit(bodyBytes: bytes.count) else { return nil }
        if control.isWaiting { sendControlFrames() }
        var valueBytes = 0
        for value in values { valueBytes += value.count }
        let roomBytes = roomBytes(bodyBytes: bytes.count, valueBytes: valueBytes)
        // An acknowledgement that waits must come before the block.
        guard !control.isWaiting, output.free >= roomBytes,
            isAllowed(listBytes: blocks.listBytes(path: path, values: values)),
            let start = output.reserve(roomBytes - Self.controlBytesMax)?.baseAddress
        else { return nil }
        let stream = nextStream
        nextStream += 2
        let slot = streams.take(
            request: request, stream: stream, outputOffset: output.appendedTotal)
        let block = start + FrameHead.byteCount
        let blockEnd = blocks.write(path: path, values: values, to: block)
        FrameHead(
            .headers, flags: bytes.isEmpty ? [.endHeaders, .endStream] : .endHeaders,
            stream: stream, payloadBytes: blockEnd - block
        ).write(to: start)
        let end = writeBody(bytes, slot, to: blockEnd)
        output.commit(end - start)
        if nextStream > Self.streamIDLast { goAway() }
        return StreamID(rawValue: stream)
    }

    /// Moves into the output what has room there: what is due, and what the windows allow of a
    /// body.
    func sendFrames() {
        if isStreamCreditDue { sendStreamCredit() }
        if received.isHalfUsed { sendConnectionCredit() }
        if control.isWaiting { sendControlFrames() }
        if body.leftBytes > 0 { sendPendingBody() }
    }

    private func sendControlFrames() {
        control.write(to: output) { stream in
            guard let slot = streams.slot(of: stream) else { return nil }
            let code = streams[slot].resetCode
            close(slot)
            return code
        }
    }

    /// Output bytes that must be free before a request: the request itself with the heads of its
    /// frames, and what is left to others.
    private func roomBytes(bodyBytes: Int, valueBytes: Int) -> Int {
        2 * FrameHead.byteCount + blocks.blockBytesMax(valueBytes: valueBytes) + bodyBytes
            + Self.controlBytesMax
    }

    /// No request can be sent when the server takes no header list of that size: it would answer
    /// none of them.
    func isAllowed(listBytes: Int) -> Bool {
        let limit = min(Int(peerSettings.headerListBytesMax), FrameHead.payloadBytesMax)
        guard listBytes > limit else { return true }
        fail(
            HTTP2Error(
                code: .internalError,
                message: """
                    the server takes request headers of \(limit) bytes, and these have \(listBytes)
                    """))
        return false
    }

    // MARK: Bodies

    /// Writes of a new request's body what its stream's window takes, and keeps the rest.
    private func writeBody(
        _ bytes: UnsafeRawBufferPointer, _ slot: Int, to place: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return place }
        let count = min(bytes.count, max(0, sendWindows.room(difference: 0)))
        if count < bytes.count {
            body.keep(
                UnsafeRawBufferPointer(rebasing: bytes[count...]),
                stream: streams[slot].streamID)
        }
        guard count > 0 else { return place }
        noteSent(count, slot)
        FrameHead(
            .data, flags: count == bytes.count ? .endStream : [], stream: streams[slot].streamID,
            payloadBytes: count
        ).write(to: place)
        (place + FrameHead.byteCount).copyMemory(from: source, byteCount: count)
        return place + FrameHead.byteCount + count
    }

    private func sendPendingBody() {
        guard cause == nil, let slot = streams.slot(of: body.stream) else { return body.drop() }
        let room = output.free - FrameHead.byteCount - Self.controlBytesMax
        let window = sendWindows.room(difference: streams[slot].windowDifference)
        let count = min(body.leftBytes, window, room)
        guard count > 0 else { return }
        let stream = body.stream
        let isLast = count == body.leftBytes
        let bytes = body.take(count)
        noteSent(count, slot)
        let isWritten = output.appendFrame(
            .data, flags: isLast ? .endStream : [], stream: stream, byteCount: count
        ) { $0.copyMemory(from: bytes, byteCount: count) }
        assert(isWritten)
    }

    private func noteSent(_ byteCount: Int, _ slot: Int) {
        sendWindows.sent(byteCount)
        streams[slot].windowDifference -= byteCount
    }

    // MARK: Windows of the peer

    private func sendConnectionCredit() {
        guard output.free >= 2 * FrameHead.byteCount else { return }
        let byteCount = received.giveBack()
        let isWritten = output.appendWindowUpdate(stream: 0, byteCount: byteCount)
        assert(isWritten)
    }

    /// Opens the windows of the streams whose responses are long.
    private func sendStreamCredit() {
        isStreamCreditDue = false
        for slot in 0..<streams.capacity
        where streams[slot].isOpen && streams[slot].received.isHalfUsed {
            guard output.free >= 2 * FrameHead.byteCount else {
                isStreamCreditDue = true
                return
            }
            let byteCount = streams[slot].received.giveBack()
            let isWritten = output.appendWindowUpdate(
                stream: streams[slot].streamID, byteCount: byteCount)
            assert(isWritten)
        }
    }
}
