/// A small digest of a token, for comparing what a sender sent with what a server saw. Not a secret
/// and no protection: a token can be guessed from it by trying.
package enum TokenDigest {
    /// FNV-1a, 64 bits (draft-eastlake-fnv). No allocation.
    package static func fnv1a64(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        return hash
    }

    /// Sixteen lower-case hexadecimal digits.
    package static func text(_ digest: UInt64) -> String {
        let digits = String(digest, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
