internal import COpenSSL

/// The words for a certificate that was refused.
enum Verification {
    /// The error for OpenSSL's verify result `code` about the certificate of `serverName`.
    static func error(code: Int, serverName: String) -> TLSError {
        let reason = X509_verify_cert_error_string(code).map { String(cString: $0) } ?? "\(code)"
        return TLSError(
            kind: .verification, call: "SSL_do_handshake",
            text: "the certificate of \(serverName) is not trusted: \(reason); "
                + advice(Int32(truncatingIfNeeded: code), serverName))
    }

    private static func advice(_ code: Int32, _ serverName: String) -> String {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID:
            return "renew the server's certificate, or set this machine's clock if it is wrong"
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            return "the certificate is for another name: connect by a name that it holds, or have "
                + "one issued for \(serverName)"
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_SIGNATURE_FAILURE:
            return "for a server of your own give its CA with --ca-file; for a public one install "
                + "the system's CA certificates (package ca-certificates)"
        default:
            return "ask whoever runs the server"
        }
    }
}
