import Campaign
import TestSupport
import Testing

/// Lists of tokens that are not sent to, in all of their forms.
@Suite(.timeLimit(.minutes(5))) struct SuppressionListTests {
    private let folder = TemporaryDirectory()
    private static let one = String(repeating: "0a", count: 32)
    private static let two = String(repeating: "0b", count: 50)

    private func tokens(_ text: String, named name: String = "list.csv") throws -> [String] {
        let reader = try SuppressionListReader(path: folder.write(text, to: name))
        var tokens: [String] = []
        while try reader.next() { tokens.append(String(decoding: reader.token, as: UTF8.self)) }
        return tokens
    }

    private func refusal(_ text: String, named name: String = "list.csv") -> String {
        let error = #expect(throws: RecipientsError.self) { try tokens(text, named: name) }
        #expect(error?.kind == .refused)
        return error?.description ?? ""
    }

    @Test func theListOfAnEarlierRun() throws {
        let text = """
            token,row,reason,invalid_since
            \(Self.one),2,Unregistered,2026-01-02T03:04:05.006Z
            \(Self.two),4,"'=HYPERLINK(""x"")",

            """
        #expect(try tokens(text) == [Self.one, Self.two])
        #expect(try tokens("token,row,reason,invalid_since\n") == [])
    }

    @Test(arguments: ["list.txt", "list.csv", "list"])
    func oneTokenPerLineWhateverItsName(name: String) throws {
        let text = "\u{FEFF}\n \n\(Self.one.uppercased())\r\n\n<\(Self.two)> \r\n\(Self.one)"
        #expect(try tokens(text, named: name) == [Self.one, Self.two, Self.one])
    }

    @Test func otherCSVsWithAColumnOfThatName() throws {
        let text = "id;token\n1;\"\(Self.one)\"\n2;'\(Self.two)\n"
        #expect(try tokens(text) == [Self.one, Self.two])
        #expect(try tokens("token\n\(Self.one)\n", named: "list") == [Self.one])
    }

    @Test(arguments: ["list.ndjson", "list.jsonl", "list"])
    func jsonLines(name: String) throws {
        let text = """
            {"token":"\(Self.one)","row":{"token":1}}

            {"row":3,"tok\\u0065n":"<\(Self.two)>"}
            """
        #expect(try tokens(text, named: name) == [Self.one, Self.two])
    }

    @Test func aBrokenLineIsNamedAndNothingIsSkipped() {
        let lines: [(String, String, Int)] = [
            ("\(Self.one)\n\nnot a token\n", "list.txt", 3),
            ("\(Self.one)\n\(Self.one),1\n", "list.txt", 2),
            ("token,x\n\(Self.one),1\n,2\n", "list.csv", 3),
            ("token,x\n\(Self.one)\n", "list.csv", 2),
            ("token,x\n\"\(Self.one)\n", "list.csv", 2),
            ("{\"token\":\"\(Self.one)\"}\n{\"token\":5}\n", "list.ndjson", 2),
            ("{\"token\":\"\(Self.one)\"}\n{\"row\":5}\n", "list.ndjson", 2),
            ("{\"token\":\"\(Self.one)\"}\n{\"token\":\n", "list.ndjson", 2),
            ("{\"token\":\"\(Self.one)\"}\n\(Self.one)\n", "list.ndjson", 2),
        ]
        for (text, name, line) in lines {
            let message = refusal(text, named: name)
            #expect(message.hasPrefix("\(folder.path)/\(name):\(line):"), "\(message)")
            #expect(message.contains("correct the line or remove it"), "\(message)")
            #expect(!message.contains(Self.one))
        }
    }

    @Test func aListWithoutTheColumnNamesThoseThatItHas() {
        let message = refusal("device,reason\n\(Self.one),x\n")
        #expect(message.contains("list.csv:1: "))
        #expect(message.contains("\"device\", \"reason\""))
    }

    /// An empty list is more often an export that failed than a wish.
    @Test func whatHoldsNothingIsRefused() {
        #expect(refusal("").contains("empty"))
        #expect(refusal("\n\n").contains("blank"))
        let error = #expect(throws: RecipientsError.self) {
            try SuppressionListReader(path: folder.path + "/nowhere.csv")
        }
        #expect(error?.description.contains("no such file") == true)
    }

    /// Longer than what is read at once, so that the first line is not all there.
    @Test func aListOfManyBlocks() throws {
        let all = (0..<20_000).map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 64 - digits.count) + digits
        }
        #expect(try tokens(all.joined(separator: "\n"), named: "list.txt") == all)
        #expect(try tokens(String(repeating: "\n", count: 50_000) + Self.one) == [Self.one])
    }
}
