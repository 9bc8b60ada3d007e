import APNS
import Campaign
import TestSupport
import Testing

/// Row numbers, line numbers and the records themselves.
@Suite(.timeLimit(.minutes(5)))
struct RecipientReaderTests {
    private func texts(_ content: String, _ format: RecipientFormat = .csv) throws -> [String] {
        try readRows(content.utf8, format: format).map { "\($0.row)/\($0.line) \($0.text)" }
    }

    @Test func rowsCountFromOneAfterTheHeader() throws {
        #expect(try texts("token,x\na,1\nb,2\n") == ["1/2 a,1", "2/3 b,2"])
    }

    @Test func theLastLineNeedsNoLineEnd() throws {
        #expect(try texts("token\na\nb") == ["1/2 a", "2/3 b"])
        #expect(try texts("token\r\na\r\nb\r") == ["1/2 a", "2/3 b"])
    }

    @Test func carriageReturnsBelongToLineEnds() throws {
        #expect(try texts("token,x\r\na,1\r\nb\r,2\r\n") == ["1/2 a,1", "2/3 b\r,2"])
    }

    @Test func blankLinesAreSkippedAndUncounted() throws {
        #expect(try texts("\n\r\ntoken\n\na\n\r\n\nb\n\n") == ["1/5 a", "2/8 b"])
    }

    @Test func aLineOfBlanksIsARowInCSV() throws {
        #expect(try texts("token\n  \n") == ["1/2   "])
    }

    @Test func aByteOrderMarkIsRemoved() throws {
        #expect(try texts("\u{FEFF}token\na\n") == ["1/2 a"])
        #expect(try texts("\u{FEFF}{}\n", .ndjson) == ["1/1 {}"])
    }

    @Test func aHeaderAloneHasNoRows() throws {
        for content in ["token,x", "token,x\n", "token,x\r\n\r\n"] {
            #expect(try texts(content) == [])
        }
    }

    // RFC 4180 section 2, rules 5 to 7.
    @Test func quotesHoldDelimitersLineBreaksAndQuotes() throws {
        let content =
            "a,b,c\n\"aaa\",\"b\nb\r\nb\",\"c,c\"\nzzz,y\"\"y,x\n\"a\"\"\n\",b,c\nlast,b,c\n"
        #expect(
            try texts(content) == [
                "1/2 \"aaa\",\"b\nb\r\nb\",\"c,c\"", "2/5 zzz,y\"\"y,x", "3/6 \"a\"\"\n\",b,c",
                "4/8 last,b,c",
            ])
    }

    @Test func aQuoteInsideAFieldIsACharacter() throws {
        #expect(try texts("a,b\n5\",6\"\n x,\"y\"\n") == ["1/2 5\",6\"", "2/3  x,\"y\""])
    }

    @Test func theDelimiterOfTheHeaderDecidesWhereQuotesOpen() throws {
        #expect(try texts("a;b\n1;\"x\ny\"\n2,\"x;y\n") == ["1/2 1;\"x\ny\"", "2/4 2,\"x;y"])
    }

    @Test func textAfterAQuoteInOneLineIsLeftToTheRowParser() throws {
        let rows = try readRows("a,b\n\"x\"y,\"z\nnext,1\n".utf8)
        #expect(rows.map(\.text) == ["\"x\"y,\"z", "next,1"])
        #expect(rows.allSatisfy { $0.problem == nil })
    }

    @Test func aRunawayQuoteCostsOneRow() throws {
        let rows = try readRows("a,b\n\"x,1\ny,2\nz,\"3\"\nw,4\n".utf8)
        #expect(rows.map(\.text) == ["\"x,1", "y,2", "z,\"3\"", "w,4"])
        #expect(rows.map(\.problem) == [.runawayQuote, nil, nil, nil])
        #expect(rows.map(\.line) == [2, 3, 4, 5])
    }

    @Test func aQuoteThatIsNeverClosedCostsOneRow() throws {
        let rows = try readRows("a,b\nv,0\n\"x,1\ny,2\nz,3\n".utf8)
        #expect(rows.map(\.problem) == [nil, .runawayQuote, nil, nil])
        #expect(rows.map(\.line) == [2, 3, 4, 5])
    }

    @Test(arguments: ["\"last", "\"last\n", "\"last\r\n"])
    func aQuoteThatIsNeverClosedInTheLastLineIsLeftToTheRowParser(_ last: String) throws {
        let rows = try readRows("a\nv\n\(last)".utf8)
        #expect(rows.map(\.text) == ["v", "\"last"])
        #expect(rows.allSatisfy { $0.problem == nil })
    }

    @Test func aQuoteThatRunsPastTheLimitCostsOneRow() throws {
        let line = "12345678,abcdefgh\n"
        let rows = try readRows(("a,b\n\"x,1\n" + String(repeating: line, count: 5000)).utf8)
        #expect(rows.count == 5001)
        #expect(rows[0].problem == .recordTooLong)
        #expect(rows[0].text == "\"x,1")
        #expect(rows[1...].allSatisfy { $0.problem == nil && $0.text == line.dropLast() })
        #expect(rows[5000].line == 5002)
    }

    @Test(arguments: [RecipientFormat.csv, .ndjson], ["\n", "\r\n"])
    func theLimitIsExact(_ format: RecipientFormat, _ lineEnd: String) throws {
        let header = format == .csv ? "a\n" : "{}\n"
        for excess in -1...2 {
            let long = String(repeating: "x", count: 65_536 + excess)
            for end in [lineEnd + "y", lineEnd, ""] {
                let rows = try readRows((header + long + end).utf8, format: format)
                    .dropFirst(format == .csv ? 0 : 1)
                #expect(rows.first?.problem == (excess > 0 ? .recordTooLong : nil))
                #expect(rows.first?.bytes.count == min(65_536, long.utf8.count))
                #expect(rows.count == (end.hasSuffix("y") ? 2 : 1))
                #expect(rows.last?.line == (end.hasSuffix("y") ? 3 : 2))
            }
        }
    }

    @Test(arguments: ["\n", "\r\n"])
    func theLimitIsExactForQuotedRecords(_ lineEnd: String) throws {
        for excess in -1...2 {
            let text = String(repeating: "x", count: 65_536 - 5 + excess)
            let record = "\"\(lineEnd == "\n" ? "zz" : "z")\(lineEnd)\(text)\""  // 5 bytes more
            let content = "a\n" + record.replacingCRLF(with: "\r\n") + lineEnd + "y"
            let rows = try readRows(content.utf8)
            #expect(rows[0].problem == (excess > 0 ? .recordTooLong : nil))
            #expect(rows.last?.text == "y")
        }
    }

    @Test(arguments: [RecipientFormat.csv, .ndjson])
    func aLineOfAMebibyteIsOneInvalidRow(_ format: RecipientFormat) throws {
        let long = [UInt8](repeating: UInt8(ascii: "\""), count: 1_048_576)
        let content = Array("token\none\n".utf8) + long + Array("\ntwo\n".utf8) + long
        let rows = try readRows(content, format: format).suffix(4)
        #expect(rows.map(\.problem) == [nil, .recordTooLong, nil, .recordTooLong])
        #expect(rows.map(\.line) == [2, 3, 4, 5])
        #expect(rows.map(\.bytes.count) == [3, 65_536, 3, 65_536])
    }

    @Test func aNULByteIsAByteForTheReader() throws {
        #expect(try texts("a\nx\0y\n\"\0\n\"\n") == ["1/2 x\0y", "2/3 \"\0\n\""])
    }

    @Test func recordsOfNDJSONArePhysicalLines() throws {
        let content = "{\"token\":\"a\"}\r\n \t \n\n[1]\n\"x\n}\n  {}"
        #expect(
            try texts(content, .ndjson) == [
                "1/1 {\"token\":\"a\"}", "2/4 [1]", "3/5 \"x", "4/6 }", "5/7   {}",
            ])
    }

    @Test func chunksFollowOneAnotherWithoutGaps() throws {
        let folder = TemporaryDirectory()
        let content = "\u{FEFF}token,x\n" + (1...500).map { "t\($0),\"a\nb\"\n\n" }.joined()
        let path = folder.write(content, to: "r.csv")
        let reader = try RecipientReader(path: path, format: .csv)
        #expect(reader.header?.names == ["token", "x"])
        #expect(reader.bytesTotal == UInt64(content.utf8.count))
        let chunks = try reader.readAll(targetBytes: 100).chunks
        #expect(chunks.count > 50)
        var (offset, row): (UInt64, UInt64) = (11, 1)  // mark and header
        for chunk in chunks {
            #expect(chunk.offset == offset && chunk.firstRow == row)
            offset += chunk.byteCount
            row += UInt64(chunk.recordCount)
        }
        #expect(row == 501)
        #expect(reader.isAtEnd && reader.bytesRead == UInt64(content.utf8.count))
    }

    @Test func aChunkHoldsNoMoreRecordsThanItsIndex() throws {
        let content = Array("a\n".utf8) + Array(String(repeating: "x\n", count: 30_000).utf8)
        let folder = TemporaryDirectory()
        let reader = try RecipientReader(path: folder.write(content, to: "r"), format: .csv)
        let chunks = try reader.readAll().chunks
        #expect(chunks.map(\.recordCount) == [8192, 8192, 8192, 5424])  // 256 KiB / 32
    }

    @Test func endlessBlankLinesNeedNoMemory() throws {
        let blanks = String(repeating: "\n", count: 3_000_000)
        let rows = try readRows("a\nx\n\(blanks)y\n\(blanks)z".utf8, targetBytes: 10)
        #expect(rows.map(\.line) == [2, 3_000_003, 6_000_004])
        #expect(rows.map(\.row) == [1, 2, 3])
    }
}

extension String {
    /// Swift's "\r\n" is one character; this makes sure that it is two bytes either way.
    fileprivate func replacingCRLF(with text: String) -> String {
        String(map { $0 == "\r\n" ? "\u{1}" : $0 }).split(
            separator: "\u{1}", omittingEmptySubsequences: false
        ).joined(separator: text)
    }
}
