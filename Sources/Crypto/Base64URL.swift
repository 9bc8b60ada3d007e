/// Base64 with the URL-safe alphabet and without padding (RFC 4648 section 5, RFC 7515 section 2).
package enum Base64URL {
    /// The text without padding.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount = 0
        for byte in bytes {
            bits = (bits << 8) | UInt32(byte)  // older bits fall out at the top, unused
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(alphabet[Int((bits >> bitCount) & 63)])
            }
        }
        if bitCount > 0 {
            text.append(alphabet[Int((bits << (6 - bitCount)) & 63)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for a character outside the alphabet (padding too), an impossible length, or bits set
    /// beyond the last byte: each byte string has exactly one text.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        Base64.decode(text) { byte in
            switch byte {
            case UInt8(ascii: "-"): 62
            case UInt8(ascii: "_"): 63
            default: Base64.alphanumericValue(byte)
            }
        }
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}

/// What both alphabets share.
enum Base64 {
    /// Decodes unpadded text; `value` gives the six bits of a character, nil for a wrong one.
    static func decode(
        _ text: some Sequence<UInt8>, value: (UInt8) -> UInt8?
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount = 0
        for character in text {
            guard let six = value(character) else { return nil }
            bits = (bits << 6) | UInt32(six)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
            }
        }
        let leftOver = bits & ((1 << bitCount) - 1)
        guard bitCount < 6, leftOver == 0 else { return nil }
        return bytes
    }

    static func alphanumericValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        default: nil
        }
    }
}
