internal import CNghttp2

/// What a streamed body has at the moment.
package enum StreamedPart: Sendable, Equatable {
    /// Bytes that were written into the buffer, at least one.
    case bytes(Int)
    /// Nothing now: the body is asked again after `ServerSession.resume`.
    case later
    /// The body is complete.
    case end
}

/// A response's body that is made while it is sent, and may stay open for as long as the
/// connection.
///
/// The session asks for bytes when the client has room for them and keeps none itself, so a slow
/// client leaves the bytes where they come from. The calls come from inside `receive`, `pump` and
/// `connectionEnded`. `read` may use no method of the session but `requestReceipt`, the others also
/// `resume`.
///
/// *Thread*: the session's.
package protocol StreamedBody: AnyObject {
    /// Writes the next bytes into `buffer`, which is never empty and valid during the call only.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamedPart

    /// The client has received everything up to the `requestReceipt` with this mark.
    func received(upTo mark: UInt32)

    /// The stream is over, whether the body was complete or not: `read` is not called again.
    func streamEnded()
}

extension ServerSession {
    /// Answers a request with a body that is made while it is sent; false when its stream is over
    /// or answered already.
    ///
    /// *Ownership*: the session holds `body` until the stream is over; the rest is borrowed.
    @discardableResult
    package func respond(
        to stream: StreamID, status: UInt16, headers: ResponseHeaders,
        streaming body: any StreamedBody
    ) -> Bool {
        submit(to: stream, status: status, headers: headers, readBody: readStreamedBody) {
            $0.streamedBody = body
        }
    }

    /// Asks the client to confirm all that was sent so far, and what `StreamedBody.read` is about
    /// to return; `mark` then comes back to the body.
    ///
    /// It is a PING: the client's answer shows that its HTTP/2 has taken the frames before it (RFC
    /// 9113, section 6.7), which any client gives without knowing about it. TCP's own confirmations
    /// show no more than that the client's kernel holds the bytes, and nobody is told of them.
    package func requestReceipt(for stream: StreamID, mark: UInt32) {
        guard state(of: stream)?.streamedBody != nil else { return }
        let number = UInt64(UInt32(stream.rawValue)) << 32 | UInt64(mark)
        withUnsafeBytes(of: number.bigEndian) { payload in
            _ = nghttp2_submit_ping(
                handle.raw, 0, payload.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// The client has answered a PING.
    func onPong(_ payload: UInt64) {
        let stream = Int32(truncatingIfNeeded: payload >> 32)
        guard stream > 0 else { return }
        state(of: StreamID(rawValue: stream))?.streamedBody?
            .received(upTo: UInt32(truncatingIfNeeded: payload))
    }

    /// Asks the streamed body of `stream` for bytes again, at the next `pump`. Nothing happens when
    /// it is not waiting, or its stream is over. Not from inside `StreamedBody.read`.
    package func resume(_ stream: StreamID) {
        guard state(of: stream)?.streamedBody != nil else { return }
        nghttp2_session_resume_data(handle.raw, stream.rawValue)
    }
}

/// Gives nghttp2 the next bytes of a streamed body.
private let readStreamedBody: nghttp2_data_source_read_callback = {
    _, _, buffer, capacity, flags, source, _ in
    // The pointer is that of a stream object, which its session holds.
    let state = Unmanaged<ServerStream>.fromOpaque(source!.pointee.ptr).takeUnretainedValue()
    let part = state.streamedBody?.read(
        into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
    switch part {
    case .bytes(let count):
        precondition(count > 0 && count <= capacity)
        return count
    case .later:
        return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    case .end, nil:
        flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
        return 0
    }
}
