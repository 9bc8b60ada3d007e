internal import COpenSSL

/// The passphrase of a key or p12 file. Shows nothing of itself, wherever it is printed.
package struct Passphrase: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// With a zero at the end, as C takes it.
    let characters: [CChar]

    package init(_ text: String) { characters = Array(text.utf8CString) }

    package var description: String { "Passphrase" }
    package var debugDescription: String { description }
}

extension PEM {
    /// Reads the private key of this block: PKCS#8, SEC1 or PKCS#1, encrypted or not. A passphrase
    /// that is not needed is not used.
    func privateKey(_ passphrase: Passphrase?) throws(CryptoError) -> KeyHandle {
        guard !isEncrypted || passphrase != nil else {
            throw CryptoError("the key is encrypted: \(Self.namePassphrase)")
        }
        ERR_clear_error()
        defer { ERR_clear_error() }
        // OpenSSL's own callback takes the passphrase from the last argument; without one it would
        // ask on the terminal.
        let characters = (passphrase ?? Passphrase("")).characters
        let key = try withInput(canonical) { input throws(CryptoError) in
            guard isEncrypted else {
                return PEM_read_bio_PrivateKey(input, nil, { _, _, _, _ in -1 }, nil)
            }
            return characters.withUnsafeBufferPointer { text in
                let secret = UnsafeMutableRawPointer(mutating: text.baseAddress)
                return PEM_read_bio_PrivateKey(input, nil, nil, secret)
            }
        }
        if let key { return KeyHandle(owning: key) }
        throw isEncrypted && isWellFormed ? failure() : CryptoError(Self.damaged)
    }

    /// Why a block that is what it should be outside does not decrypt.
    private func failure() -> CryptoError {
        OpenSSLQueue.saysUnsupported()
            ? CryptoError(
                "the key is encrypted in a way that this OpenSSL does not support: write it anew, "
                    + "with `openssl pkey -in THIS_FILE -aes256 -out key.pem`")
            : CryptoError(Self.wrongPassphrase)
    }

    static let namePassphrase =
        "put its passphrase into an environment variable and name that in "
        + "credentials.passphraseEnv of the campaign (peal auth FILE: --passphrase-env)"
    static let wrongPassphrase =
        "the passphrase does not open the key: correct the environment variable that holds it"
    private static let damaged =
        "the private key is damaged inside: copy it again from the original file"

    /// Whether an encrypted block can be decrypted at all: its outside is not damaged.
    private var isWellFormed: Bool {
        if oldEncryption != nil { return true }
        let outside = der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_X509_SIG(nil, &position, bytes.count)
        }
        X509_SIG_free(outside)
        return outside != nil
    }

    /// The block as RFC 7468 wants it, for OpenSSL's reader, which is strict.
    private var canonical: [UInt8] {
        var text = Array("-----BEGIN \(label)-----\n".utf8)
        if let oldEncryption {
            text += "Proc-Type: 4,ENCRYPTED\nDEK-Info: \(oldEncryption)\n\n".utf8
        }
        // EVP_EncodeBlock writes four characters for three bytes, and a zero.
        var body = [UInt8](repeating: 0, count: (der.count + 2) / 3 * 4 + 1)
        let count = EVP_EncodeBlock(&body, der, Int32(der.count))
        for start in stride(from: 0, to: Int(count), by: 64) {
            text += body[start..<min(start + 64, Int(count))]
            text.append(UInt8(ascii: "\n"))
        }
        text += "-----END \(label)-----\n".utf8
        OPENSSL_cleanse(&body, body.count)
        return text
    }
}

/// The errors that OpenSSL has queued for this thread.
enum OpenSSLQueue {
    /// Whether one of them says that an algorithm is missing; empties the queue.
    static func saysUnsupported() -> Bool {
        var isUnsupported = false
        while case let code = ERR_get_error(), code != 0 {
            // The decoders call everything unsupported that they cannot read.
            guard ERR_GET_LIB(code) != ERR_LIB_OSSL_DECODER,
                let reason = ERR_reason_error_string(code).map({ String(cString: $0) })
            else { continue }
            if reason.contains("unsupported") || reason.contains("unknown") { isUnsupported = true }
        }
        return isUnsupported
    }
}
