internal import Glibc

/// The content of a string or key between its quotes, as it stands in the input, already checked
/// by the scanner that made it.
///
/// Ownership: borrows the scanner's input, and is valid as long as that.
package struct JSONText {
    package let raw: UnsafeRawBufferPointer
    /// False when `raw` already is the text.
    package let hasEscapes: Bool

    /// The decoded text. Allocates.
    package var string: String {
        String(unsafeUninitializedCapacity: raw.count) { buffer in
            decode(into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// Writes the decoded text as UTF-8 to the start of `target` and returns its length in bytes,
    /// which is never above `raw.count`: no escape is shorter than what it stands for.
    package func decode(into target: UnsafeMutableRawBufferPointer) -> Int {
        precondition(target.count >= raw.count)
        if !hasEscapes {
            target.copyMemory(from: raw)
            return raw.count
        }
        var index = 0
        var written = 0
        while index < raw.count {
            var piece = nextPiece(at: &index)
            while piece.count > 0 {
                target[written] = UInt8(truncatingIfNeeded: piece.bytes)
                piece.bytes >>= 8
                piece.count -= 1
                written += 1
            }
        }
        return written
    }

    /// Whether the decoded text is exactly these bytes. Allocates nothing.
    package func equals(_ utf8: UnsafeRawBufferPointer) -> Bool {
        if !hasEscapes {
            guard raw.count == utf8.count else { return false }
            guard let first = raw.baseAddress, let second = utf8.baseAddress else { return true }
            return memcmp(first, second, raw.count) == 0
        }
        var index = 0
        var matched = 0
        while index < raw.count {
            var piece = nextPiece(at: &index)
            while piece.count > 0 {
                guard matched < utf8.count, utf8[matched] == UInt8(truncatingIfNeeded: piece.bytes)
                else { return false }
                piece.bytes >>= 8
                piece.count -= 1
                matched += 1
            }
        }
        return matched == utf8.count
    }

    /// One byte, or one escape decoded to UTF-8: first byte lowest, none for a line continuation.
    private func nextPiece(at index: inout Int) -> (bytes: UInt32, count: Int) {
        let byte = raw[index]
        index += 1
        if byte != UInt8(ascii: "\\") { return (UInt32(byte), 1) }
        let escape = raw[index]
        index += 1
        switch escape {
        case UInt8(ascii: "b"): return (8, 1)
        case UInt8(ascii: "f"): return (12, 1)
        case UInt8(ascii: "n"): return (10, 1)
        case UInt8(ascii: "r"): return (13, 1)
        case UInt8(ascii: "t"): return (9, 1)
        case UInt8(ascii: "v"): return (11, 1)
        case UInt8(ascii: "0"): return (0, 1)
        case UInt8(ascii: "x"): return Self.encode(hexDigits(2, at: &index))
        case UInt8(ascii: "u"): return Self.encode(unicodeEscape(at: &index))
        case 10: return (0, 0)
        case 13:
            if index < raw.count, raw[index] == 10 { index += 1 }
            return (0, 0)
        case 0xE2 where raw[index] == 0x80 && raw[index + 1] & 0xFE == 0xA8:  // U+2028, U+2029
            index += 2
            return (0, 0)
        default: return (UInt32(escape), 1)  // itself; the rest of a longer character follows
        }
    }

    private func unicodeEscape(at index: inout Int) -> UInt32 {
        let high = hexDigits(4, at: &index)
        if high & 0xFC00 != 0xD800 { return high }
        index += 2  // the scanner has made sure that "\u" and a low surrogate follow
        return 0x10000 + ((high & 0x3FF) << 10) + (hexDigits(4, at: &index) & 0x3FF)
    }

    private func hexDigits(_ count: Int, at index: inout Int) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<count {
            value = value << 4 | UInt32(hexDigitValue(raw[index]) ?? 0)
            index += 1
        }
        return value
    }

    private static func encode(_ scalar: UInt32) -> (bytes: UInt32, count: Int) {
        if scalar < 0x80 { return (scalar, 1) }
        let last = 0x80 | scalar & 0x3F
        if scalar < 0x800 { return (0xC0 | scalar >> 6 | last << 8, 2) }
        let third = 0x80 | scalar >> 6 & 0x3F
        if scalar < 0x10000 { return (0xE0 | scalar >> 12 | third << 8 | last << 16, 3) }
        let second = 0x80 | scalar >> 12 & 0x3F
        return (0xF0 | scalar >> 18 | second << 8 | third << 16 | last << 24, 4)
    }
}

/// The value of one hexadecimal digit of either case; nil for any other byte.
func hexDigitValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
