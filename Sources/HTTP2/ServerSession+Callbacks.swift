internal import CNghttp2

// nghttp2's callbacks. The delegate is called from here: it may submit, which nghttp2 allows;
// `pump` does nothing meanwhile.

/// Calls into the session without counting a reference: nghttp2 calls back only inside a call of
/// the session's, whose caller holds it.
@inline(__always)
private func withServer<Result>(
    _ userData: UnsafeMutableRawPointer?, _ body: (ServerSession) -> Result
) -> Result {
    // The user data is set in the session's init, before any callback, and is never nil.
    Unmanaged<ServerSession>.fromOpaque(userData!)._withUnsafeGuaranteedRef(body)
}

func addServerCallbacks(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, userData in
        withServer(userData) { $0.onBeginHeaders(frame!.pointee.headers) }
        return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
        _, _, name, nameBytes, value, valueBytes, _, userData in
        withServer(userData) {
            $0.onHeader(
                UnsafeRawBufferPointer(start: name, count: nameBytes),
                UnsafeRawBufferPointer(start: value, count: valueBytes))
        }
        return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, userData in
        withServer(userData) {
            if UInt32(frame!.pointee.hd.type) == NGHTTP2_PING.rawValue {
                $0.onPing(frame!.pointee.ping)
            } else {
                $0.onFrame(frame!.pointee.hd)
            }
        }
        return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
        _, _, stream, data, count, userData in
        withServer(userData) {
            $0.state(stream)?.request?.addBody(UnsafeRawBufferPointer(start: data, count: count))
        }
        return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) {
        _, stream, code, userData in
        withServer(userData) { session in
            if let state = session.state(stream) {
                session.close(state, HTTP2ErrorCode(rawValue: code))
            } else {
                session.refusalsWaiting = max(0, session.refusalsWaiting - 1)
            }
        }
        return 0
    }
    nghttp2_session_callbacks_set_before_frame_send_callback(callbacks) { _, frame, userData in
        let isWindowUpdate = UInt32(frame!.pointee.hd.type) == NGHTTP2_WINDOW_UPDATE.rawValue
        let isWithheld = isWindowUpdate && withServer(userData) { $0.withholdsWindowUpdates }
        return isWithheld ? NGHTTP2_ERR_CANCEL.rawValue : 0
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, userData in
        withServer(userData) { $0.onFrameSent(frame!) }
        return 0
    }
}

/// Gives nghttp2 the next bytes of a response's body.
let readServerBody: nghttp2_data_source_read_callback = {
    _, _, buffer, capacity, flags, source, _ in
    // The pointer is that of a stream object, which its session holds.
    let state = Unmanaged<ServerStream>.fromOpaque(source!.pointee.ptr).takeUnretainedValue()
    let part = state.readResponse(
        into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
    if part.isLast { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return part.count
}

extension ServerSession {
    /// The object of a stream that nghttp2 knows.
    fileprivate func state(_ stream: Int32) -> ServerStream? {
        guard !hasEnded, let data = nghttp2_session_get_stream_user_data(handle.raw, stream) else {
            return nil
        }
        return Unmanaged<ServerStream>.fromOpaque(data).takeUnretainedValue()
    }

    fileprivate func onBeginHeaders(_ headers: nghttp2_headers) {
        requestArriving = nil
        guard !hasEnded else { return }
        guard headers.cat == NGHTTP2_HCAT_REQUEST else {
            state(headers.hd.stream_id)?.isHead = false
            return
        }
        guard admits(headers.hd.stream_id) else { return }
        let state = open(headers.hd.stream_id)
        state.isHead = true
        requestArriving = state.request.map { Unmanaged.passUnretained($0) }
        // Unretained: the session holds all its stream objects.
        nghttp2_session_set_stream_user_data(
            handle.raw, headers.hd.stream_id, Unmanaged.passUnretained(state).toOpaque())
    }

    fileprivate func onHeader(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        requestArriving?._withUnsafeGuaranteedRef {
            $0.addField(name, value, listBytesMax: settings.headerListBytesMax)
        }
    }

    fileprivate func onFrame(_ head: nghttp2_frame_hd) {
        if UInt32(head.type) == NGHTTP2_SETTINGS.rawValue,
            head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        {
            onSettingsAcknowledged()
            return
        }
        let isHeaders = UInt32(head.type) == NGHTTP2_HEADERS.rawValue
        if !isHeaders, settings.windowStepBytes > 0 { giveBackWindows(head) }
        guard isHeaders || UInt32(head.type) == NGHTTP2_DATA.rawValue,
            let state = state(head.stream_id)
        else { return }
        let isLast = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        if isLast { state.isRequestComplete = true }
        if isHeaders && state.isHead {
            if state.request?.isTooLarge ?? false {
                dropRequest(state)
                respond(to: StreamID(rawValue: head.stream_id), status: 431)
                return
            }
            if !isLast { grantStreamWindow(head.stream_id) }
        }
        guard isLast, let request = state.request else { return }
        delegateAtWork?.session(self, received: request)
        dropRequest(state)
    }

    fileprivate func onFrameSent(_ frame: UnsafePointer<nghttp2_frame>) {
        let head = frame.pointee.hd
        switch UInt32(head.type) {
        case NGHTTP2_GOAWAY.rawValue:
            if ownGoAwayCount > 0 {
                ownGoAwayCount -= 1
            } else if cause == nil {
                cause = NGHTTP2Handle.error(inSent: frame.pointee.goaway)
            }
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            // RFC 9113, section 8.1: a complete answer to an incomplete request, then NO_ERROR.
            guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
                let state = state(head.stream_id), !state.isRequestComplete
            else { return }
            nghttp2_submit_rst_stream(
                handle.raw, 0, head.stream_id, HTTP2ErrorCode.noError.rawValue)
        default:
            break
        }
    }

    fileprivate func onPing(_ ping: nghttp2_ping) {
        guard ping.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 else { return }
        onPong(withUnsafeBytes(of: ping.opaque_data) { $0.reduce(0) { $0 << 8 | UInt64($1) } })
    }

    /// Gives the windows back in smaller steps than nghttp2 does, which waits for half of one; what
    /// is given back here it no longer counts.
    private func giveBackWindows(_ head: nghttp2_frame_hd) {
        guard UInt32(head.type) == NGHTTP2_DATA.rawValue else { return }
        let step = settings.windowStepBytes
        let connectionBytes = nghttp2_session_get_effective_recv_data_length(handle.raw)
        if connectionBytes >= step {
            nghttp2_submit_window_update(handle.raw, 0, 0, connectionBytes)
        }
        guard head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) == 0 else { return }
        let streamBytes = nghttp2_session_get_stream_effective_recv_data_length(
            handle.raw, head.stream_id)
        if streamBytes >= step {
            nghttp2_submit_window_update(handle.raw, 0, head.stream_id, streamBytes)
        }
    }

    private func grantStreamWindow(_ stream: Int32) {
        guard settings.streamWindowBytes > settings.initialWindowBytes else { return }
        nghttp2_session_set_local_window_size(
            handle.raw, 0, stream, Int32(settings.streamWindowBytes))
    }
}
