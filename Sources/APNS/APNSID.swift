/// The value of `apns-id`: a UUID in its canonical form, 8-4-4-4-12 (RFC 9562 section 4), lower
/// case as Apple asks.
package enum APNSID {
    /// Characters of the text form.
    package static let characters = 36

    /// Writes 128 bits as a UUID of version 8, the one for bits of one's own making (RFC 9562
    /// section 5.8); 6 of the bits give way to version and variant. No allocation.
    /// - Parameter output: at least `characters` bytes.
    package static func write(
        high: UInt64, low: UInt64, into output: UnsafeMutableRawBufferPointer
    ) {
        precondition(output.count >= characters)
        let first = (high & ~0xF000) | 0x8000
        let second = (low & ~(0b11 << 62)) | (0b10 << 62)
        var digitIndex = 0
        for index in 0..<characters {
            if isDash(index) {
                output[index] = UInt8(ascii: "-")
                continue
            }
            let half = digitIndex < 16 ? first : second
            let digit = UInt8(truncatingIfNeeded: half >> (60 - 4 * (digitIndex & 15))) & 0xF
            output[index] = digit < 10 ? digit + UInt8(ascii: "0") : digit - 10 + UInt8(ascii: "a")
            digitIndex += 1
        }
    }

    /// Whether the text has the canonical form, in either case: that is all that a server can ask.
    package static func isCanonical(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count == characters else { return false }
        for index in 0..<characters {
            switch text[index] {
            case UInt8(ascii: "-"):
                guard isDash(index) else { return false }
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                guard !isDash(index) else { return false }
            default: return false
            }
        }
        return true
    }

    private static func isDash(_ index: Int) -> Bool {
        index == 8 || index == 13 || index == 18 || index == 23
    }
}
