internal import COpenSSL

/// A public key on the curve P-256.
///
/// Proof for `@unchecked Sendable`: the EVP_PKEY is never changed after creation, and each
/// verification uses an EVP_MD_CTX of its own.
package final class VerifyingKey: @unchecked Sendable {
    private let handle: KeyHandle

    init(owning handle: consuming KeyHandle) { self.handle = handle }

    /// Reads a PEM file with a public key (SubjectPublicKeyInfo), or a .p8, of which the private
    /// half is not used.
    package static func pem(_ file: [UInt8]) throws(CryptoError) -> VerifyingKey {
        guard let pem = try? PEM.first(in: file, preferring: "KEY"), pem.label == "PUBLIC KEY"
        else {
            return try SigningKey.p8(file).verifyingKey
        }
        ERR_clear_error()
        let key = pem.der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_PUBKEY(nil, &position, bytes.count)
        }
        guard let key else {
            ERR_clear_error()
            throw CryptoError("the public key is damaged inside: write the file again")
        }
        let handle = KeyHandle(owning: key)
        try SigningKey.requireP256(handle.raw)
        return VerifyingKey(owning: handle)
    }

    /// The key as a PEM file, SubjectPublicKeyInfo.
    package func pem() -> [UInt8] {
        ERR_clear_error()
        guard let output = try? MemoryOutput(), PEM_write_bio_PUBKEY(output.raw, handle.raw) == 1
        else { preconditionFailure("out of memory in PEM_write_bio_PUBKEY") }
        return output.bytes
    }

    /// Whether `signature` (64 bytes, r then s; RFC 7518 section 3.4) is this key's over `message`.
    /// Any thread; false for anything malformed.
    package func verifyES256(message: [UInt8], signature: [UInt8]) -> Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }  // a wrong signature leaves its errors in the queue
        guard let der = ES256Signature.der(fixedSize: signature),
            let context = EVP_MD_CTX_new()
        else { return false }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle.raw) == 1 else {
            return false
        }
        return EVP_DigestVerify(context, der, der.count, message, message.count) == 1
    }
}
