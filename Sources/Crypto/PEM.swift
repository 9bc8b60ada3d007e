internal import COpenSSL

/// A block of a PEM file (RFC 7468), or what stands for one, read leniently.
///
/// People pass keys through editors, environment variables and secret stores. So these are read,
/// too: byte order mark, CR LF, text around the blocks, spaces within them, line ends written as
/// `\n`, everything on one line, the base64 text without BEGIN and END, base64 of the whole file,
/// and DER. What it is follows from the content alone.
struct PEM {
    /// What stands after BEGIN: "PRIVATE KEY", "CERTIFICATE", … For DER the label that it would
    /// have; ``pkcs12`` for a p12 file.
    var label: String
    /// The decoded body.
    var der: [UInt8]
    /// The value of DEK-Info: how an old-style block is encrypted (RFC 1421).
    var oldEncryption: String?

    enum Problem: Error, Equatable {
        case empty
        case noBlock
        /// The block does not end with its END line.
        case noEnd(label: String)
        /// The base64 of the body is damaged or cut off.
        case brokenBody(label: String)
        /// Base64 text or DER that is nothing known.
        case unknownContent
    }

    /// The label of a p12 file, which has no block.
    static let pkcs12 = "PKCS12"
    /// Bytes of a key or certificate file that are looked at, at most; a chain of certificates is a
    /// few KiB.
    static let fileBytesMax = 1 << 20
    /// Blocks of a file that are looked at, at most.
    static let blocksMax = 64

    /// Whether the block holds a private key.
    var isPrivateKey: Bool { label.hasSuffix("PRIVATE KEY") }
    /// Whether the block holds a certificate.
    var isCertificate: Bool { label.hasSuffix("CERTIFICATE") }
    /// Whether a passphrase is needed.
    var isEncrypted: Bool { oldEncryption != nil || label == "ENCRYPTED PRIVATE KEY" }

    /// Reads the first block whose label ends in `preferred`, or else the first one of all. The
    /// file of `openssl ecparam -genkey`, for example, has EC PARAMETERS before the key.
    static func first(in file: [UInt8], preferring preferred: String) throws(Problem) -> PEM {
        let blocks = try blocks(in: file)
        return blocks.first { $0.label.hasSuffix(preferred) } ?? blocks[0]
    }

    /// All blocks of a file, at least one.
    static func blocks(in file: [UInt8]) throws(Problem) -> [PEM] {
        try blocks(in: file, mayBeBase64: true)
    }

    private static func blocks(
        in file: [UInt8], mayBeBase64: Bool
    ) throws(Problem) -> [PEM] {
        let file = Array(file.prefix(fileBytesMax))
        if file.first == sequenceByte, let found = recognise(file) { return [found] }
        guard !isDER(file) else { throw .unknownContent }
        let text = normalised(file)
        guard !text.allSatisfy(isSpace) else { throw .empty }
        var rest = text[...]
        var blocks: [PEM] = []
        while blocks.count < blocksMax, let block = try nextBlock(&rest) { blocks.append(block) }
        guard blocks.isEmpty else { return blocks }
        guard mayBeBase64, let der = bareBase64(text) else { throw .noBlock }
        if find("-----BEGIN ", in: der[...]) != nil {
            return try Self.blocks(in: der, mayBeBase64: false)
        }
        guard let found = recognise(der) else { throw .unknownContent }
        return [found]
    }

    // MARK: Text

    /// The file without byte order mark; an escaped line end (`\n`, `\r\n`) is a line end, and
    /// any other backslash, as a shell or JSON leaves it, nothing.
    private static func normalised(_ file: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(file.count)
        var isEscaped = false
        for byte in file.starts(with: [0xEF, 0xBB, 0xBF]) ? file.dropFirst(3) : file[...] {
            if byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            let isLineEnd = isEscaped && (byte == UInt8(ascii: "n") || byte == UInt8(ascii: "r"))
            text.append(isLineEnd ? UInt8(ascii: "\n") : byte)
            isEscaped = false
        }
        return text
    }

    /// The block that begins first in `rest`, which then begins behind it.
    private static func nextBlock(_ rest: inout ArraySlice<UInt8>) throws(Problem) -> PEM? {
        guard let begin = find("-----BEGIN ", in: rest),
            let dashes = find("-----", in: rest[begin.upperBound...]),
            rest[begin.upperBound..<dashes.lowerBound].allSatisfy({ 0x20..<0x7F ~= $0 })
        else { return nil }
        let label = String(decoding: rest[begin.upperBound..<dashes.lowerBound], as: UTF8.self)
        let content = rest[dashes.upperBound...]
        guard let end = find("-----END \(label)-----", in: content) else {
            throw .noEnd(label: label)
        }
        rest = rest[end.upperBound...]
        return try block(label, content[..<end.lowerBound])
    }

    private static func block(
        _ label: String, _ content: ArraySlice<UInt8>
    ) throws(Problem) -> PEM {
        var words = content.split(whereSeparator: isSpace)[...]
        var encryption: String?
        // Base64 has no colon: a word with one is a header of the old encrypted form.
        while let header = words.firstIndex(where: { $0.contains(UInt8(ascii: ":")) }) {
            if words[header].elementsEqual("DEK-Info:".utf8), header + 1 < words.endIndex {
                encryption = String(decoding: words[header + 1], as: UTF8.self)
            }
            words = words[(header + 1)...].dropFirst()
        }
        guard let der = decode(words.joined()), !der.isEmpty else {
            throw .brokenBody(label: label)
        }
        return PEM(label: label, der: der, oldEncryption: encryption)
    }

    /// The bytes of base64 text that stands alone; a left-over END line and quotes do no harm.
    private static func bareBase64(_ text: [UInt8]) -> [UInt8]? {
        let end = find("-----END ", in: text[...])?.lowerBound ?? text.endIndex
        let quotes = Array("\"'".utf8)
        return decode(text[..<end].filter { !isSpace($0) && !quotes.contains($0) })
            .flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || 0x09...0x0D ~= byte || byte == 0
    }

    private static func find(
        _ word: String, in bytes: ArraySlice<UInt8>
    ) -> Range<Int>? {
        let word = Array(word.utf8)
        guard bytes.count >= word.count else { return nil }
        for start in bytes.startIndex...(bytes.endIndex - word.count)
        where bytes[start] == word[0] && bytes[start..<start + word.count].elementsEqual(word) {
            return start..<start + word.count
        }
        return nil
    }

    /// Base64 with padding (RFC 4648 section 4), without spaces.
    private static func decode(_ body: some Sequence<UInt8>) -> [UInt8]? {
        let characters = Array(body)
        guard characters.count % 4 == 0 else { return nil }
        var text = characters[...]
        for _ in 0..<2 where text.last == UInt8(ascii: "=") { text = text.dropLast() }
        return Base64.decode(text) { byte in
            switch byte {
            case UInt8(ascii: "+"): 62
            case UInt8(ascii: "/"): 63
            default: Base64.alphanumericValue(byte)
            }
        }
    }

    // MARK: DER

    /// Whether a file begins as DER of some length does, and no text can: a SEQUENCE, its length in
    /// more than one byte.
    static func isDER(_ file: [UInt8]) -> Bool {
        file.count >= 2 && file[0] == sequenceByte && file[1] >= 0x80
    }

    private static let sequenceByte = UInt8(V_ASN1_SEQUENCE | V_ASN1_CONSTRUCTED)

    /// What DER is, by trying; nil when it is nothing known, or has bytes behind it.
    private static func recognise(_ der: [UInt8]) -> PEM? {
        defer { ERR_clear_error() }
        let readers: [(String, (inout UnsafePointer<UInt8>?, Int) -> Bool)] = [
            ("CERTIFICATE", { freed(d2i_X509(nil, &$0, $1), X509_free) }),
            (pkcs12, { freed(d2i_PKCS12(nil, &$0, $1), PKCS12_free) }),
            (
                "PRIVATE KEY",
                { freed(d2i_PKCS8_PRIV_KEY_INFO(nil, &$0, $1), PKCS8_PRIV_KEY_INFO_free) }
            ),
            ("ENCRYPTED PRIVATE KEY", { freed(d2i_X509_SIG(nil, &$0, $1), X509_SIG_free) }),
            ("PUBLIC KEY", { freed(d2i_PUBKEY(nil, &$0, $1), EVP_PKEY_free) }),
        ]
        for (label, reads) in readers {
            let isWhole = der.withUnsafeBufferPointer { bytes in
                var position = bytes.baseAddress
                return reads(&position, bytes.count)
                    && position == bytes.baseAddress.map { $0 + bytes.count }
            }
            if isWhole { return PEM(label: label, der: der) }
        }
        return recogniseOldKey(der).map { PEM(label: $0, der: der) }
    }

    /// The label of a key in SEC1 or PKCS#1.
    private static func recogniseOldKey(_ der: [UInt8]) -> String? {
        let key = der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_AutoPrivateKey(nil, &position, bytes.count)
        }
        guard let key = key.map({ KeyHandle(owning: $0) }) else { return nil }
        switch EVP_PKEY_get_base_id(key.raw) {
        case EVP_PKEY_EC: return "EC PRIVATE KEY"
        case EVP_PKEY_RSA: return "RSA PRIVATE KEY"
        default: return nil
        }
    }

    private static func freed(
        _ object: OpaquePointer?, _ free: (OpaquePointer?) -> Void
    ) -> Bool {
        free(object)
        return object != nil
    }
}
