import APNS
import Campaign
import TestSupport
import Testing

/// Fields of one record, and what is wrong with broken ones.
struct CSVRowParserTests {
    private func parser(_ columns: Int, delimiter: Character = ",") -> CSVRowParser {
        CSVRowParser(
            header: CSVHeader(
                delimiter: delimiter.asciiValue ?? 0, names: (1...columns).map { "column \($0)" }))
    }

    /// The fields, copied; nil when the parser found a problem.
    private func fields(_ record: String, _ columns: Int, delimiter: Character = ",") -> [String]? {
        let parser = parser(columns, delimiter: delimiter)
        return Array(record.utf8).withUnsafeBytes { bytes in
            guard parser.parse(bytes) == nil else { return nil }
            return (0..<columns).map { String(decoding: parser.field($0), as: UTF8.self) }
        }
    }

    private func problemOf(_ record: some Sequence<UInt8>, _ columns: Int) -> RowProblem? {
        let parser = parser(columns)
        return Array(record).withUnsafeBytes { parser.parse($0) }
    }

    // RFC 4180 section 2, rules 4 to 7.
    @Test func theExamplesOfRFC4180() {
        #expect(fields("aaa,bbb,ccc", 3) == ["aaa", "bbb", "ccc"])
        #expect(fields("\"aaa\",\"bbb\",\"ccc\"", 3) == ["aaa", "bbb", "ccc"])
        #expect(fields("\"aaa\",\"b\r\nbb\",\"ccc\"", 3) == ["aaa", "b\r\nbb", "ccc"])
        #expect(fields("\"aaa\",\"b\"\"bb\",\"ccc\"", 3) == ["aaa", "b\"bb", "ccc"])
    }

    @Test func emptyFieldsAreFields() {
        #expect(fields(",,", 3) == ["", "", ""])
        #expect(fields("\"\",x,", 3) == ["", "x", ""])
        #expect(fields("", 1) == [""])
    }

    @Test func blanksBelongToTheField() {
        #expect(fields(" a , \"b\" ", 2) == [" a ", " \"b\" "])
    }

    @Test func aQuoteOpensAFieldOnlyAtItsStart() {
        #expect(fields("5\" nail,x\"\"y", 2) == ["5\" nail", "x\"\"y"])
    }

    @Test func otherDelimitersLeaveCommasAlone() {
        #expect(fields("a,b;\"c;d\";e", 3, delimiter: ";") == ["a,b", "c;d", "e"])
        #expect(fields("a\t\"\"\"b\"\"\"\t", 3, delimiter: "\t") == ["a", "\"b\"", ""])
    }

    @Test func doubledQuotesOfAllFieldsFitAtTheLimit() {
        let field = "\"" + String(repeating: "\"\"", count: 16_382) + "\""  // 32,766 bytes
        let record = "\(field),\(field),xx"
        #expect(record.utf8.count == 65_536)
        let expected = String(repeating: "\"", count: 16_382)
        #expect(fields(record, 3) == [expected, expected, "xx"])
    }

    @Test func aRecordPastTheLimitIsTooLong() {
        #expect(problemOf([UInt8](repeating: 0x61, count: 65_537), 1)?.code == .recordTooLong)
    }

    @Test(
        arguments: [
            ("a", 2, "the row has 1 field, the header has 2"),
            ("a,b,c", 2, "the row has 3 fields, the header has 2"),
            ("a,b,", 2, "the row has 3 fields, the header has 2"),
        ])
    func anotherNumberOfFieldsIsAProblem(_ record: String, _ columns: Int, _ detail: String) throws
    {
        let problem = try #require(problemOf(record.utf8, columns))
        #expect(problem.code == .wrongFieldCount)
        #expect(problem.detail == detail)
    }

    @Test func textAfterAClosingQuoteIsAProblemWithItsPlace() throws {
        let problem = try #require(problemOf("é,\"b\" ,c".utf8, 3))
        #expect(problem.code == .brokenQuoting)
        #expect(problem.lineDelta == 0 && problem.column == 7)
        #expect(problem.detail == "there is text after the quote that ends the field")
    }

    @Test func aQuoteThatIsNotClosedIsAProblemWithItsPlace() throws {
        let problem = try #require(problemOf("a,\"b,c".utf8, 3))
        #expect(problem.code == .brokenQuoting && problem.column == 3)
    }

    @Test func placesCountTheLinesOfARecord() throws {
        let problem = try #require(problemOf(Array("\"a\r\nb\n\",x".utf8) + [0xFF], 2))
        #expect(problem.code == .brokenUTF8)
        #expect(problem.lineDelta == 2 && problem.column == 4)
    }

    @Test func aNULByteIsBrokenText() throws {
        let problem = try #require(problemOf("ab,c\0d".utf8, 2))
        #expect(problem.code == .brokenUTF8 && problem.column == 5)
        #expect(problem.detail == "there is a NUL byte here")
    }

    @Test func theFieldsOfTheNextRecordReplaceThoseOfTheLast() {
        let parser = parser(2)
        for record in ["a,b", "\"x\"\"\",\"\"", "1,2"] {
            Array(record.utf8).withUnsafeBytes { bytes in
                #expect(parser.parse(bytes) == nil)
                if record == "1,2" {
                    #expect(Array(parser.field(0)) == [0x31] && Array(parser.field(1)) == [0x32])
                }
            }
        }
    }
}

/// UTF-8, as RFC 3629 defines it, at every distance from a block of eight bytes.
struct CSVRowTextTests {
    private let parser = CSVRowParser(header: CSVHeader(names: ["a"]))

    private func brokenAt(_ bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBytes { parser.parse($0) }.map { $0.column - 1 }
    }

    // RFC 3629 section 4, and the table of well-formed sequences in Unicode, 3.9.
    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0xAF], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0xAF],
            [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xE2, 0x82, 0x41], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]])
    func whatIsNotUTF8IsFoundWhereItStarts(_ sequence: [UInt8]) {
        for before in 0..<20 {
            for after in [0, 1, 9] {
                let ascii = [UInt8](repeating: 0x61, count: before)
                let rest = [UInt8](repeating: 0x61, count: after)
                #expect(brokenAt(ascii + sequence + rest) == before)
            }
        }
    }

    @Test func everyCharacterOfUnicodeIsUTF8() {
        for value in stride(from: UInt32(1), through: 0x10FFFF, by: 1) {
            // Every 61st beyond the first planes' edges keeps this quick and still meets each lead
            // byte.
            guard value < 0x3000 || value % 61 == 0 || value > 0x10FFF0 else { continue }
            guard let scalar = Unicode.Scalar(value), value != 0x22, value != 0x2C else { continue }
            let bytes = Array(String(Character(scalar)).utf8)
            guard brokenAt([0x78] + bytes) == nil else {
                Issue.record("U+\(String(value, radix: 16)) is refused")
                return
            }
        }
    }

    @Test func randomBytesAreJudgedAsSwiftJudgesThem() {
        var generator = SeededGenerator()
        let pool: [UInt8] = [
            0x41, 0x80, 0x8F, 0x9F, 0xA0, 0xBF, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4,
        ]
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                pool.randomElement(using: &generator) ?? 0
            }
            #expect((brokenAt(bytes) == nil) == (String(validating: bytes, as: UTF8.self) != nil))
        }
    }
}
