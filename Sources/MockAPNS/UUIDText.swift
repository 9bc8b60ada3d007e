internal import Crypto

/// Makes message ids for requests that bring none: random UUIDs (version 4) as 36 bytes of text.
///
/// The numbers come from SplitMix64, seeded from the system's generator: made without a system call
/// per request. They are unique enough to tell requests apart, and no secret hangs on them.
///
/// *Thread:* one thread; each worker has its own, so that two never make the same ids.
/// *Ownership:* the buffer that `next` returns is this object's, valid until the next call.
final class UUIDText {
    /// The length of a UUID in the canonical form.
    static let count = 36

    private let text: UnsafeMutableRawBufferPointer
    private var state: UInt64

    init() {
        text = .allocate(byteCount: Self.count, alignment: 8)
        text.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "-"))
        state = randomBytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    deinit { text.deallocate() }

    /// A fresh id.
    func next() -> UnsafeRawBufferPointer {
        var high = nextNumber()
        var low = nextNumber()
        high = high & ~0xF000 | 0x4000  // Version 4 (RFC 9562 section 5.4).
        low = low & ~(0xC000 << 48) | 0x8000 << 48  // The variant of RFC 9562 section 4.1.
        // 8-4-4-4-12 digits; the hyphens between them stay.
        let third = Self.digits(low >> 32)
        let second = Self.digits(high & 0xFFFF_FFFF)
        store(Self.digits(high >> 32), at: 0)
        store(UInt32(second >> 32), at: 9)
        store(UInt32(truncatingIfNeeded: second), at: 14)
        store(UInt32(third >> 32), at: 19)
        store(UInt32(truncatingIfNeeded: third), at: 24)
        store(Self.digits(low & 0xFFFF_FFFF), at: 28)
        return UnsafeRawBufferPointer(text)
    }

    private func store(_ digits: some FixedWidthInteger, at index: Int) {
        text.storeBytes(of: digits.bigEndian, toByteOffset: index, as: type(of: digits))
    }

    /// The eight hexadecimal digits of a number of 32 bits, the first in the highest byte: all at
    /// once, because one by one they cost more than the number.
    private static func digits(_ value: UInt64) -> UInt64 {
        var digits = (value | value << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // 1 in the bytes from 10 on, which are letters: "a" stands 0x27 behind what follows "9".
        let letters = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return digits &+ 0x3030_3030_3030_3030 &+ letters &* 0x27
    }

    /// Whether a UUID has a hyphen at this place.
    static func isHyphen(_ index: Int) -> Bool {
        index == 8 || index == 13 || index == 18 || index == 23
    }

    private func nextNumber() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
