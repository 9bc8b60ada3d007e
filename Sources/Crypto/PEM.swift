/// The first useful block of a PEM file (RFC 7468), read leniently: byte order mark, CR LF, text
/// around the block and spaces within it are accepted.
struct PEM {
    /// What stands after BEGIN: "PRIVATE KEY", "CERTIFICATE", …
    var label: String
    /// The decoded body.
    var der: [UInt8]

    enum Problem: Error, Equatable {
        case empty
        case noBlock
        /// The block does not end with its END line.
        case noEnd(label: String)
        /// The base64 of the body is damaged or cut off.
        case brokenBody(label: String)
        /// An old-style encrypted block ("Proc-Type: 4,ENCRYPTED").
        case encrypted(label: String)
    }

    /// Bytes of a key or certificate file that are looked at, at most; a chain of certificates is a
    /// few KiB.
    static let fileBytesMax = 1 << 20

    /// Reads the first block whose label ends in `preferred`, or else the first one of all. The
    /// file of `openssl ecparam -genkey`, for example, has EC PARAMETERS before the key.
    static func first(in file: [UInt8], preferring preferred: String) throws(Problem) -> PEM {
        let lines = normalisedLines(file)
        guard !lines.isEmpty else { throw .empty }
        let begins = lines.indices.filter { label(of: lines[$0], "BEGIN") != nil }
        guard let fallback = begins.first else { throw .noBlock }
        let begin =
            begins.first { label(of: lines[$0], "BEGIN")?.hasSuffix(preferred) == true }
            ?? fallback
        let name = label(of: lines[begin], "BEGIN") ?? ""
        let rest = lines[(begin + 1)...]
        guard let end = rest.firstIndex(where: { label(of: $0, "END") == name }) else {
            throw .noEnd(label: name)
        }
        let body = rest[..<end]
        // Base64 has no colon: a line with one is a header of the old encrypted form.
        guard !body.contains(where: { $0.contains(UInt8(ascii: ":")) }) else {
            throw .encrypted(label: name)
        }
        guard let der = decode(body.joined()), !der.isEmpty else {
            throw .brokenBody(label: name)
        }
        return PEM(label: name, der: der)
    }

    /// The file as lines without byte order mark, surrounding space and empty lines. Other forms of
    /// a key (escaped line ends, one line) become lines here.
    private static func normalisedLines(_ file: [UInt8]) -> [ArraySlice<UInt8>] {
        var rest = file.prefix(fileBytesMax)
        if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
        return rest.split { $0 == 0x0A || $0 == 0x0D }.compactMap { line in
            let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0 }
            var trimmed = line.drop(while: isSpace)
            while let last = trimmed.last, isSpace(last) { trimmed = trimmed.dropLast() }
            return trimmed.isEmpty ? nil : trimmed
        }
    }

    private static func label(of line: ArraySlice<UInt8>, _ word: String) -> String? {
        let start = "-----\(word) "
        guard line.starts(with: start.utf8), line.suffix(5).elementsEqual("-----".utf8),
            line.count > start.utf8.count + 5
        else { return nil }
        return String(decoding: line.dropFirst(start.utf8.count).dropLast(5), as: UTF8.self)
    }

    /// Base64 with padding (RFC 4648 section 4), spaces ignored.
    private static func decode(_ body: some Sequence<UInt8>) -> [UInt8]? {
        let characters = body.filter { $0 != 0x20 && $0 != 0x09 }
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
}
