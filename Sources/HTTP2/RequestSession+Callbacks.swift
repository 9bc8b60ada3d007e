internal import CNghttp2

// nghttp2's callbacks. The delegate is called from here: it may submit, which nghttp2 allows;
// `pump` does nothing meanwhile.

private func session(_ userData: UnsafeMutableRawPointer?) -> RequestSession {
    // The user data is set in the session's init, before any callback, and is never nil.
    Unmanaged<RequestSession>.fromOpaque(userData!).takeUnretainedValue()
}

func addRequestCallbacks(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, _, userData in
        session(userData).headStatus = 0
        return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
        _, _, name, nameBytes, value, valueBytes, _, userData in
        session(userData).onHeader(
            UnsafeRawBufferPointer(start: name, count: nameBytes),
            UnsafeRawBufferPointer(start: value, count: valueBytes))
        return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, userData in
        let head = frame!.pointee.hd
        if UInt32(head.type) == NGHTTP2_HEADERS.rawValue {
            session(userData).onHeadersEnd(head.stream_id)
        } else if UInt32(head.type) == NGHTTP2_PING.rawValue,
            head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        {
            session(userData).onPong()
        }
        return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
        _, _, stream, data, count, userData in
        session(userData).onData(stream, UnsafeRawBufferPointer(start: data, count: count))
        return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) {
        _, stream, code, userData in
        session(userData).onStreamClose(stream, HTTP2ErrorCode(rawValue: code))
        return 0
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, userData in
        guard UInt32(frame!.pointee.hd.type) == NGHTTP2_GOAWAY.rawValue else { return 0 }
        let session = session(userData)
        if session.cause == nil {
            session.cause = NGHTTP2Handle.error(inSent: frame!.pointee.goaway)
        }
        return 0
    }
}

/// Gives nghttp2 the next bytes of a request's body.
let readRequestBody: nghttp2_data_source_read_callback = {
    _, stream, buffer, capacity, flags, _, userData in
    session(userData).readBody(
        stream, UnsafeMutableRawBufferPointer(start: buffer, count: capacity), flags!)
}

extension RequestSession {
    fileprivate func onHeader(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        guard name.elementsEqual(":status".utf8) else { return }
        // nghttp2 has checked that it is three digits.
        headStatus = value.reduce(0) { $0 * 10 + UInt16($1 & 15) }
    }

    /// A 1xx and trailers are passed over.
    fileprivate func onHeadersEnd(_ stream: Int32) {
        guard headStatus >= 200, bodies[stream] != nil else { return }
        delegate?.session(self, stream: StreamID(rawValue: stream), answeredWith: headStatus)
    }

    fileprivate func onData(_ stream: Int32, _ bytes: UnsafeRawBufferPointer) {
        guard bodies[stream] != nil else { return }
        delegate?.session(self, stream: StreamID(rawValue: stream), received: bytes)
    }

    fileprivate func onStreamClose(_ stream: Int32, _ code: HTTP2ErrorCode) {
        guard bodies.removeValue(forKey: stream) != nil else { return }
        delegate?.session(self, streamEnded: StreamID(rawValue: stream), errorCode: code)
    }

    fileprivate func readBody(
        _ stream: Int32, _ buffer: UnsafeMutableRawBufferPointer,
        _ flags: UnsafeMutablePointer<UInt32>
    ) -> Int {
        let part = bodies[stream]?.prefix(buffer.count) ?? []
        buffer.copyBytes(from: part)
        bodies[stream]?.removeFirst(part.count)
        if bodies[stream]?.isEmpty ?? true { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return part.count
    }
}
