internal import CNghttp2

/// Owner of one nghttp2 session, with the calls that both sides need.
///
/// nghttp2's `mem_send` and `mem_recv` must never be called from inside its callbacks; the two
/// session classes see to that.
struct NGHTTP2Handle: ~Copyable {
    enum Role { case client, server }

    /// The largest piece that `mem_send` lends at once: a frame of 16 KiB with its header, and the
    /// byte that padding may add. Neither side ever makes larger frames, whatever the peer allows.
    static let pieceBytesMax = 16_384 + 9 + 1

    let raw: OpaquePointer
    private let memory: InflaterMemory

    /// Makes a session; `addCallbacks` names the functions that it calls.
    init(role: Role, addCallbacks: (OpaquePointer) -> Void) throws(HTTP2Error) {
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        var session: OpaquePointer?
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(option)
        }
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks,
            nghttp2_option_new(&option) == 0, let option
        else { throw Self.outOfMemory }
        let memory = InflaterMemory()
        addCallbacks(callbacks)
        // Closed streams are kept for priorities, which nobody uses here; it is memory and time.
        nghttp2_option_set_no_closed_streams(option, 1)
        let made =
            switch role {
            case .client:
                nghttp2_session_client_new3(&session, callbacks, nil, option, memory.functions)
            case .server:
                nghttp2_session_server_new3(&session, callbacks, nil, option, memory.functions)
            }
        guard made == 0, let session else { throw Self.outOfMemory }
        raw = session
        self.memory = memory
    }

    deinit { nghttp2_session_del(raw) }

    private static var outOfMemory: HTTP2Error {
        HTTP2Error(code: .internalError, message: "no memory for an nghttp2 session")
    }

    /// Moves frames into `output` while there is room for the largest; true when none is left.
    ///
    /// - Parameter mark: bits that SETTINGS_MAX_CONCURRENT_STREAMS does not have on the wire.
    func send(into output: OutputBuffer, clearing mark: Int = 0) throws(HTTP2Error) -> Bool {
        while output.free >= Self.pieceBytesMax {
            var piece: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(raw, &piece)
            guard count > 0 else {
                if count == 0 { return true }
                throw Self.error(Int32(count))
            }
            if mark != 0, let piece { Self.clear(UInt32(mark), piece, count) }
            let fitted = output.append(UnsafeRawBufferPointer(start: piece, count: count))
            precondition(fitted, "nghttp2 lent more than one frame")
        }
        return nghttp2_session_want_write(raw) == 0
    }

    /// Takes `mark` off the stream limit if the piece is a SETTINGS frame (RFC 9113, section
    /// 6.5.1). nghttp2 lends a frame that it has serialised and does not look at again, so its
    /// bytes may be changed in place; they are its own heap memory.
    private static func clear(_ mark: UInt32, _ piece: UnsafePointer<UInt8>, _ count: Int) {
        guard count > 9, UInt32(piece[3]) == NGHTTP2_SETTINGS.rawValue else { return }
        let frame = UnsafeMutablePointer(mutating: piece)
        for entry in stride(from: 9, through: count - 6, by: 6)
        where frame[entry] == 0
            && UInt32(frame[entry + 1]) == NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue
        {
            for index in 0..<4 {
                frame[entry + 2 + index] &= ~UInt8(truncatingIfNeeded: mark >> (24 - 8 * index))
            }
        }
    }

    /// Hands the peer's bytes to nghttp2, which calls the callbacks.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        let count = nghttp2_session_mem_recv(
            raw, start.assumingMemoryBound(to: UInt8.self), bytes.count)
        guard count >= 0 else { throw Self.error(Int32(count)) }
    }

    var wantsRead: Bool { nghttp2_session_want_read(raw) != 0 }
    var wantsWrite: Bool { nghttp2_session_want_write(raw) != 0 }

    /// A failure of the library, with the code that fits it and the library's words.
    static func error(_ result: Int32) -> HTTP2Error {
        let code: HTTP2ErrorCode =
            switch result {
            case NGHTTP2_ERR_FLOODED.rawValue, NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue:
                .enhanceYourCalm
            case NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue: .protocolError
            default: .internalError
            }
        let words = nghttp2_strerror(result).map { String(cString: $0) } ?? "error \(result)"
        return HTTP2Error(code: code, message: words)
    }

    /// The error that a GOAWAY of ours tells the peer; nil when it is a polite one.
    static func error(inSent goAway: nghttp2_goaway) -> HTTP2Error? {
        let code = HTTP2ErrorCode(rawValue: goAway.error_code)
        guard code != .noError else { return nil }
        let text = UnsafeRawBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
        let words = String(decoding: text.prefix(512), as: UTF8.self)
        return HTTP2Error(
            code: code, message: words.isEmpty ? "the peer broke the protocol" : words)
    }
}
