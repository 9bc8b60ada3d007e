internal import COpenSSL

/// Reads p12 files (RFC 7292), those of Keychain Access too, which encrypts certificates with
/// 40-bit RC2: OpenSSL 3 has that in its provider "legacy" only.
enum PKCS12File {
    /// Reads the identity in the p12 file `der`.
    static func read(
        _ der: [UInt8], _ passphrase: Passphrase?
    ) throws(CryptoError) -> PushIdentity {
        let library = try PrivateLibrary()
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let file = library.decode(der) else {
            throw CryptoError("the p12 file is damaged or cut off: copy it again, as binary")
        }
        defer { PKCS12_free(file) }
        let characters = try openingCharacters(of: file, passphrase, library)
        var key: OpaquePointer?
        var leaf: OpaquePointer?
        var others: OpaquePointer?
        ERR_clear_error()
        let isRead = characters.withText { PKCS12_parse(file, $0, &key, &leaf, &others) == 1 }
        let certificates = CertificateList()
        defer { peal_crypto_free_certificates(others) }
        let handle = key.map { KeyHandle(owning: $0) }
        if let leaf { try certificates.append(owning: leaf) }
        guard isRead else { throw failure(library) }
        // The count of no stack is -1.
        for index in 0..<max(0, peal_crypto_certificate_count(others)) {
            guard let other = peal_crypto_certificate(others, index) else { continue }
            X509_up_ref(other)
            try certificates.append(owning: other)
        }
        guard let handle else {
            throw CryptoError(
                certificates.count > 0 ? PushIdentity.withoutKey : "the p12 file holds nothing")
        }
        return try PushIdentity.make(key: handle, certificates, form: "PKCS#12")
    }

    /// The passphrase as the file wants it: some programs write none for an empty one.
    private static func openingCharacters(
        of file: OpaquePointer, _ passphrase: Passphrase?, _ library: borrowing PrivateLibrary
    ) throws(CryptoError) -> Characters {
        let isEmpty = passphrase.map { $0.characters.count <= 1 } ?? true
        let attempts: [Characters] =
            isEmpty
            ? [Characters(text: nil), Characters(text: [0])]
            : [Characters(text: passphrase?.characters)]
        guard PKCS12_mac_present(file) == 1 else {
            // Without a checksum only decrypting tells; what is not encrypted needs no passphrase.
            return attempts.first { $0.decrypts(file) } ?? attempts[0]
        }
        for attempt in attempts where attempt.fits(file) { return attempt }
        let isUnsupported = OpenSSLQueue.saysUnsupported()
        if attempts.contains(where: { $0.decrypts(file) }) {
            throw CryptoError(
                "the passphrase is right, and the p12 file is damaged: its content and its "
                    + "checksum differ; copy it again, as binary")
        }
        guard !isUnsupported else { throw unsupported(library) }
        guard passphrase != nil else {
            throw CryptoError("the p12 file has a passphrase: \(PEM.namePassphrase)")
        }
        throw CryptoError(
            isEmpty
                ? "the passphrase is empty, and the p12 file has one: set the environment variable"
                : "the passphrase does not open the p12 file: correct the environment variable "
                    + "that holds it (or the file was damaged on its way: then copy it again)")
    }

    private static func failure(_ library: borrowing PrivateLibrary) -> CryptoError {
        guard !OpenSSLQueue.saysUnsupported() else { return unsupported(library) }
        return CryptoError(
            "the p12 file cannot be decrypted: it is damaged, or its passphrase is another; copy "
                + "it again, as binary")
    }

    private static func unsupported(_ library: borrowing PrivateLibrary) -> CryptoError {
        let command =
            "`openssl pkcs12 -legacy -in THIS_FILE -out push.pem`, which asks for the passphrase "
            + "and for a new one, and name push.pem in credentials.identity"
        return CryptoError(
            library.hasLegacy
                ? "the p12 file is encrypted in a way that this OpenSSL does not support: export it "
                    + "again, or convert it where it was made, with \(command)"
                : "the p12 file is encrypted with an old cipher (RC2, as Keychain Access does), and "
                    + "OpenSSL's provider \"legacy\" (legacy.so) is not on this machine: install "
                    + "it, or convert the file on a machine that has it, with \(command)")
    }

    /// A passphrase for C; nil is none at all, which is not the same as an empty one.
    private struct Characters {
        let text: [CChar]?

        func withText<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
            guard let text else { return body(nil) }
            return text.withUnsafeBufferPointer { body($0.baseAddress) }
        }

        private var length: Int32 { Int32((text?.count ?? 1) - 1) }

        func fits(_ file: OpaquePointer) -> Bool {
            withText { PKCS12_verify_mac(file, $0, length) == 1 }
        }

        func decrypts(_ file: OpaquePointer) -> Bool {
            withText { peal_crypto_p12_decrypts(file, $0, length) == 1 }
        }
    }
}

/// OpenSSL with its old ciphers, apart from the library of the rest of the process, which must not
/// get them.
private struct PrivateLibrary: ~Copyable {
    /// Owned.
    private let context: OpaquePointer
    /// Owned; nil when they cannot be loaded.
    private let standard: OpaquePointer?
    private let legacy: OpaquePointer?

    init() throws(CryptoError) {
        guard let made = OSSL_LIB_CTX_new() else { throw .openSSL("OSSL_LIB_CTX_new") }
        context = made
        standard = OSSL_PROVIDER_try_load(made, "default", 1)
        legacy = OSSL_PROVIDER_try_load(made, "legacy", 1)
    }

    deinit {
        if let legacy { OSSL_PROVIDER_unload(legacy) }
        if let standard { OSSL_PROVIDER_unload(standard) }
        OSSL_LIB_CTX_free(context)
    }

    var hasLegacy: Bool { legacy != nil }

    /// The file, whose ciphers come from this library; the caller frees it.
    func decode(_ der: [UInt8]) -> OpaquePointer? {
        var file = PKCS12_init_ex(NID_pkcs7_data, context, nil)
        guard file != nil else { return nil }
        return der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_PKCS12(&file, &position, bytes.count)  // frees the file when it fails
        }
    }
}
