/// XXH64, a fast checksum of 64 bits: <https://github.com/Cyan4973/xxHash>, doc/xxhash_spec.md.
///
/// Four lanes over 32 bytes at a time, because one lane would wait for its multiplications. A
/// published algorithm rather than one of our own: it goes into files that later versions read, and
/// other programs (`xxhsum -H64`) can check it. Not cryptographic.
package enum XXHash64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// The checksum of the bytes. No allocation.
    package static func checksum(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var at = 0
        var sum = seed &+ prime5
        if bytes.count >= 32 { sum = lanes(bytes, seed, &at) }
        sum &+= UInt64(bytes.count)
        while at + 8 <= bytes.count {
            sum = rotated(sum ^ round(0, word(bytes, at)), 27) &* prime1 &+ prime4
            at += 8
        }
        if at + 4 <= bytes.count {
            let half = UInt32(
                littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self))
            sum = rotated(sum ^ (UInt64(half) &* prime1), 23) &* prime2 &+ prime3
            at += 4
        }
        for byte in bytes[at...] {
            sum = rotated(sum ^ (UInt64(byte) &* prime5), 11) &* prime1
        }
        sum = (sum ^ (sum >> 33)) &* prime2
        sum = (sum ^ (sum >> 29)) &* prime3
        return sum ^ (sum >> 32)
    }

    private static func lanes(
        _ bytes: UnsafeRawBufferPointer, _ seed: UInt64, _ at: inout Int
    ) -> UInt64 {
        var a = seed &+ prime1 &+ prime2
        var b = seed &+ prime2
        var c = seed
        var d = seed &- prime1
        while at + 32 <= bytes.count {
            a = round(a, word(bytes, at))
            b = round(b, word(bytes, at + 8))
            c = round(c, word(bytes, at + 16))
            d = round(d, word(bytes, at + 24))
            at += 32
        }
        var sum = rotated(a, 1) &+ rotated(b, 7) &+ rotated(c, 12) &+ rotated(d, 18)
        for lane in [a, b, c, d] { sum = (sum ^ round(0, lane)) &* prime1 &+ prime4 }
        return sum
    }

    @inline(__always)
    private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        rotated(lane &+ word &* prime2, 31) &* prime1
    }

    @inline(__always)
    private static func rotated(_ value: UInt64, _ bits: UInt64) -> UInt64 {
        (value &<< bits) | (value &>> (64 &- bits))
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
    }
}
