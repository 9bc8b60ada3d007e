/// Looks at eight bytes at once, as one number: the first byte is the lowest.
///
/// An answer is a word that has the top bit of each byte that is found, and no other bit. With
/// `zeros`, `matches` and `below` the lowest found byte is right and those above it may be wrong,
/// because a byte that is found takes a borrow from the next one: right for whether there is one,
/// and which is the first (Anderson, Bit Twiddling Hacks, "Determine if a word has a zero byte").
enum ByteWord {
    /// 1 in each byte.
    static var ones: UInt64 { 0x0101_0101_0101_0101 }
    /// The top bit of each byte.
    static var tops: UInt64 { 0x8080_8080_8080_8080 }

    /// The bytes that are 0.
    @inline(__always)
    static func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & tops }

    /// The bytes that are `byte`.
    @inline(__always)
    static func matches(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        zeros(word ^ (ones &* UInt64(byte)))
    }

    /// The bytes that are `byte`; every one of them is right.
    @inline(__always)
    static func exactMatches(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (ones &* UInt64(byte))
        // Adding 127 to seven bits never reaches the next byte.
        return ~(((difference & ~tops) &+ ~tops) | difference) & tops
    }

    /// The bytes below `limit`, which is 128 at most, of those that are ASCII.
    @inline(__always)
    static func below(_ word: UInt64, _ limit: UInt8) -> UInt64 {
        (word &- ones &* UInt64(limit)) & ~word & tops
    }

    /// The index of the lowest byte of an answer that is not 0.
    @inline(__always)
    static func firstIndex(_ answer: UInt64) -> Int { answer.trailingZeroBitCount >> 3 }
}
