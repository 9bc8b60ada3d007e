/// Device tokens that no device has: 64 hexadecimal digits made from a number, the same in every
/// test. They begin with "10ad", so that a log shows what they are.
struct SyntheticTokens {
    static let characters = 64
    /// How many there are; request n gets number n modulo this.
    let count: UInt64

    /// "10ad" in ASCII.
    private static let mark: UInt32 = 0x3130_6164
    private static let digits: StaticString = "0123456789abcdef"

    /// Writes the token of a request. *Limits*: room for `characters` bytes.
    func write(request: UInt64, to output: UnsafeMutableRawBufferPointer) {
        let digits = Self.digits.utf8Start
        let number = request % count
        for word in 0..<4 {
            var bits = Self.mix(number &* 4 &+ UInt64(word))
            for place in 0..<16 {
                output[word &* 16 &+ place] = digits[Int(bits & 15)]
                bits >>= 4
            }
        }
        output.storeBytes(of: Self.mark.bigEndian, as: UInt32.self)
    }

    /// SplitMix64's output function: numbers that are close give words that share nothing.
    private static func mix(_ number: UInt64) -> UInt64 {
        var mixed = (number &+ 1) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// The payload of every request of a load test.
package enum SyntheticPayload {
    private static let head = #"{"aps":{"alert":""#
    private static let tail = #""}}"#

    /// No notification is smaller than an alert without text.
    package static let bytesMin = head.utf8.count + tail.utf8.count

    /// An alert of exactly so many bytes. *Limits*: at least `bytesMin`.
    package static func make(byteCount: Int) -> [UInt8] {
        precondition(byteCount >= bytesMin)
        let text = "This is a load test. "
        let letters = Array(text.utf8)
        let body = (0..<byteCount - bytesMin).map { letters[$0 % letters.count] }
        return Array(head.utf8) + body + Array(tail.utf8)
    }
}
