internal import COpenSSL

/// A key, certificate or signature that could not be read or made. Holds no secret.
package struct CryptoError: Error, CustomStringConvertible, Sendable, Equatable {
    /// What is wrong and what to do.
    package let description: String

    /// An error of Peal's own finding.
    package init(_ description: String) { self.description = description }

    /// For a call of OpenSSL that failed: its own words, taken from the thread's error queue, which
    /// is emptied.
    static func openSSL(_ call: StaticString) -> CryptoError {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        guard code != 0 else { return CryptoError("\(call) failed") }
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &text, text.count)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return CryptoError("\(call) failed: \(String(decoding: bytes, as: UTF8.self))")
    }
}
