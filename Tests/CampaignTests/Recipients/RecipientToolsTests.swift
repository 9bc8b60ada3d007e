import APNS
import Campaign
import Foundation
import TestSupport
import Testing

/// The scripts that make and audit recipients files, run as programs.
@Suite(.timeLimit(.minutes(5)))
struct RecipientToolsTests {
    private let folder = TemporaryDirectory()

    private func run(_ tool: String, _ arguments: [String]) throws -> Subprocess.Result {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try Subprocess.run([root.appending(path: "tools/\(tool)").path] + arguments)
    }

    private func digest(_ content: String, _ name: String = "r.csv") throws -> String {
        try run("token-digest", [folder.write(content, to: name)]).output
    }

    private func fnv(_ text: String) -> UInt64 {
        Array(text.utf8).withUnsafeBytes { TokenDigest.fnv1a64($0) }
    }

    // FNV-1a-64 of known strings: draft-eastlake-fnv, appendix C, and the reference test_fnv.c.
    // Tokens are hexadecimal, so these strings check the function that the script is compared with.
    @Test func theFunctionBehindTheDigestIsFNV1a() {
        #expect(fnv("") == 0xCBF2_9CE4_8422_2325)
        #expect(fnv("a") == 0xAF63_DC4C_8601_EC8C)
        #expect(fnv("foobar") == 0x8594_4171_F739_67E8)
    }

    @Test func theDigestIsTheSumOfFNV1aOverTheTokens() throws {
        let first = String(repeating: "0123456789abcdef", count: 4)
        let second = String(repeating: "ab", count: 50)
        let sum = TokenDigest.text(fnv(first) &+ fnv(second))
        let expected = "count 2\ndigest \(sum)\n"
        #expect(try digest("token\n\(first)\n\(second)\n") == expected)
        #expect(
            try digest("\u{FEFF}x;token\r\n\r\n1;\(second)\r\n2;<\(first.uppercased())>")
                == expected)
        #expect(try digest("x,token\n\"a\n\"\"b,\",\(first)\ny,\"\(second)\"\nz,bad\n") == expected)
        let lines =
            "{\"token\":\"\(first)\"}\n\n{\"a\":{\"token\":\"00\"},\"token\" : \"\(second)\"}"
        #expect(try digest(lines, "r.ndjson") == expected)
    }

    // The same numbers from a separate program (Python): the first 2,000 rows of seed 1.
    @Test func madeFilesAreTheSameEverywhere() throws {
        for format in ["csv", "ndjson"] {
            let path = folder.path + "/made." + format
            #expect(
                try run("make-recipients", ["2000", "--format", format, "--output", path]).status
                    == 0)
            #expect(
                try run("token-digest", [path]).output == "count 2000\ndigest d1b322cac159b546\n")
        }
    }

    @Test func madeFilesHoldUniqueTokensInRowsThatPealReads() throws {
        let content = try run("make-recipients", ["5000", "--seed", "42"]).output
        let path = folder.write(content, to: "made.csv")
        let reader = try RecipientReader(path: path, format: .csv)
        let header = try #require(reader.header)
        #expect(header.names == ["token", "locale", "first_name", "city", "discount"])
        let parser = CSVRowParser(header: header)
        var tokens: Set<String> = []
        for row in try reader.readAll().rows {
            row.bytes.withUnsafeBytes { bytes in
                #expect(parser.parse(bytes) == nil)
                tokens.insert(String(decoding: parser.field(0), as: UTF8.self))
            }
        }
        #expect(tokens.count == 5000)
        #expect(tokens.allSatisfy { $0.count == 64 })
        #expect(try run("make-recipients", ["5000", "--seed", "43"]).output != content)
    }

    @Test(arguments: [[], ["x"], ["1", "--format", "xml"], ["1", "2"], ["1", "--seed"]])
    func wrongUsageIsStatusTwo(_ arguments: [String]) throws {
        #expect(try run("make-recipients", arguments).status == 2)
    }
}
