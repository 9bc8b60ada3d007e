/// Reads strings in HPACK's Huffman code (RFC 7541, appendix B), twelve bits at a time.
///
/// It knows the symbols that have at most eight bits: letters, digits and the signs of paths,
/// tokens and numbers. A string with another one is left to nghttp2.
struct ShortHuffman {
    /// The symbols by the bits that they take; within a length the codes count up in this order,
    /// and the first code of a length follows the last of the one before.
    private static let symbols: [(bits: Int, symbols: String)] = [
        (5, "012aceiost"), (6, " %-./3456789=A_bdfghlmnpru"),
        (7, ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz"), (8, "&*,;XZ"),
    ]
    private static let indexBits = 12
    private static let table = makeTable()

    /// For each twelve bits what they begin with: a symbol, or two.
    private let table = Self.table

    init() {}

    /// Decodes `source` to `place`; the count of bytes, or nil when the string is not one that can
    /// be read here, right or wrong.
    ///
    /// *Limits*: `place` must have room for `roomBytes(for:)`.
    func decode(_ source: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer) -> Int? {
        guard var next = source.baseAddress else { return nil }
        let end = next + source.count
        var written = 0
        // The next bits of the string, from the highest; `bitCount` of them are there.
        var bits: UInt64 = 0
        var bitCount = 0
        while true {
            if end - next >= 8 {
                let word = UInt64(bigEndian: next.loadUnaligned(as: UInt64.self))
                bits |= word >> UInt64(bitCount)
                let taken = (63 - bitCount) >> 3
                next += taken
                bitCount += taken << 3
            } else {
                while bitCount <= 56, next < end {
                    bits |= UInt64(next.load(as: UInt8.self)) << UInt64(56 - bitCount)
                    next += 1
                    bitCount += 8
                }
                if bitCount < Self.indexBits { break }
            }
            while bitCount >= Self.indexBits {
                let entry = table[Int(bits >> 52)]
                guard entry.bits > 0 else { return nil }
                (place + written).storeBytes(of: entry.text, as: UInt16.self)
                written += entry.bits > entry.firstBits ? 2 : 1
                bits <<= UInt64(entry.bits)
                bitCount -= Int(entry.bits)
            }
        }
        return decodeEnd(bits, bitCount, to: place, written)
    }

    /// The last bits, of which a symbol may need all, and the ones that fill up the last byte.
    private func decodeEnd(
        _ bits: UInt64, _ bitCount: Int, to place: UnsafeMutableRawPointer, _ written: Int
    ) -> Int? {
        var (bits, bitCount, written) = (bits, bitCount, written)
        // No symbol that is known here is all ones.
        while bitCount >= 8 || (bitCount > 0 && ~bits >> UInt64(64 - bitCount) != 0) {
            let entry = table[Int(bits >> 52)]
            guard entry.bits > 0, Int(entry.firstBits) <= bitCount else { return nil }
            (place + written).storeBytes(
                of: UInt8(truncatingIfNeeded: UInt16(littleEndian: entry.text)), as: UInt8.self)
            written += 1
            bits <<= UInt64(entry.firstBits)
            bitCount -= Int(entry.firstBits)
        }
        return written
    }

    /// What decoding a string of so many bytes may write: the shortest symbols have five bits, and
    /// two bytes are written at a time.
    static func roomBytes(for byteCount: Int) -> Int { byteCount * 8 / 5 + 2 }

    private struct Entry {
        /// What the symbols take, and the first of them; 0: it is one that is not known here.
        var bits: UInt8 = 0
        var firstBits: UInt8 = 0
        /// The symbols as they stand in memory.
        var text: UInt16 = 0
    }

    private static func makeTable() -> [Entry] {
        // By the next eight bits.
        var first = [(symbol: UInt8, bits: Int)?](repeating: nil, count: 256)
        var code = 0
        for (bits, symbols) in symbols {
            for symbol in symbols.utf8 {
                let repeats = 1 << (8 - bits)
                for index in code..<code + repeats { first[index] = (symbol, bits) }
                code += repeats
            }
        }
        return (0..<1 << indexBits).map { index in
            guard let one = first[index >> 4] else { return Entry() }
            var entry = Entry(
                bits: UInt8(one.bits), firstBits: UInt8(one.bits), text: UInt16(one.symbol))
            let rest = index << one.bits & 0xFFF
            if let two = first[rest >> 4], one.bits + two.bits <= indexBits {
                entry.bits += UInt8(two.bits)
                entry.text |= UInt16(two.symbol) << 8
            }
            entry.text = entry.text.littleEndian
            return entry
        }
    }
}
