import Foundation
import JSON
import TestSupport
import Testing

@Suite struct JSONDocumentTests {
    @Test func orderOfKeysAndTextOfNumbersAreKept() throws {
        let text = #"{"z":1.10,"a":1e2,"m":[0.30,12345678901234567890],"Z":-0}"#
        let node = try JSONDocument.parse(Array(text.utf8), dialect: .strict)
        #expect(compact(node) == text)
    }

    @Test func valuesAndKeysKnowTheirPlace() throws {
        let text = "{\n  // \u{E9}\r\n  a: 1,\r  \"b\": [\n    true ] }"
        let node = try JSONDocument.parse(Array(text.utf8), dialect: .json5)
        let members = try #require(node.members)
        #expect(members[0].keyPosition == JSONPosition(offset: 13, line: 3, column: 3))
        #expect(members[0].value.position == JSONPosition(offset: 16, line: 3, column: 6))
        #expect(members[1].keyPosition == JSONPosition(offset: 21, line: 4, column: 3))
        #expect(
            members[1].value.elements?[0].position == JSONPosition(offset: 32, line: 5, column: 5))
    }

    @Test(arguments: [
        ("{\n\"a\": 01}", 2, 6), ("[1,\n2,\n x]", 3, 2), ("{\"a\":1,\n \"a\":2}", 2, 2),
        ("\n\n\"abc", 3, 1), ("{\"a\": \"\u{E9}\\q\"}", 1, 10), ("[1,2", 1, 5),
    ])
    func errorsNameLineAndColumnInBytes(_ text: String, _ line: Int, _ column: Int) {
        do throws(JSONError) {
            _ = try JSONDocument.parse(Array(text.utf8), dialect: .strict)
            Issue.record("read")
        } catch {
            #expect(error.line == line)
            #expect(error.column == column)
            #expect(error.description.hasPrefix("\(line):\(column): "))
        }
    }

    /// Swift's == for strings takes these pairs for equal; JSON does not.
    @Test func keysAreComparedByTheirCodePoints() throws {
        let text = "{\"\u{E9}\":1,\"e\u{301}\":2,\"\u{212A}\":3,\"K\":4}"
        let node = try JSONDocument.parse(Array(text.utf8), dialect: .strict)
        #expect(node["\u{E9}"]?.asInt == 1)
        #expect(node["e\u{301}"]?.asInt == 2)
        #expect(node["K"]?.asInt == 4)
    }

    @Test func whatFoundationWritesIsReadAsWritten() throws {
        var generator = SeededGenerator()
        for _ in 0..<300 {
            let value = randomValue(&generator, depth: 4)
            let written = try JSONSerialization.data(
                withJSONObject: value, options: .fragmentsAllowed)
            let node = try JSONDocument.parse(Array(written), dialect: .strict)
            #expect(isEqual(foundationValue(node), value))
        }
    }

    @Test func foundationReadsWhatIsWritten() throws {
        var generator = SeededGenerator()
        for round in 0..<300 {
            let value = randomValue(&generator, depth: 4)
            var writer = JSONWriter(pretty: round % 2 == 0)
            write(value, to: &writer)
            let back = try JSONSerialization.jsonObject(
                with: Data(writer.bytes), options: .fragmentsAllowed)
            #expect(isEqual(back, value))
        }
    }

    @Test func aStrictTextMeansTheSameInBothDialects() throws {
        var generator = SeededGenerator()
        for _ in 0..<100 {
            let value = randomValue(&generator, depth: 4)
            let written = try JSONSerialization.data(
                withJSONObject: value, options: .fragmentsAllowed)
            let strict = try JSONDocument.parse(Array(written), dialect: .strict)
            let json5 = try JSONDocument.parse(Array(written), dialect: .json5)
            #expect(compact(strict) == compact(json5))
        }
    }

    @Test(.timeLimit(.minutes(5))) func noBytesCrashTheScanner() {
        var generator = SeededGenerator()
        let alphabet = Array("{}[]:,\"'\\/*+-.eExu0123456789abtrufalsn \n\r\t".utf8)
        let seed = Array(#"{"a":[1,-2.5e3,"\u00e9\uD83D\uDE00",true],"b":{"c":null}}"#.utf8)
        for round in 0..<20_000 {
            var bytes: [UInt8] = seed
            switch round % 3 {
            case 0:
                bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
            case 1:
                bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                    alphabet.randomElement(using: &generator) ?? 0
                }
            default:
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] = UInt8.random(in: 0...255, using: &generator)
                bytes.removeLast(Int.random(in: 0...3, using: &generator))
            }
            for dialect in [JSONDialect.strict, .json5] {
                guard let node = try? JSONDocument.parse(bytes, dialect: dialect) else { continue }
                // Whatever is accepted can be written as JSON that an independent program reads.
                let text = Data(compact(node).utf8)
                let again = try? JSONDocument.parse(Array(text), dialect: .strict)
                #expect(again != nil, "\(bytes)")
            }
        }
    }
}

/// A random value of Foundation's JSON types.
private func randomValue(_ generator: inout SeededGenerator, depth: Int) -> Any {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &generator) {
    case 0: return NSNull()
    case 1: return Bool.random(using: &generator)
    case 2: return Int.random(in: -(1 << 53)...(1 << 53), using: &generator)
    // Quarters: Foundation on Linux reads longer fractions a few steps beside the nearest double.
    case 3: return Double(Int.random(in: -1_000_000...1_000_000, using: &generator)) / 4
    case 4, 5: return randomText(&generator)
    case 6:
        return (0..<Int.random(in: 0...4, using: &generator)).map { _ in
            randomValue(&generator, depth: depth - 1)
        }
    default:
        var object: [String: Any] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            object[randomText(&generator)] = randomValue(&generator, depth: depth - 1)
        }
        return object
    }
}

/// Random text of all planes, with many of the characters that need care.
private func randomText(_ generator: inout SeededGenerator) -> String {
    let special: [Unicode.Scalar] = ["\"", "\\", "/", "\n", "\0", "\u{1F}", "\u{7F}", "\u{2028}"]
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...12, using: &generator) {
        let value = UInt32.random(in: 0...0x10FFFF, using: &generator)
        text.append(
            Bool.random(using: &generator)
                ? special.randomElement(using: &generator) ?? "x" : Unicode.Scalar(value) ?? "y")
    }
    return String(text)
}

private func write(_ value: Any, to writer: inout JSONWriter) {
    switch value {
    case is NSNull: writer.null()
    case let truth as Bool: writer.bool(truth)
    case let number as Int: writer.number(number)
    case let number as Double: writer.number(number)
    case let text as String: writer.string(text)
    case let elements as [Any]:
        writer.beginArray()
        for element in elements { write(element, to: &writer) }
        writer.endArray()
    case let members as [String: Any]:
        writer.beginObject()
        for (key, member) in members {
            writer.key(key)
            write(member, to: &writer)
        }
        writer.endObject()
    default: Issue.record("no JSON: \(value)")
    }
}

private func foundationValue(_ node: JSONNode) -> Any {
    switch node.value {
    case .null: return NSNull()
    case .bool(let truth): return truth
    case .number(let text):
        if let integer = Int(text) { return integer }
        return Double(text) ?? .nan
    case .string(let text): return text
    case .array(let elements): return elements.map(foundationValue)
    case .object(let members):
        return [String: Any](
            uniqueKeysWithValues: members.map { ($0.key, foundationValue($0.value)) })
    }
}

/// Equality of Foundation's JSON types; strings by code points.
private func isEqual(_ first: Any, _ second: Any) -> Bool {
    switch (first, second) {
    case (is NSNull, is NSNull): return true
    case (let first as String, let second as String): return first.utf8.elementsEqual(second.utf8)
    case (let first as [Any], let second as [Any]):
        return first.count == second.count && zip(first, second).allSatisfy(isEqual)
    case (let first as [String: Any], let second as [String: Any]):
        return first.count == second.count
            && first.allSatisfy { key, value in second[key].map { isEqual($0, value) } ?? false }
    default:
        guard let first = number(first), let second = number(second) else { return false }
        return first == second
    }
}

private func number(_ value: Any) -> Double? {
    switch value {
    case let truth as Bool: truth ? 1 : 0
    case let integer as Int: Double(integer)
    case let double as Double: double
    case let number as NSNumber: number.doubleValue
    default: nil
    }
}
