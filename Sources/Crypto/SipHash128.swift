/// SipHash-2-4 with 128 bits of output: a keyed hash that nobody without the key can steer.
///
/// Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), and the authors'
/// 128-bit variant; the test compares it with OpenSSL's.
package struct SipHash128: Sendable {
    private let key0: UInt64
    private let key1: UInt64

    /// - Parameter key: 16 bytes, read as two little-endian words.
    package init(key: [UInt8]) {
        precondition(key.count == 16)
        key0 = key.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
        key1 = key.withUnsafeBytes {
            UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }

    /// The two words of the hash, the lower one first. No allocation.
    package func hash(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        var state = State(key0: key0, key1: key1)
        let wholeBytes = bytes.count & ~7
        var offset = 0
        while offset < wholeBytes {
            state.absorb(
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var last = UInt64(bytes.count & 0xFF) << 56
        for index in wholeBytes..<bytes.count {
            last |= UInt64(bytes[index]) << (8 * UInt64(index - wholeBytes))
        }
        state.absorb(last)
        return state.finish()
    }

    /// The hash of one number, as its eight little-endian bytes.
    package func hash(_ number: UInt64) -> (UInt64, UInt64) {
        var state = State(key0: key0, key1: key1)
        state.absorb(number)
        state.absorb(8 << 56)
        return state.finish()
    }

    private struct State {
        var v0, v1, v2, v3: UInt64

        init(key0: UInt64, key1: UInt64) {
            v0 = key0 ^ 0x736F_6D65_7073_6575
            v1 = key1 ^ 0x646F_7261_6E64_6F6D ^ 0xEE  // 0xEE marks the 128-bit variant
            v2 = key0 ^ 0x6C79_6765_6E65_7261
            v3 = key1 ^ 0x7465_6462_7974_6573
        }

        mutating func absorb(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        mutating func finish() -> (UInt64, UInt64) {
            v2 ^= 0xEE
            for _ in 0..<4 { round() }
            let low = v0 ^ v1 ^ v2 ^ v3
            v1 ^= 0xDD
            for _ in 0..<4 { round() }
            return (low, v0 ^ v1 ^ v2 ^ v3)
        }

        @inline(__always)
        private mutating func round() {
            v0 = v0 &+ v1
            v1 = rotate(v1, 13) ^ v0
            v0 = rotate(v0, 32)
            v2 = v2 &+ v3
            v3 = rotate(v3, 16) ^ v2
            v0 = v0 &+ v3
            v3 = rotate(v3, 21) ^ v0
            v2 = v2 &+ v1
            v1 = rotate(v1, 17) ^ v2
            v2 = rotate(v2, 32)
        }

        @inline(__always)
        private func rotate(_ word: UInt64, _ bits: UInt64) -> UInt64 {
            (word << bits) | (word >> (64 - bits))
        }
    }
}
