internal import COpenSSL
internal import Glibc

/// Which side of TLS a stream is.
package enum TLSRole: Sendable, Equatable {
    /// Verifies the server by `serverName`, a DNS name or an IP address (which sends no SNI).
    case client(serverName: String)
    case server
}

/// How far a handshake is.
package enum TLSProgress: Sendable, Equatable {
    case done, wantsRead, wantsWrite
}

/// What a read or write did.
package enum TLSResult: Sendable, Equatable {
    case bytes(Int)
    /// Nothing: try again when the descriptor is readable or writable.
    case wantsRead, wantsWrite
    /// The peer has ended the stream, by close_notify or by closing the connection. HTTP/2 shows
    /// by itself whether something was cut off, so the two are not told apart.
    case end
}

/// TLS over a non-blocking descriptor, which stays the caller's. *Thread*: one.
package final class TLSStream {
    /// Owned.
    private let raw: OpaquePointer
    private let serverName: String
    private let isClient: Bool
    /// After a fatal error OpenSSL forbids further calls, a shutdown included.
    private var isBroken = false
    private var isHandshakeDone = false

    package init(
        context: TLSContext, descriptor: Int32, role: TLSRole
    ) throws(TLSError) {
        ERR_clear_error()
        guard let raw = SSL_new(context.raw) else { throw .setup("SSL_new", "TLS stream") }
        // All fields are set before anything throws: only then does deinit free the stream.
        self.raw = raw
        if case .client(let name) = role {
            serverName = name
            isClient = true
        } else {
            serverName = ""
            isClient = false
        }
        guard SSL_set_fd(raw, descriptor) == 1 else { throw .setup("SSL_set_fd", "TLS stream") }
        if isClient {
            SSL_set_connect_state(raw)
            try expect(serverName: serverName)
        } else {
            SSL_set_accept_state(raw)
        }
    }

    deinit { SSL_free(raw) }

    /// Goes on with the handshake; call again when the descriptor is ready, until `done`.
    package func handshake() throws(TLSError) -> TLSProgress {
        ERR_clear_error()
        let code = SSL_do_handshake(raw)
        if code == 1 {
            isHandshakeDone = true
            return .done
        }
        switch SSL_get_error(raw, code) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case let kind: throw failure(kind, "SSL_do_handshake")
        }
    }

    /// Reads what is there, at most one record (16 KiB).
    ///
    /// Reads ahead: after less than `wantsRead` there may be decrypted or buffered bytes that no
    /// readiness of the descriptor tells of, so read until `wantsRead`.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSError) -> TLSResult {
        var count = 0
        ERR_clear_error()
        let code = SSL_read_ex(raw, buffer.baseAddress, buffer.count, &count)
        return code == 1 ? .bytes(count) : try outcome(code, "SSL_read")
    }

    /// Writes `bytes`, which must not be empty, or a first part of them (a record has 16 KiB).
    ///
    /// After `wantsWrite` the next call must offer the same bytes again, at any address, and may
    /// offer more behind them.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(TLSError) -> TLSResult {
        var count = 0
        ERR_clear_error()
        let code = SSL_write_ex(raw, bytes.baseAddress, bytes.count, &count)
        return code == 1 ? .bytes(count) : try outcome(code, "SSL_write")
    }

    /// Sends close_notify if the socket takes it; never waits for the peer's.
    package func shutdown() {
        guard isHandshakeDone, !isBroken else { return }
        ERR_clear_error()
        _ = SSL_shutdown(raw)
        ERR_clear_error()
    }

    /// What ALPN agreed on, e.g. "h2"; nil when the server chose nothing.
    package var negotiatedProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(raw, &name, &count)
        guard let name, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    /// The certificate that the other side has shown, in DER; nil when there is none.
    package var peerCertificate: [UInt8]? {
        guard let certificate = SSL_get1_peer_certificate(raw) else { return nil }
        defer { X509_free(certificate) }
        let length = i2d_X509(certificate, nil)
        guard length > 0 else { return nil }
        var der = [UInt8](repeating: 0, count: Int(length))
        der.withUnsafeMutableBufferPointer { buffer in
            var position = buffer.baseAddress
            _ = i2d_X509(certificate, &position)
        }
        return der
    }

    /// Version and cipher, e.g. "TLSv1.3 TLS_AES_128_GCM_SHA256".
    package var summary: String {
        let cipher = SSL_CIPHER_get_name(SSL_get_current_cipher(raw))
        return String(cString: SSL_get_version(raw)) + " "
            + (cipher.map { String(cString: $0) } ?? "")
    }

    private func expect(serverName: String) throws(TLSError) {
        let parameters = SSL_get0_param(raw)
        if X509_VERIFY_PARAM_set1_ip_asc(parameters, serverName) == 1 { return }
        ERR_clear_error()
        // "host." is a name too, but neither certificates nor SNI carry the dot (RFC 6066 3).
        let name = serverName.hasSuffix(".") ? String(serverName.dropLast()) : serverName
        SSL_set_hostflags(raw, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        guard !name.isEmpty, SSL_set1_host(raw, name) == 1,
            peal_tls_set_server_name(raw, name) == 1
        else { throw .setup("SSL_set1_host", "\"\(serverName)\" is no host name") }
    }

    private func outcome(_ code: Int32, _ call: StaticString) throws(TLSError) -> TLSResult {
        switch SSL_get_error(raw, code) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .end
        case let kind:
            let failure = failure(kind, call)
            if failure.kind == .peerClosed { return .end }
            throw failure
        }
    }

    /// The error behind a fatal result. The oldest entry of the queue is the first cause.
    private func failure(_ kind: Int32, _ call: StaticString) -> TLSError {
        let socketError = errno
        let reason = OpenSSLReason(code: ERR_get_error())
        ERR_clear_error()
        isBroken = true
        if kind == SSL_ERROR_SYSCALL && reason.code == 0 {
            return socketFailure(socketError, call)
        }
        switch reason.tlsReason {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING:
            return socketFailure(0, call)
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            return Verification.error(code: SSL_get_verify_result(raw), serverName: serverName)
        case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, SSL_R_NO_APPLICATION_PROTOCOL:
            return TLSError(
                kind: .noCommonProtocol, call: call,
                text: "the other side does not speak HTTP/2 here (ALPN: no common protocol)")
        default:
            let advice = reason.advice
            return TLSError(
                kind: .violation, call: call,
                text: "TLS failed: \(reason.text)" + (advice.isEmpty ? "" : "; \(advice)"))
        }
    }

    private func socketFailure(_ code: Int32, _ call: StaticString) -> TLSError {
        if code == 0 {
            return TLSError(
                kind: .peerClosed, call: call,
                text: "the other side closed the connection during the TLS handshake; check that "
                    + "the address and port are those of a TLS server")
        }
        return TLSError(
            kind: .socket(code), call: call,
            text: isHandshakeDone
                ? String(cString: strerror(code))
                : "\(String(cString: strerror(code))) during the TLS handshake")
    }
}
