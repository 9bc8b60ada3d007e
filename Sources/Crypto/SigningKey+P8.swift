internal import COpenSSL

extension SigningKey {
    /// Reads Apple's .p8, a PKCS#8 PEM file with a P-256 key, and the other forms in which such a
    /// key may come: see ``PEM``; SEC1; encrypted. The error says what the file is instead, and
    /// what to do.
    package static func p8(
        _ file: [UInt8], passphrase: Passphrase? = nil
    ) throws(CryptoError) -> SigningKey {
        var pem: PEM
        do {
            pem = try PEM.first(in: file, preferring: "PRIVATE KEY")
        } catch {
            throw problem(error)
        }
        defer { OPENSSL_cleanse(&pem.der, pem.der.count) }
        guard pem.isPrivateKey else { throw wrongLabel(pem.label) }
        if pem.label == "RSA PRIVATE KEY" { throw wrongLabel(pem.label) }
        let key = try pem.privateKey(passphrase)
        try requireP256(key.raw)
        return SigningKey(owning: key)
    }

    /// Refuses every key that is not on P-256.
    static func requireP256(_ key: OpaquePointer) throws(CryptoError) {
        let kind = EVP_PKEY_get_base_id(key)
        guard kind == EVP_PKEY_EC else {
            let name = kind == EVP_PKEY_RSA ? "an RSA key" : "a key that is not of the kind EC"
            throw CryptoError("this is \(name), and APNs signs with P-256: \(useApplesFile)")
        }
        let curve = KeyDescription.curve(of: key)
        guard curve == "P-256" else {
            throw CryptoError(
                "this key is on the curve \(curve), and APNs signs with P-256: \(useApplesFile)")
        }
    }

    private static let useApplesFile = "use the AuthKey_….p8 file of your Apple developer account"
    private static let downloadAgain =
        "copy it again from the original AuthKey_….p8 (Apple lets you download a key only once)"

    private static func problem(_ problem: PEM.Problem) -> CryptoError {
        switch problem {
        case .empty:
            CryptoError("the key file is empty: \(useApplesFile)")
        case .noBlock:
            CryptoError(
                "this is no PEM file, it has no line -----BEGIN PRIVATE KEY-----: \(useApplesFile)")
        case .noEnd(let label):
            CryptoError("the line -----END \(label)----- is missing: \(downloadAgain)")
        case .brokenBody(let label):
            CryptoError(
                "the base64 text between BEGIN and END \(label) is damaged or cut off: "
                    + downloadAgain)
        case .unknownContent:
            CryptoError(
                "this is base64 text or DER without a key in it, or a key that was cut off: "
                    + downloadAgain)
        }
    }

    /// The answer to a block that is no private key for signing.
    private static func wrongLabel(_ label: String) -> CryptoError {
        switch label {
        case "CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE":
            CryptoError(
                "this is a certificate and not a private key: \(useApplesFile), or authenticate "
                    + "with the certificate, by credentials: { identity: \"push.p12\" }")
        case PEM.pkcs12:
            CryptoError(
                "this is a p12 file, a certificate with its key, and not a signing key: "
                    + "write credentials: { identity: \"push.p12\", passphraseEnv: \"NAME\" }")
        case "RSA PRIVATE KEY":
            CryptoError("this is an RSA key, and APNs signs with P-256: \(useApplesFile)")
        case "PUBLIC KEY":
            CryptoError("this is a public key, and signing takes the private one: \(useApplesFile)")
        default:
            CryptoError("this is a \(label) and not a PRIVATE KEY: \(useApplesFile)")
        }
    }
}

/// Words for keys.
enum KeyDescription {
    /// The curve of an EC key by the name that people know.
    static func curve(of key: OpaquePointer) -> String {
        var text = [CChar](repeating: 0, count: 80)
        var length = 0
        EVP_PKEY_get_group_name(key, &text, text.count, &length)
        let bytes = text.prefix(length).map { UInt8(bitPattern: $0) }
        let name = String(decoding: bytes, as: UTF8.self)
        switch name {
        case "prime256v1": return "P-256"
        case "secp384r1": return "P-384"
        case "secp521r1": return "P-521"
        default: return name
        }
    }

    /// As in "RSA, 2048 bits".
    static func text(of key: OpaquePointer) -> String {
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA: "RSA, \(EVP_PKEY_get_bits(key)) bits"
        case EVP_PKEY_EC: "EC, \(curve(of: key))"
        default: "\(EVP_PKEY_get_bits(key)) bits"
        }
    }
}
