internal import COpenSSL
package import Crypto
internal import Glibc

/// What the streams of one side share: trust, certificate, protocol settings.
///
/// TLS 1.2 or newer, ALPN `h2`, AES-128-GCM first, no compression, renegotiation or resumption.
/// *Thread*: any; `@unchecked Sendable` because nothing changes after it is made, and OpenSSL
/// counts references to an SSL_CTX and makes streams from it under its own lock.
package final class TLSContext: @unchecked Sendable {
    /// Owned.
    let raw: OpaquePointer

    /// Bytes that one `read` on the socket may bring in: several records per system call.
    private static let readBufferBytes = 65_536

    private init(_ method: OpaquePointer?) throws(TLSError) {
        ignoreBrokenPipes
        ERR_clear_error()
        guard let raw = SSL_CTX_new(method) else { throw .setup("SSL_CTX_new", "TLS context") }
        self.raw = raw
        peal_tls_set_stream_modes(raw, TLSContext.readBufferBytes)
        guard peal_tls_require_1_2(raw) == 1,
            SSL_CTX_set_ciphersuites(raw, TLSContext.suites13) == 1,
            SSL_CTX_set_cipher_list(raw, TLSContext.suites12) == 1
        else { throw .setup("SSL_CTX_set_cipher_list", "TLS versions and ciphers") }
    }

    deinit { SSL_CTX_free(raw) }

    /// The version of OpenSSL that this process has loaded, as in "3.0.17".
    package static let libraryVersion = String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))

    /// The side that connects. The server is always verified, by name or address.
    ///
    /// - Parameters:
    ///   - caFile: PEM file of the CAs to trust instead of the system's.
    ///   - identity: the certificate and key to show a server that asks for one.
    package static func client(
        caFile: String?, identity: CertificatePair? = nil
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(TLS_client_method())
        SSL_CTX_set_verify(context.raw, SSL_VERIFY_PEER, nil)
        // 0 is success here, against OpenSSL's custom.
        guard SSL_CTX_set_alpn_protos(context.raw, offered, UInt32(offered.count)) == 0 else {
            throw .setup("SSL_CTX_set_alpn_protos", "ALPN")
        }
        if let identity {
            try context.use(certificatePEM: identity.certificatePEM)
            try context.use(keyPEM: identity.keyPEM)
        }
        if let caFile {
            try context.trust(caFile: caFile)
        } else {
            guard SSL_CTX_set_default_verify_paths(context.raw) == 1 else {
                throw .setup(
                    "SSL_CTX_set_default_verify_paths",
                    "the system's CA certificates cannot be read; give others with --ca-file")
            }
        }
        return context
    }

    /// The side that accepts, with its certificate (and intermediate ones after it).
    ///
    /// A client without ALPN is accepted; one that offers only other protocols than `h2` gets
    /// the alert no_application_protocol.
    ///
    /// - Parameter asksForClientCertificate: asks, and takes every certificate and none: judging it
    ///   is the caller's (`TLSStream.peerCertificate`). The client has proved that it has the key.
    package static func server(
        certificatePEM: [UInt8], keyPEM: [UInt8], asksForClientCertificate: Bool = false
    ) throws(TLSError) -> TLSContext {
        let context = try TLSContext(TLS_server_method())
        try context.use(certificatePEM: certificatePEM)
        try context.use(keyPEM: keyPEM)
        SSL_CTX_set_alpn_select_cb(context.raw, onSelectProtocol, nil)
        SSL_CTX_set_num_tickets(context.raw, 0)
        if asksForClientCertificate {
            SSL_CTX_set_verify(context.raw, SSL_VERIFY_PEER) { _, _ in 1 }
        }
        return context
    }

    private func trust(caFile: String) throws(TLSError) {
        guard access(caFile, R_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            throw TLSError(
                kind: .setup, call: "access",
                text: "cannot read the CA file \(caFile): \(reason); --ca-file takes a PEM file")
        }
        guard SSL_CTX_load_verify_file(raw, caFile) == 1 else {
            throw .setup(
                "SSL_CTX_load_verify_file",
                "the CA file \(caFile) holds no certificate; --ca-file takes a PEM file, one or "
                    + "more blocks of BEGIN CERTIFICATE")
        }
    }

    private func use(certificatePEM: [UInt8]) throws(TLSError) {
        guard let memory = BIO_new_mem_buf(certificatePEM, Int32(certificatePEM.count)) else {
            throw .setup("BIO_new_mem_buf", "server certificate")
        }
        defer { BIO_free(memory) }
        guard let leaf = PEM_read_bio_X509(memory, nil, nil, nil) else {
            throw .setup("PEM_read_bio_X509", "the certificate is not PEM")
        }
        defer { X509_free(leaf) }
        guard SSL_CTX_use_certificate(raw, leaf) == 1 else {
            throw .setup("SSL_CTX_use_certificate", "the certificate")
        }
        while let next = PEM_read_bio_X509(memory, nil, nil, nil) {
            guard peal_tls_add_chain_certificate(raw, next) == 1 else {
                X509_free(next)
                throw .setup("SSL_CTX_add0_chain_cert", "the certificate's chain")
            }
        }
        ERR_clear_error()  // The end of the chain leaves "no start line".
    }

    private func use(keyPEM: [UInt8]) throws(TLSError) {
        // The callback answers "no pass phrase": OpenSSL's own would ask on the terminal.
        guard let memory = BIO_new_mem_buf(keyPEM, Int32(keyPEM.count)) else {
            throw .setup("BIO_new_mem_buf", "server key")
        }
        defer { BIO_free(memory) }
        guard let key = PEM_read_bio_PrivateKey(memory, nil, { _, _, _, _ in -1 }, nil) else {
            throw .setup("PEM_read_bio_PrivateKey", "the key is not unencrypted PEM")
        }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(raw, key) == 1, SSL_CTX_check_private_key(raw) == 1 else {
            throw .setup(
                "SSL_CTX_use_PrivateKey", "the key does not fit the certificate")
        }
    }

    /// AES-128-GCM is the cheapest with AES instructions; the others are for servers without it.
    private static let suites13 =
        "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    /// What RFC 9113 section 9.2.2 leaves of TLS 1.2: ephemeral keys and AEAD only.
    private static let suites12 =
        "ECDHE+AESGCM+AES128:ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!eNULL"
    /// ALPN's wire form: length, name (RFC 7301 section 3.1).
    private static let offered: [UInt8] = [2] + Array("h2".utf8)
}

/// Picks `h2` from the client's list of length-prefixed names. The answer points into the list.
private func onSelectProtocol(
    _: OpaquePointer?, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    chosenBytes: UnsafeMutablePointer<UInt8>?, list: UnsafePointer<UInt8>?, listBytes: UInt32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let chosen, let chosenBytes, let list else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let names = UnsafeBufferPointer(start: list, count: Int(listBytes))
    var index = 0
    while index < names.count {
        let count = Int(names[index])
        let name = names[(index + 1)...].prefix(count)
        if name.elementsEqual("h2".utf8) {
            chosen.pointee = list + index + 1
            chosenBytes.pointee = UInt8(count)
            return SSL_TLSEXT_ERR_OK
        }
        index += 1 + count
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// Writing to a socket that the peer has closed is an error and no signal, once for the process; an
/// action that somebody else has set stays.
private let ignoreBrokenPipes: Void = {
    var action = sigaction()
    guard sigaction(SIGPIPE, nil, &action) == 0, action.__sigaction_handler.sa_handler == nil
    else { return }
    signal(SIGPIPE, SIG_IGN)
}()
