import Campaign
import TestSupport
import Testing

/// What counts as a header, and what is said about one that does not.
struct CSVHeaderTests {
    private func header(_ content: String) throws -> CSVHeader? {
        let folder = TemporaryDirectory()
        return try RecipientReader(path: folder.write(content, to: "r.csv"), format: .csv).header
    }

    @Test(arguments: [(",", 0x2C), (";", 0x3B), ("\t", 0x09), ("|", 0x7C)] as [(String, UInt8)])
    func theDelimiterIsFoundFromTheHeader(_ text: String, _ byte: UInt8) throws {
        let found = try header("token\(text)first name\(text)x\n")
        #expect(found == CSVHeader(delimiter: byte, names: ["token", "first name", "x"]))
    }

    @Test func theMostFrequentDelimiterOutsideQuotesWins() throws {
        #expect(try header("a|b;c|d\n")?.names == ["a", "b;c", "d"])
        #expect(try header("\"a,b,\"\",c\";d\n")?.names == ["a,b,\",c", "d"])
        #expect(try header("a\"b;c\"d,e,f\n")?.names == ["a\"b;c\"d", "e", "f"])
    }

    @Test func aSingleColumnNeedsNoDelimiter() throws {
        #expect(try header("token") == CSVHeader(names: ["token"]))
    }

    @Test func namesLoseTheBlanksAroundThemAndKeepTheRest() throws {
        let found = try header(" token , \"First  Name\",\"\t x\"\r\n")
        #expect(found?.names == ["token", "\"First  Name\"", "x"])
        #expect(found?.column(named: "x") == 2)
        #expect(found?.column(named: "X") == nil)
    }

    @Test func aNameMayHoldALineBreak() throws {
        let found = try header("\n\"to\nken\",x\n")
        #expect(found?.names == ["to\nken", "x"] && found?.line == 2)
    }

    struct Refused: Sendable {
        var content: String
        var description: String
    }

    static let refused = [
        Refused(
            content: "token,x,token\n",
            description: ":1:9: the column name \"token\" is there twice; give every column its own"
                + " name"),
        Refused(
            content: "token,x,\n",
            description: ":1:9: a column has no name; name it, or remove the column (look for a"
                + " delimiter too many)"),
        Refused(
            content: "\n\"a\nb\",  ,c\n",
            description: ":3:4: a column has no name; name it, or remove the column (look for a"
                + " delimiter too many)"),
        Refused(
            content: String(repeating: "0aF1", count: 16) + ";en\n",
            description: ":1:1: the header row is missing: this is a device token; add `token;…` as"
                + " the first line"),
        Refused(
            content: "<" + String(repeating: "0af1 ", count: 16) + ">",
            description: ":1:1: the header row is missing: this is a device token; add `token` as"
                + " the first line"),
        Refused(
            content: "\"token\"x,y\n",
            description: ":1:8: there is text after the quote that ends a column name; remove it,"
                + " or double the quotes inside the name"),
        Refused(
            content: "token,\"y",
            description: ":1:7: the quote that opens here is not closed; close it"),
        Refused(
            content: "token,\"y\na,b\n",
            description: ":1: a quote in the header row is not closed; close it, or double it if it"
                + " is part of a name"),
        Refused(
            content: "{\"token\":\"a\"}\n",
            description: ":1:1: this looks like JSON lines, not like the header of a CSV; name the"
                + " file .ndjson"),
        Refused(
            content: "t\0o\0k\0e\0n\0\n\0",
            description: ":1:2: there is a NUL byte: this is UTF-16 or no text at all; if it is"
                + " UTF-16, convert it: iconv -f UTF-16LE -t UTF-8"),
        Refused(
            content: "\n\r\n\n",
            description: ": it holds nothing but blank lines; begin it with a header row, such as"
                + " `token,locale`"),
        Refused(
            content: String(repeating: "x", count: 65_537) + "\n",
            description: ":1: the header row is longer than 65536 bytes; check that the file is a"
                + " CSV with line ends LF or CR LF"),
    ]

    @Test(arguments: refused)
    func aHeaderThatIsNoneIsRefusedWithItsPlaceAndARemedy(_ refused: Refused) throws {
        let error = try #require(openingError(refused.content.utf8))
        #expect(error.kind == .refused)
        #expect(error.description == error.file + refused.description)
    }

    @Test func aHeaderInLatin1IsRefused() throws {
        let error = try #require(openingError(Array("token,stra".utf8) + [0xDF, 0x65, 0x0A]))
        #expect(error.line == 1 && error.column == 11)
        #expect(error.message == "the header is not UTF-8")
    }

    @Test func blanksBeforeTheHeaderMayBeLongerThanTheLimit() throws {
        #expect(try header(String(repeating: "\n", count: 70_000) + "token\n")?.line == 70_001)
    }
}
