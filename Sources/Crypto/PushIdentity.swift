internal import COpenSSL

/// A provider's certificate with its private key and the certificates above it, from a p12 or a PEM
/// file.
package struct PushIdentity: Sendable, CustomStringConvertible {
    /// What TLS takes: the certificate, then its chain; and the key, unencrypted, a secret.
    package let pair: CertificatePair
    /// What the certificate says.
    package let certificate: PushCertificate
    /// The subjects of the certificates that came with it, in their order in the file.
    package let chain: [String]
    /// The kind of the key, as in "RSA, 2048 bits".
    package let keyText: String
    /// The kind of the file: "PKCS#12" or "PEM".
    package let form: String

    package var description: String { "PushIdentity" }

    /// Certificates of a file that are passed on, at most; real chains have three.
    static let certificatesMax = 16

    /// Whether a file is meant for ``read(_:passphrase:)`` and not for ``SigningKey``: it holds a
    /// certificate or is a p12, even a damaged one.
    package static func isLikely(_ file: [UInt8]) -> Bool {
        guard let blocks = try? PEM.blocks(in: file) else { return PEM.isDER(file) }
        return blocks.contains { $0.isCertificate || $0.label == PEM.pkcs12 }
    }

    /// Reads a p12 file, or a PEM file with the certificate and its key in any order. The content
    /// decides which. *Errors:* say what is wrong and what to do; THIS_FILE stands for the file.
    package static func read(
        _ file: [UInt8], passphrase: Passphrase?
    ) throws(CryptoError) -> PushIdentity {
        let blocks: [PEM]
        do {
            blocks = try PEM.blocks(in: file)
        } catch {
            throw problem(error)
        }
        if let whole = blocks.first(where: { $0.label == PEM.pkcs12 }) {
            return try PKCS12File.read(whole.der, passphrase)
        }
        guard let keyBlock = blocks.first(where: \.isPrivateKey) else {
            throw CryptoError(
                blocks.contains(where: \.isCertificate)
                    ? withoutKey : "this is a \(blocks[0].label): \(exportBoth)")
        }
        guard blocks.contains(where: \.isCertificate) else {
            throw CryptoError(
                "this is a private key without a certificate: a p8 key goes into credentials: "
                    + "{ key, keyID, teamID }; to a certificate's key append the certificate, "
                    + "in PEM")
        }
        let key = try keyBlock.privateKey(passphrase)
        let certificates = CertificateList()
        for block in blocks where block.isCertificate {
            try certificates.append(der: block.der)
        }
        return try make(key: key, certificates, form: "PEM")
    }

    /// Puts together what was read: the certificate that fits the key, then the others.
    static func make(
        key: borrowing KeyHandle, _ certificates: CertificateList, form: String
    ) throws(CryptoError) -> PushIdentity {
        guard certificates.count > 0 else {
            throw CryptoError("the file holds a key and no certificate: \(exportBoth)")
        }
        guard let leaf = certificates.index(fitting: key) else {
            let name = try PushCertificate.parse(certificates.raw(at: 0)).subject
            throw CryptoError(
                "the key does not belong to the certificate (\(name)): put the key with which the "
                    + "certificate was requested into the file, or \(exportBoth)")
        }
        let certificate = try PushCertificate.parse(certificates.raw(at: leaf))
        var pem = try certificates.pem(at: leaf)
        var chain: [String] = []
        for index in 0..<certificates.count where index != leaf {
            pem += try certificates.pem(at: index)
            chain.append(PushCertificate.subject(of: certificates.raw(at: index)))
        }
        let keyOutput = try MemoryOutput()
        guard
            PEM_write_bio_PKCS8PrivateKey(keyOutput.raw, key.raw, nil, nil, 0, nil, nil) == 1
        else { throw .openSSL("PEM_write_bio_PKCS8PrivateKey") }
        return PushIdentity(
            pair: CertificatePair(certificatePEM: pem, keyPEM: keyOutput.bytes),
            certificate: certificate, chain: chain, keyText: KeyDescription.text(of: key.raw),
            form: form)
    }

    static let exportBoth =
        "export the certificate together with its private key (Keychain Access: My Certificates, "
        + "File, Export Items, .p12)"
    static let withoutKey =
        "the file holds a certificate and no private key, and only both together authenticate: "
        + exportBoth

    private static func problem(_ problem: PEM.Problem) -> CryptoError {
        switch problem {
        case .empty: CryptoError("the file is empty: \(exportBoth)")
        case .noBlock, .unknownContent:
            CryptoError(
                "this is neither a p12 file nor PEM, or it is damaged or cut off: copy the file "
                    + "again, as binary, or \(exportBoth)")
        case .noEnd(let label):
            CryptoError("the line -----END \(label)----- is missing: copy the file again")
        case .brokenBody(let label):
            CryptoError(
                "the base64 text between BEGIN and END \(label) is damaged or cut off: copy the "
                    + "file again")
        }
    }
}

extension PushIdentity {
    /// Signs something and verifies it with the certificate.
    package func verifySignature() throws(CryptoError) {
        let key = try PEM.first(pair.keyPEM).privateKey(nil)
        let certificates = CertificateList()
        try certificates.append(der: PEM.first(pair.certificatePEM).der)
        let message = randomBytes(32)
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let signing = EVP_MD_CTX_new() else { throw .openSSL("EVP_MD_CTX_new") }
        defer { EVP_MD_CTX_free(signing) }
        var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key.raw)))
        var count = signature.count
        guard EVP_DigestSignInit(signing, nil, EVP_sha256(), nil, key.raw) == 1,
            EVP_DigestSign(signing, &signature, &count, message, message.count) == 1,
            let verifying = EVP_MD_CTX_new()
        else { throw .openSSL("EVP_DigestSign") }
        defer { EVP_MD_CTX_free(verifying) }
        let publicKey = X509_get0_pubkey(certificates.raw(at: 0))
        guard EVP_DigestVerifyInit(verifying, nil, EVP_sha256(), nil, publicKey) == 1,
            EVP_DigestVerify(verifying, signature, count, message, message.count) == 1
        else {
            throw CryptoError(
                "a signature of the key does not verify with the certificate: the key is damaged; "
                    + Self.exportBoth)
        }
    }
}

extension PEM {
    /// The first block of text that we wrote ourselves.
    fileprivate static func first(_ ours: [UInt8]) throws(CryptoError) -> PEM {
        do {
            return try first(in: ours, preferring: "")
        } catch {
            throw CryptoError("PEM of our own cannot be read")
        }
    }
}

/// Certificates in their order in a file. Owns them.
final class CertificateList {
    private var owned: [OpaquePointer] = []

    deinit { for certificate in owned { X509_free(certificate) } }

    var count: Int { owned.count }

    /// Borrowed; valid as long as the list.
    func raw(at index: Int) -> OpaquePointer { owned[index] }

    /// Takes over `certificate`.
    func append(owning certificate: OpaquePointer) throws(CryptoError) {
        owned.append(certificate)
        guard owned.count <= PushIdentity.certificatesMax else {
            throw CryptoError(
                "the file holds more than \(PushIdentity.certificatesMax) certificates: "
                    + "keep the provider's and those above it")
        }
    }

    func append(der: [UInt8]) throws(CryptoError) {
        try append(owning: PushCertificate.decode(der))
    }

    func index(fitting key: borrowing KeyHandle) -> Int? {
        defer { ERR_clear_error() }
        for index in owned.indices where X509_check_private_key(owned[index], key.raw) == 1 {
            return index
        }
        return nil
    }

    func pem(at index: Int) throws(CryptoError) -> [UInt8] {
        let output = try MemoryOutput()
        guard PEM_write_bio_X509(output.raw, owned[index]) == 1 else {
            throw .openSSL("PEM_write_bio_X509")
        }
        return output.bytes
    }
}
