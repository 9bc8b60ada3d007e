/// Escapes text for the inside of a JSON string: `"`, `\` and U+0000 to U+001F, which is all that
/// RFC 8259 section 7 asks for. Everything else stays UTF-8, since `\uXXXX` would treble the size
/// of most of the world's languages and a push payload is measured in bytes.
package enum JSONEscape {
    /// Writes `utf8` escaped to `target` from `position` on and moves `position` behind it.
    ///
    /// Returns false when there is no room; then `position` is unchanged, and the bytes behind it
    /// are garbage. `utf8` must be well-formed.
    package static func append(
        _ utf8: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer,
        at position: inout Int
    ) -> Bool {
        var written = position
        for byte in utf8 {
            if byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
                if written == target.count { return false }
                target[written] = byte
                written += 1
                continue
            }
            let short = shortEscape(byte)
            if target.count - written < (short == 0 ? 6 : 2) { return false }
            target[written] = UInt8(ascii: "\\")
            if short != 0 {
                target[written + 1] = short
                written += 2
                continue
            }
            target[written + 1] = UInt8(ascii: "u")
            target[written + 2] = UInt8(ascii: "0")
            target[written + 3] = UInt8(ascii: "0")
            target[written + 4] = hexDigit(byte >> 4)
            target[written + 5] = hexDigit(byte & 15)
            written += 6
        }
        position = written
        return true
    }

    /// Appends `utf8` escaped to a growing array.
    package static func append(_ utf8: UnsafeRawBufferPointer, to array: inout [UInt8]) {
        for byte in utf8 {
            if byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
                array.append(byte)
                continue
            }
            array.append(UInt8(ascii: "\\"))
            let short = shortEscape(byte)
            if short != 0 {
                array.append(short)
            } else {
                array += [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")]
                array += [hexDigit(byte >> 4), hexDigit(byte & 15)]
            }
        }
    }

    /// The letter of a two-character escape; 0 when there is none for this byte.
    private static func shortEscape(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
        case 8: UInt8(ascii: "b")
        case 9: UInt8(ascii: "t")
        case 10: UInt8(ascii: "n")
        case 12: UInt8(ascii: "f")
        case 13: UInt8(ascii: "r")
        default: 0
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
