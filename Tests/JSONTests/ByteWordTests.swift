import TestSupport
import Testing

@testable import JSON

/// Eight bytes at a time against one byte at a time.
struct ByteWordTests {
    /// Bytes at the borders of what is looked for.
    private static let borders: [UInt8] = [
        0, 1, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x2B, 0x2C, 0x2D, 0x5C, 0x7E, 0x7F, 0x80, 0x81, 0xA2,
        0xAC, 0xFE, 0xFF,
    ]

    private func words(_ count: Int) -> [[UInt8]] {
        var random = SeededGenerator()
        return (0..<count).map { _ in
            (0..<8).map { _ in Self.borders.randomElement(using: &random)! }
        }
    }

    private func load(_ bytes: [UInt8]) -> UInt64 {
        bytes.enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64(8 * $1.offset) }
    }

    private func expectFirst(_ answer: UInt64, is expected: Int?, _ bytes: [UInt8]) {
        #expect((answer == 0 ? nil : ByteWord.firstIndex(answer)) == expected, "\(bytes)")
    }

    @Test func theFirstByteIsFound() {
        for bytes in words(20_000) {
            let word = load(bytes)
            expectFirst(ByteWord.zeros(word), is: bytes.firstIndex(of: 0), bytes)
            expectFirst(ByteWord.matches(word, 0x2C), is: bytes.firstIndex(of: 0x2C), bytes)
            expectFirst(ByteWord.matches(word, 0xFF), is: bytes.firstIndex(of: 0xFF), bytes)
            // A byte that is not ASCII may hide what stands above it, so it is looked for beside.
            let controls = ByteWord.below(word, 0x20) | word & ByteWord.tops
            expectFirst(controls, is: bytes.firstIndex { $0 < 0x20 || $0 > 0x7F }, bytes)
        }
    }

    @Test func exactMatchesAreAllRight() {
        for bytes in words(20_000) {
            for wanted: UInt8 in [0, 0x2C, 0x80, 0xFF] {
                let expected = load(bytes.map { $0 == wanted ? 0x80 : 0 })
                #expect(ByteWord.exactMatches(load(bytes), wanted) == expected, "\(bytes)")
            }
        }
    }

    /// The standard library's decoder is the judge.
    @Test func faultsOfUTF8AreFoundAtEveryOffset() {
        var random = SeededGenerator()
        let pieces: [[UInt8]] = [
            [0x61], [0x62, 0x63, 0x64, 0x65, 0x66], [0xC3, 0xA9], [0xE2, 0x82, 0xAC],
            [0xF0, 0x9F, 0x94, 0x94], [0xC3], [0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        ]
        for _ in 0..<20_000 {
            let sound = Int.random(in: 1...9, using: &random) > 3
            let bytes = (0..<Int.random(in: 0...9, using: &random)).flatMap { _ in
                (sound ? pieces[..<5] : pieces[...]).randomElement(using: &random)!
            }
            let fault = bytes.withUnsafeBytes { UTF8Check.firstFault(in: $0) }
            let isSound = String(validating: bytes, as: UTF8.self) != nil
            #expect((fault == nil) == isSound, "\(bytes)")
            guard let fault else { continue }
            #expect(String(validating: bytes[..<fault], as: UTF8.self) != nil, "\(bytes)")
        }
    }
}
