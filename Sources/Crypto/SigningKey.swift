internal import COpenSSL

/// A private key on the curve P-256, as APNs wants for provider tokens.
///
/// Proof for `@unchecked Sendable`: the EVP_PKEY is never changed after creation, and each
/// signature uses an EVP_MD_CTX of its own.
package final class SigningKey: @unchecked Sendable {
    private let handle: KeyHandle

    init(owning handle: consuming KeyHandle) { self.handle = handle }

    /// Borrowed; valid as long as the key.
    var raw: OpaquePointer { handle.raw }

    /// A fresh key.
    package static func generate() throws(CryptoError) -> SigningKey {
        ERR_clear_error()
        guard let key = peal_crypto_generate_p256() else { throw .openSSL("EVP_PKEY_Q_keygen") }
        return SigningKey(owning: KeyHandle(owning: key))
    }

    /// The key as an unencrypted PKCS#8 PEM file, the form of Apple's .p8. A secret: for a file of
    /// mode 0600 and nothing else.
    package func p8PEM() -> [UInt8] {
        ERR_clear_error()
        guard let output = try? MemoryOutput(),
            PEM_write_bio_PKCS8PrivateKey(output.raw, raw, nil, nil, 0, nil, nil) == 1
        else { preconditionFailure("out of memory in PEM_write_bio_PKCS8PrivateKey") }
        return output.bytes
    }

    /// The public half.
    package var verifyingKey: VerifyingKey {
        // The same EVP_PKEY, one reference more; VerifyingKey never uses the private half.
        EVP_PKEY_up_ref(raw)
        return VerifyingKey(owning: KeyHandle(owning: raw))
    }

    /// The ES256 signature of `message`: 64 bytes, r then s (RFC 7518 section 3.4). Any thread.
    package func signES256(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        guard let context = EVP_MD_CTX_new() else { throw .openSSL("EVP_MD_CTX_new") }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, raw) == 1 else {
            throw .openSSL("EVP_DigestSignInit")
        }
        var der = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(raw)))
        var derBytes = der.count
        guard EVP_DigestSign(context, &der, &derBytes, message, message.count) == 1 else {
            throw .openSSL("EVP_DigestSign")
        }
        return try ES256Signature.fixedSize(der: der[..<derBytes])
    }
}
