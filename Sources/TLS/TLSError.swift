internal import COpenSSL
internal import Glibc

/// A failure of TLS, with its first cause in words and what to do where that is known.
package struct TLSError: Error, CustomStringConvertible, Sendable {
    /// What kind of failure it is, for code that decides by it.
    package enum Kind: Sendable, Equatable {
        /// The other side's certificate was refused.
        case verification
        /// The other side has no protocol in common with ours (ALPN, RFC 7301).
        case noCommonProtocol
        /// The other side ended the connection in the middle of the handshake.
        case peerClosed
        /// The socket failed; the errno.
        case socket(Int32)
        /// The bytes were not acceptable TLS, or the other side sent an alert.
        case violation
        /// Our own certificate, key, CA file or settings.
        case setup
    }

    package let kind: Kind
    /// The call that failed.
    package let call: String
    /// The cause and the remedy.
    package let text: String

    /// True when the certificate of the other side was refused.
    package var isVerification: Bool { kind == .verification }

    package var description: String { text }

    init(kind: Kind, call: StaticString, text: String) {
        self.kind = kind
        self.call = "\(call)"
        self.text = text
    }

    /// A failure of setting up, from the oldest entry of OpenSSL's queue: the first cause.
    static func setup(_ call: StaticString, _ what: String) -> TLSError {
        let code = ERR_get_error()
        ERR_clear_error()
        let reason = code == 0 ? "" : ": " + OpenSSLReason(code: code).text
        return TLSError(kind: .setup, call: call, text: what + reason)
    }
}

/// One entry of OpenSSL's error queue.
struct OpenSSLReason {
    let code: UInt

    /// The entry's words, e.g. "wrong version number".
    var text: String {
        if let reason = ERR_reason_error_string(code) { return String(cString: reason) }
        // System errors carry an errno and no words of OpenSSL.
        if code & systemErrorFlag != 0 {
            return String(cString: strerror(Int32(truncatingIfNeeded: code & 0x7FFF_FFFF)))
        }
        return "OpenSSL error \(code)"
    }

    /// The number within the TLS library; 0 for entries of other libraries.
    var tlsReason: Int32 {
        ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0
    }

    /// What to do about it, where the reason tells.
    var advice: String {
        switch tlsReason {
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST,
            SSL_R_BAD_RECORD_TYPE, SSL_R_PACKET_LENGTH_TOO_LONG:
            "the other side does not speak TLS on this port: check the address"
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
            "TLS 1.2 or newer is needed on both sides"
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
            "the other side does not trust our certificate's CA"
        case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
            "the other side says that our certificate was revoked: make a new one on Apple's page"
        case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
            "the other side says that our certificate has expired: look at it with peal auth"
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE,
            SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
            "the other side refuses our certificate: look at it with peal auth"
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
            "the other side wants a certificate: name one in credentials.identity"
        default: ""
        }
    }
}

/// ERR_SYSTEM_FLAG, an expression that Swift does not import.
private let systemErrorFlag: UInt = 0x8000_0000
