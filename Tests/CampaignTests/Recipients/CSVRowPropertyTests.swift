import APNS
import Campaign
import TestSupport
import Testing

/// The parser, which looks at eight bytes at a time, against one that is written as RFC 4180 reads.
struct CSVRowPropertyTests {
    private enum Parsed: Equatable {
        case fields([[UInt8]])
        case problem(FinalCode)
    }

    /// One character after the other; the text is checked first, as the parser says that it does.
    private func plainly(_ record: [UInt8], fieldCount: Int) -> Parsed {
        guard String(validating: record, as: UTF8.self) != nil, !record.contains(0) else {
            return .problem(.brokenUTF8)
        }
        var fields: [[UInt8]] = [[]]
        var rest = record[...]
        var isAtStart = true
        while let byte = rest.popFirst() {
            if isAtStart, byte == UInt8(ascii: "\"") {
                guard let field = takeQuoted(&rest) else { return .problem(.brokenQuoting) }
                fields[fields.count - 1] = field
                guard rest.isEmpty || rest.first == UInt8(ascii: ",") else {
                    return .problem(.brokenQuoting)
                }
                isAtStart = false
            } else if byte == UInt8(ascii: ",") {
                fields.append([])
                isAtStart = true
            } else {
                fields[fields.count - 1].append(byte)
                isAtStart = false
            }
        }
        return fields.count == fieldCount ? .fields(fields) : .problem(.wrongFieldCount)
    }

    /// What stands between the quotes; nil when the second is missing.
    private func takeQuoted(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        var field: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte != UInt8(ascii: "\"") {
                field.append(byte)
            } else if rest.first == UInt8(ascii: "\"") {
                rest.removeFirst()
                field.append(byte)
            } else {
                return field
            }
        }
        return nil
    }

    private func parsed(_ record: [UInt8], _ parser: CSVRowParser) -> Parsed {
        record.withUnsafeBytes { bytes in
            if let problem = parser.parse(bytes) { return .problem(problem.code) }
            return .fields((0..<parser.fieldCount).map { Array(parser.field($0)) })
        }
    }

    @Test func recordsOfAnyKindAreSplitAsTheRFCSays() {
        var random = SeededGenerator()
        let parser = CSVRowParser(header: CSVHeader(names: ["a", "b", "c"]))
        let pieces: [[UInt8]] = ["a", "bcdefgh", ",", ",", "é", "\r", " ", "-"].map {
            Array($0.utf8)
        }
        let rare: [[UInt8]] = [[0x22], [0x22, 0x22], [0], [0xC3], [0x80]]
        for _ in 0..<60_000 {
            let isRare = Bool.random(using: &random)
            let record = (0..<Int.random(in: 1...14, using: &random)).flatMap { _ in
                let all = isRare && Int.random(in: 0..<6, using: &random) == 0 ? rare : pieces
                return all.randomElement(using: &random)!
            }
            #expect(parsed(record, parser) == plainly(record, fieldCount: 3), "\(record)")
        }
    }

    @Test func delimitersAreFoundAtEveryPlace() {
        let parser = CSVRowParser(header: CSVHeader(names: ["a", "b"]))
        for length in 1...40 {
            for place in 0..<length {
                var record = [UInt8](repeating: 0x2B, count: length)  // one below a comma
                record[place] = UInt8(ascii: ",")
                let expected = [Array(record[..<place]), Array(record[(place + 1)...])]
                #expect(parsed(record, parser) == .fields(expected))
            }
        }
    }
}
