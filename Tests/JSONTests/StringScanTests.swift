import JSON
import Testing

/// Strings of every length around the eight bytes that are looked at together, with something
/// special at every place in them. What comes out is known by how the text was made.
struct StringScanTests {
    private func firstText(_ text: [UInt8]) throws -> [UInt8] {
        try text.withUnsafeBytes { bytes throws -> [UInt8] in
            var scanner = JSONScanner(bytes)
            let first = try scanner.next()
            let raw = Array(scanner.text.raw)
            let last = try scanner.next()
            #expect(first == .string && last == .end)
            return raw
        }
    }

    private func fault(_ text: [UInt8]) -> (fault: JSONFault, offset: Int)? {
        text.withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            do throws(JSONError) {
                while try scanner.next() != .end {}
                return nil
            } catch {
                return (error.fault, error.position.offset)
            }
        }
    }

    @Test func aStringEndsAtItsQuoteWhereverThatIs() throws {
        for length in 0...40 {
            for special in [[], Array("é".utf8), Array("\\\"".utf8), [0x7F], Array("\\u00e9".utf8)]
            {
                for place in 0...length {
                    var content = [UInt8](repeating: 0x61, count: length)
                    content.insert(contentsOf: special, at: place)
                    for blanks in 0...8 {  // what follows the string
                        let text = [0x22] + content + [0x22] + Array(repeating: 0x20, count: blanks)
                        #expect(try firstText(text) == content, "\(length) \(place) \(blanks)")
                    }
                }
            }
        }
    }

    @Test(arguments: [
        (UInt8(0x1F), JSONFault.controlCharacter), (0x00, .controlCharacter),
        (0x09, .controlCharacter),
        (0x0A, .newlineInString), (0x80, .badUTF8), (0xFF, .badUTF8),
    ])
    func aFaultIsToldWithItsPlace(byte: UInt8, expected: JSONFault) throws {
        for length in 0...24 {
            for place in 0...length {
                var content = [UInt8](repeating: 0x61, count: length)
                content.insert(byte, at: place)
                let found = try #require(fault([0x22] + content + [0x22]))
                #expect(found.fault == expected)
                #expect(found.offset == place + 1)
            }
        }
    }

    @Test func aStringThatIsNotClosedIsToldWhereItOpens() throws {
        for length in 0...24 {
            for special in ["", "é", "\\n"] {
                let text = Array(("[1, \"" + String(repeating: "a", count: length) + special).utf8)
                let found = try #require(fault(text))
                #expect(found.fault == .unclosedString)
                #expect(found.offset == 4)
            }
        }
    }
}
