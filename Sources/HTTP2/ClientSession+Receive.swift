// What arrives, frame by frame (RFC 9113, section 6). A thrown error ends the connection.

extension ClientSession {
    /// Frames without any content that are taken in a row: more are only meant to keep us busy.
    private static let emptyFramesMax = 1_000

    /// Reads the frames that are whole, and keeps the beginning of the last one.
    func readFrames(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        var rest = bytes
        while let frame = try reader.next(&rest) { try read(frame) }
    }

    private func read(_ frame: Frame) throws(HTTP2Error) {
        let head = frame.head
        guard headerBlock.stream == 0 else { return try readContinuation(frame) }
        switch head.type {
        case .headers: try readHeaders(frame)
        case .data: try readData(frame)
        case .windowUpdate: try readWindowUpdate(frame)
        case .resetStream: try readReset(frame)
        case .settings: try readSettings(frame)
        case .ping: try readPing(frame)
        case .goAway: try readGoAway(frame)
        case .priority:
            guard head.stream != 0 else { throw .protocolError("PRIORITY for the connection") }
            try countEmpty()
        case .continuation: throw .protocolError("CONTINUATION without HEADERS")
        case .pushPromise: throw .protocolError("PUSH_PROMISE, which our SETTINGS refuse")
        default: try countEmpty()
        }
    }

    private func countEmpty() throws(HTTP2Error) {
        emptyFramesInARow += 1
        guard emptyFramesInARow <= Self.emptyFramesMax else {
            throw .enhanceYourCalm("over \(Self.emptyFramesMax) frames in a row say nothing")
        }
    }

    /// A stream that was never opened cannot have frames; one that is over can, for a while.
    private func checkBegun(_ stream: Int32) throws(HTTP2Error) {
        guard stream & 1 == 1, stream < nextStream else {
            throw .protocolError("a frame for stream \(stream), which was never opened")
        }
    }

    /// The slot of a stream whose frames somebody wants; nil: it is over, or about to be reset.
    private func listeningSlot(_ stream: Int32) -> Int? {
        guard let slot = streams.slot(of: stream), streams[slot].resetCode == nil else {
            return nil
        }
        return slot
    }

    // MARK: Responses

    private func readHeaders(_ frame: Frame) throws(HTTP2Error) {
        emptyFramesInARow = 0
        try checkBegun(frame.head.stream)
        var block = try withoutPadding(frame)
        if frame.head.flags.contains(.priority) {
            let priorityBytes = 5
            guard block.count >= priorityBytes else {
                throw .frameSizeError("HEADERS with half a priority")
            }
            block = UnsafeRawBufferPointer(rebasing: block[priorityBytes...])
        }
        let isLast = frame.head.flags.contains(.endStream)
        guard frame.head.flags.contains(.endHeaders) else {
            return try headerBlock.begin(block, stream: frame.head.stream, isLast: isLast)
        }
        try readBlock(block, stream: frame.head.stream, isLast: isLast)
    }

    private func readContinuation(_ frame: Frame) throws(HTTP2Error) {
        let stream = headerBlock.stream
        guard frame.head.type == .continuation, frame.head.stream == stream else {
            throw .protocolError("a frame in the middle of a header block")
        }
        try headerBlock.add(frame.payload)
        guard frame.head.flags.contains(.endHeaders) else { return }
        let isLast = headerBlock.isLast
        try readBlock(headerBlock.finish(), stream: stream, isLast: isLast)
    }

    /// Reads a header list, also when nobody waits for it: the table must not miss it.
    private func readBlock(
        _ block: UnsafeRawBufferPointer, stream: Int32, isLast: Bool
    ) throws(HTTP2Error) {
        let head = try inflater.read(block)
        guard let slot = listeningSlot(stream) else { return }
        guard streams[slot].status == 0 else { return readTrailers(head, slot, isLast: isLast) }
        guard !head.isMalformed, head.status != 0, head.status >= 200 || !isLast else {
            return reset(slot, .protocolError)
        }
        guard head.status >= 200 else { return }
        streams[slot].status = head.status
        streams[slot].retryAfterSeconds = head.retryAfterSeconds
        if head.status == 200 {
            streams.decide(slot, errorCode: .noError, withoutStatus: .unknown)
        }
        if isLast { responseEnded(slot) }
    }

    private func readTrailers(_ head: ResponseHead, _ slot: Int, isLast: Bool) {
        guard isLast, !head.isMalformed, head.status == 0 else {
            return reset(slot, .protocolError)
        }
        responseEnded(slot)
    }

    private func readData(_ frame: Frame) throws(HTTP2Error) {
        let stream = frame.head.stream
        let isLast = frame.head.flags.contains(.endStream)
        if frame.payload.isEmpty, !isLast { try countEmpty() } else { emptyFramesInARow = 0 }
        try checkBegun(stream)
        // All of the frame counts, padding included, whatever becomes of it.
        guard received.take(frame.payload.count) else {
            throw HTTP2Error(
                code: .flowControlError, message: "more bytes than the connection's window takes")
        }
        let bytes = try withoutPadding(frame)
        guard let slot = listeningSlot(stream) else { return }
        guard streams[slot].received.take(frame.payload.count) else {
            return reset(slot, .flowControlError)
        }
        guard streams[slot].status != 0 else { return reset(slot, .protocolError) }
        if !streams[slot].isDecided { streams.appendBody(slot, bytes) }
        if isLast {
            responseEnded(slot)
        } else if streams[slot].received.isHalfUsed {
            isStreamCreditDue = true
        }
    }

    /// The response is complete, perhaps before our body was: it counts, and nobody needs the rest
    /// of the body.
    private func responseEnded(_ slot: Int) {
        streams.decide(slot, errorCode: .noError, withoutStatus: .unknown)
        if streams[slot].streamID == body.stream {
            reset(slot, .cancel)
        } else {
            close(slot)
        }
    }

    /// The content of a frame that may be padded (RFC 9113, section 6.1).
    private func withoutPadding(_ frame: Frame) throws(HTTP2Error) -> UnsafeRawBufferPointer {
        guard frame.head.flags.contains(.padded) else { return frame.payload }
        guard let paddingBytes = frame.payload.first.map(Int.init) else {
            throw .frameSizeError("a padded frame without a length")
        }
        guard paddingBytes < frame.payload.count else {
            throw .protocolError("more padding than the frame has bytes")
        }
        return UnsafeRawBufferPointer(
            rebasing: frame.payload[1..<frame.payload.count - paddingBytes])
    }

    private func readReset(_ frame: Frame) throws(HTTP2Error) {
        let code = HTTP2ErrorCode(rawValue: try number(frame))
        try checkBegun(frame.head.stream)
        guard let slot = streams.slot(of: frame.head.stream) else { return try countEmpty() }
        let isRefused = code == .refusedStream
        streams.decide(slot, errorCode: code, withoutStatus: isRefused ? .unprocessed : .unknown)
        close(slot)
    }

    // MARK: The connection

    private func readSettings(_ frame: Frame) throws(HTTP2Error) {
        guard frame.head.stream == 0 else { throw .protocolError("SETTINGS for a stream") }
        guard !frame.head.flags.contains(.ack) else {
            guard frame.payload.isEmpty else {
                throw .frameSizeError("an acknowledgement of SETTINGS with values")
            }
            return
        }
        let change = try peerSettings.apply(frame.payload)
        if let byteCount = change.initialWindowBytes {
            var differenceMax = 0
            for slot in 0..<streams.capacity where streams[slot].isOpen {
                differenceMax = max(differenceMax, streams[slot].windowDifference)
            }
            try sendWindows.setInitial(byteCount, differenceMax: differenceMax)
        }
        if let last = change.headerTableBytes, let smallest = change.headerTableBytesMin {
            blocks.setTableBytes(smallest: smallest, last: last)
        }
        hasSettings = true
        settingsChanged = true
        try control.acknowledgeSettings(output)
        _ = isAllowed(listBytes: blocks.listBytes)
    }

    private func readPing(_ frame: Frame) throws(HTTP2Error) {
        let payloadBytes = 8
        guard frame.head.stream == 0 else { throw .protocolError("PING for a stream") }
        guard frame.payload.count == payloadBytes else {
            throw .frameSizeError("PING of \(frame.payload.count) bytes")
        }
        let payload = frame.payload.loadUnaligned(as: UInt64.self)
        guard frame.head.flags.contains(.ack) else {
            return try control.answerPing(payload, output)
        }
        guard pingIsOut, payload == pingPayload else { return }
        pingIsOut = false
        pongArrived = true
    }

    private func readGoAway(_ frame: Frame) throws(HTTP2Error) {
        let fixedBytes = 8
        guard frame.head.stream == 0 else { throw .protocolError("GOAWAY for a stream") }
        guard let start = frame.payload.baseAddress, frame.payload.count >= fixedBytes else {
            throw .frameSizeError("GOAWAY of \(frame.payload.count) bytes")
        }
        goAwayArrived = true
        // What was handed back once stays handed back: a later, larger number says nothing.
        let last = Int32(start.bigEndian32(at: 0) & 0x7FFF_FFFF)
        goAwayLastStream = min(goAwayLastStream, last)
        let data = frame.payload[fixedBytes...].prefix(Self.goAwayDebugBytesMax)
        if goAways.count == Self.goAwaysKeptMax { goAways.removeLast() }
        goAways.append(
            GoAway(
                lastStreamID: last, errorCode: HTTP2ErrorCode(rawValue: start.bigEndian32(at: 4)),
                debugData: Array(data)))
        for slot in 0..<streams.capacity
        where streams[slot].isOpen && streams[slot].streamID > goAwayLastStream {
            streams.decide(slot, errorCode: .refusedStream, withoutStatus: .unprocessed)
            close(slot)
        }
    }

    private func readWindowUpdate(_ frame: Frame) throws(HTTP2Error) {
        let byteCount = Int(try number(frame) & 0x7FFF_FFFF)
        guard frame.head.stream != 0 else {
            return try sendWindows.openConnection(by: byteCount)
        }
        try checkBegun(frame.head.stream)
        guard let slot = listeningSlot(frame.head.stream) else { return }
        guard byteCount > 0 else { return reset(slot, .protocolError) }
        let difference = streams[slot].windowDifference + byteCount
        guard sendWindows.allows(difference: difference) else {
            return reset(slot, .flowControlError)
        }
        streams[slot].windowDifference = difference
    }

    /// The payload of RST_STREAM and WINDOW_UPDATE: one number.
    private func number(_ frame: Frame) throws(HTTP2Error) -> UInt32 {
        guard let start = frame.payload.baseAddress, frame.payload.count == 4 else {
            throw .frameSizeError("\(frame.payload.count) bytes where there must be four")
        }
        return start.bigEndian32(at: 0)
    }
}
