internal import CNghttp2
internal import Glibc

// nghttp2's callbacks. They only write down what happened; none of them calls a delegate, and
// nghttp2 itself only to look up a stream.

private func client(_ userData: UnsafeMutableRawPointer?) -> ClientSession {
    // The user data is set in the session's init, before any callback, and is never nil.
    Unmanaged<ClientSession>.fromOpaque(userData!).takeUnretainedValue()
}

func addClientCallbacks(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, userData in
        client(userData).onBeginHeaders(frame!.pointee.hd.stream_id)
        return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
        _, _, name, nameBytes, value, valueBytes, _, userData in
        client(userData).onHeader(
            UnsafeRawBufferPointer(start: name, count: nameBytes),
            UnsafeRawBufferPointer(start: value, count: valueBytes))
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, userData in
        client(userData).onFrame(frame!)
        return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
        _, _, stream, data, count, userData in
        client(userData).onData(stream, UnsafeRawBufferPointer(start: data, count: count))
        return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) {
        _, stream, code, userData in
        client(userData).onStreamClose(stream, HTTP2ErrorCode(rawValue: code))
        return 0
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, userData in
        let kind = UInt32(frame!.pointee.hd.type)
        guard kind == NGHTTP2_GOAWAY.rawValue else { return 0 }
        let session = client(userData)
        if session.cause == nil {
            session.cause = NGHTTP2Handle.error(inSent: frame!.pointee.goaway)
        }
        return 0
    }
}

/// Gives nghttp2 the body of the one request that has bytes to send.
let readClientBody: nghttp2_data_source_read_callback = {
    _, stream, buffer, capacity, flags, _, userData in
    client(userData).readBody(stream, UnsafeMutableRawPointer(buffer!), capacity, flags!)
}

extension ClientSession {
    /// The slot of a stream that nghttp2 knows.
    fileprivate func slot(_ stream: Int32) -> Int? {
        streams.slot(
            of: nghttp2_session_get_stream_user_data(handle.raw, stream), stream: stream)
    }

    fileprivate func onBeginHeaders(_ stream: Int32) {
        headerListBytes = 0
        headerSlot = slot(stream)
        if let headerSlot { streams[headerSlot].headStatus = 0 }
    }

    fileprivate func onHeader(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) -> Int32 {
        headerListBytes += name.count + value.count + 32
        if headerListBytes > Self.headerListBytesMax {
            cause = HTTP2Error(
                code: .enhanceYourCalm,
                message: "the server's response headers are over \(Self.headerListBytesMax) bytes")
            return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
        }
        guard let headerSlot else { return 0 }
        if isText(name, ":status") {
            // nghttp2 has checked that it is three digits.
            streams[headerSlot].headStatus = UInt16(decimal(value) ?? 0)
        } else if isText(name, "retry-after") {
            streams[headerSlot].retryAfterSeconds = decimal(value) ?? -1
        }
        return 0
    }

    fileprivate func onFrame(_ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        switch UInt32(head.type) {
        case NGHTTP2_HEADERS.rawValue:
            guard let slot = slot(head.stream_id) else { return }
            onHeadersEnd(slot)
            if hasEndOfStream(head) { onResponseEnd(slot, head.stream_id) }
        case NGHTTP2_DATA.rawValue:
            guard hasEndOfStream(head), let slot = slot(head.stream_id) else { return }
            onResponseEnd(slot, head.stream_id)
        case NGHTTP2_SETTINGS.rawValue:
            guard head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 else { return }
            hasSettings = true
            settingsChanged = true
        case NGHTTP2_PING.rawValue:
            if head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 { pongArrived = true }
        case NGHTTP2_GOAWAY.rawValue:
            onGoAway(frame.pointee.goaway)
        default:
            break
        }
    }

    fileprivate func onData(_ stream: Int32, _ bytes: UnsafeRawBufferPointer) {
        guard let slot = slot(stream), !streams[slot].isDecided else { return }
        streams.appendBody(slot, bytes)
    }

    /// Also for the streams above a GOAWAY's last: nghttp2 closes them as if they had been refused.
    fileprivate func onStreamClose(_ stream: Int32, _ code: HTTP2ErrorCode) {
        if stream == bodyStream { bodyLeft = 0 }
        guard let slot = slot(stream) else { return }
        let isRefused = code == .refusedStream
        streams.decide(slot, errorCode: code, withoutStatus: isRefused ? .unprocessed : .unknown)
        streams.close(slot)
    }

    fileprivate func readBody(
        _ stream: Int32, _ buffer: UnsafeMutableRawPointer, _ capacity: Int,
        _ flags: UnsafeMutablePointer<UInt32>
    ) -> Int {
        guard stream == bodyStream, let start = bodyStart else {
            return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        let count = min(capacity, bodyLeft)
        buffer.copyMemory(from: start, byteCount: count)
        bodyStart = start + count
        bodyLeft -= count
        if bodyLeft == 0 { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
    }

    /// A header list is complete: a 1xx is passed over, a 200 decides, others wait for their body.
    private func onHeadersEnd(_ slot: Int) {
        let status = streams[slot].headStatus
        guard status >= 200, streams[slot].status == 0 else { return }
        streams[slot].status = status
        if status == 200 { streams.decide(slot, errorCode: .noError, withoutStatus: .unknown) }
    }

    /// The response is complete, perhaps before our body was: it counts.
    private func onResponseEnd(_ slot: Int, _ stream: Int32) {
        guard streams[slot].status != 0 else { return }
        streams.decide(slot, errorCode: .noError, withoutStatus: .unknown)
        if stream == bodyStream, bodyLeft > 0 { bodyIsUnwanted = true }
    }

    private func onGoAway(_ frame: nghttp2_goaway) {
        goAwayArrived = true
        let data = UnsafeRawBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
        if goAways.count == Self.goAwaysKeptMax { goAways.removeLast() }
        goAways.append(
            GoAway(
                lastStreamID: frame.last_stream_id,
                errorCode: HTTP2ErrorCode(rawValue: frame.error_code),
                debugData: Array(data.prefix(Self.goAwayDebugBytesMax))))
    }
}

private func hasEndOfStream(_ head: nghttp2_frame_hd) -> Bool {
    head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
}

private func isText(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard let start = bytes.baseAddress, bytes.count == text.utf8CodeUnitCount else { return false }
    return memcmp(start, text.utf8Start, bytes.count) == 0
}

/// A decimal number of at most nine digits; nil when it is anything else.
private func decimal(_ text: UnsafeRawBufferPointer) -> Int32? {
    guard !text.isEmpty, text.count <= 9 else { return nil }
    var number: Int32 = 0
    for byte in text {
        guard byte >= 0x30, byte <= 0x39 else { return nil }
        number = number * 10 + Int32(byte - 0x30)
    }
    return number
}
