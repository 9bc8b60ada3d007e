internal import COpenSSL

extension SigningKey {
    /// Reads Apple's .p8: an unencrypted PKCS#8 PEM file with a P-256 key. Byte order mark and CR
    /// LF do no harm. The error says what the file is instead, and what to do.
    package static func p8(_ file: [UInt8]) throws(CryptoError) -> SigningKey {
        var pem: PEM
        do {
            pem = try PEM.first(in: file, preferring: "PRIVATE KEY")
        } catch {
            throw problem(error)
        }
        defer { OPENSSL_cleanse(&pem.der, pem.der.count) }
        guard pem.label == "PRIVATE KEY" else { throw wrongLabel(pem.label) }
        let key = try privateKey(pkcs8: pem.der)
        try requireP256(key.raw)
        return SigningKey(owning: key)
    }

    /// Decodes PKCS#8 (RFC 5958), unencrypted.
    private static func privateKey(pkcs8 der: [UInt8]) throws(CryptoError) -> KeyHandle {
        ERR_clear_error()
        let info = der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_PKCS8_PRIV_KEY_INFO(nil, &position, bytes.count)
        }
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        guard let info, let key = EVP_PKCS82PKEY(info) else {
            ERR_clear_error()
            throw CryptoError("the private key is damaged inside: \(downloadAgain)")
        }
        return KeyHandle(owning: key)
    }

    /// Refuses every key that is not on P-256.
    static func requireP256(_ key: OpaquePointer) throws(CryptoError) {
        let kind = EVP_PKEY_get_base_id(key)
        guard kind == EVP_PKEY_EC else {
            let name = kind == EVP_PKEY_RSA ? "an RSA key" : "a key that is not of the kind EC"
            throw CryptoError("this is \(name), and APNs signs with P-256: \(useApplesFile)")
        }
        var text = [CChar](repeating: 0, count: 80)
        var length = 0
        EVP_PKEY_get_group_name(key, &text, text.count, &length)
        let bytes = text.prefix(length).map { UInt8(bitPattern: $0) }
        let curve = String(decoding: bytes, as: UTF8.self)
        guard curve == "prime256v1" else {
            let name = curve == "secp384r1" ? "P-384" : curve == "secp521r1" ? "P-521" : curve
            throw CryptoError(
                "this key is on the curve \(name), and APNs signs with P-256: \(useApplesFile)")
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
        case .encrypted(let label):
            wrongLabel("ENCRYPTED " + label)
        }
    }

    /// The answer to a block that is no PKCS#8 key.
    private static func wrongLabel(_ label: String) -> CryptoError {
        switch label {
        case "ENCRYPTED PRIVATE KEY", "ENCRYPTED EC PRIVATE KEY":
            CryptoError(
                "the key is encrypted: write it without a passphrase, with "
                    + "`openssl pkcs8 -topk8 -nocrypt -in THIS_FILE -out AuthKey.p8`")
        case "EC PRIVATE KEY":
            CryptoError(
                "the key is in the SEC1 form (EC PRIVATE KEY) and not in PKCS#8: convert it with "
                    + "`openssl pkcs8 -topk8 -nocrypt -in THIS_FILE -out AuthKey.p8`")
        case "CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE":
            CryptoError("this is a certificate and not a private key: \(useApplesFile)")
        case "RSA PRIVATE KEY", "ENCRYPTED RSA PRIVATE KEY":
            CryptoError("this is an RSA key, and APNs signs with P-256: \(useApplesFile)")
        case "PUBLIC KEY":
            CryptoError("this is a public key, and signing takes the private one: \(useApplesFile)")
        default:
            CryptoError("this is a \(label) and not a PRIVATE KEY: \(useApplesFile)")
        }
    }
}
