/// The DER form of an ECDSA signature, written by hand from X.690: SEQUENCE { INTEGER r, INTEGER s
/// }.
enum DERSignature {
    static func encode(fixedSize: [UInt8]) -> [UInt8] {
        let body = integer(fixedSize[..<32]) + integer(fixedSize[32...])
        return [0x30, UInt8(body.count)] + body
    }

    /// Nil for anything unexpected.
    static func decode(_ der: [UInt8]) -> [UInt8]? {
        guard der.count > 8, der[0] == 0x30, Int(der[1]) == der.count - 2, der[2] == 2 else {
            return nil
        }
        let rEnd = 4 + Int(der[3])
        guard der[rEnd] == 2 else { return nil }
        return fixed(der[4..<rEnd]) + fixed(der[(rEnd + 2)...])
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.isEmpty || digits[0] & 0x80 != 0 { digits.insert(0, at: 0) }
        return [2, UInt8(digits.count)] + digits
    }

    private static func fixed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let digits = bytes.suffix(32)
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }
}
