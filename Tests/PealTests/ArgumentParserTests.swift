import Testing

@testable import peal

struct ArgumentParserTests {
    /// The parsed command of `line`, whose words are separated by blanks.
    private func parsed(_ line: String) throws -> ParsedArguments {
        let invocation = try ArgumentParser.parse(line.split(separator: " ").map(String.init))
        guard case .run(let arguments) = invocation else {
            throw CommandFailure(.internalError, "\(line) runs nothing")
        }
        return arguments
    }

    /// What the parser says against `line`.
    private func refusal(_ line: String) throws -> String {
        let failure = try #require(throws: CommandFailure.self) { try parsed(line) }
        #expect(failure.status == .refused)
        return failure.description
    }

    @Test func aValueStandsInTheNextWordOrAfterAnEqualsSign() throws {
        let arguments = try parsed("send shop --rate 2.5 --limit=10 --recipients - --server=a=b")
        #expect(arguments.operand == "shop")
        #expect(arguments.decimal("rate") == 2.5)
        #expect(arguments.whole("limit") == 10)
        #expect(arguments.text("recipients") == "-")
        #expect(arguments.text("server") == "a=b")
        #expect(arguments.text("ca-file") == nil)
    }

    @Test func flagsAreThereOrNot() throws {
        let arguments = try parsed("send --json shop")
        #expect(arguments.has("json"))
        #expect(!arguments.has("quiet"))
        #expect(arguments.operand == "shop")
    }

    @Test func whatFollowsTwoDashesIsNoOption() throws {
        #expect(try parsed("send --json -- --shop").operand == "--shop")
        #expect(try parsed("send -- --help").operand == "--help")
    }

    @Test func aRepeatableOptionKeepsItsValuesInOrder() throws {
        #expect(try parsed("mock --key b.p8 --key=a.pem").all("key") == ["b.p8", "a.pem"])
    }

    @Test func anyOtherOptionIsTakenOnce() throws {
        #expect(try refusal("send shop --rate 1 --rate=2").contains("--rate is given twice"))
        #expect(try refusal("send shop --json --json").contains("--json is given twice"))
    }

    @Test(arguments: [
        ("sned shop", "'send'"), ("send shop --jsno", "'--json'"),
        ("send shop --conections 1", "'--connections'"),
        ("send shop --pacing unlimted", "'unlimited'"), ("send shop --recip x", "'--recipients'"),
    ])
    func aTypingMistakeIsAnsweredWithTheWordThatWasMeant(line: String, meant: String) throws {
        #expect(try refusal(line).contains("did you mean \(meant)?"))
    }

    @Test func aWordThatIsCloseToNothingGetsNoSuggestion() throws {
        let text = try refusal("send shop --frobnicate")
        #expect(text.contains("no option '--frobnicate'"))
        #expect(!text.contains("did you mean"))
    }

    @Test(arguments: [
        "send shop --server", "send shop --server --mock", "send shop --rate",
        "mock --listen --fast",
    ])
    func aMissingValueIsNotTakenFromTheNextOption(line: String) throws {
        #expect(try refusal(line).contains("needs a value"))
    }

    @Test(arguments: [
        ("--limit x", "not a whole number"), ("--limit -1", "not a whole number"),
        ("--limit 1.5", "not a whole number"),
        ("--limit=", "not a whole number"), ("--limit +1", "not a whole number"),
        ("--limit 1e3", "not a whole number"),
        ("--limit 0", "the least is 1"), ("--threads 0", "the least is 1"),
        ("--connections 0", "the least is 1"),
        ("--threads 65", "the most is 64"),
        ("--limit 18446744073709551616", "the most is 18446744073709551615"),
        ("--rate nan", "not a number"), ("--rate inf", "not a number"),
        ("--rate -1", "not a number"), ("--rate 1.", "not a number"),
        ("--rate 0x10", "not a number"), ("--rate 1000000001", "the most is 1000000000"),
        ("--rate 1.2.3", "not a number"),
        ("--server=", "is empty"), ("--json=yes", "takes no value"),
    ])
    func aValueThatIsNotRightIsRefused(option: String, problem: String) throws {
        #expect(try refusal("send shop \(option)").contains(problem))
    }

    @Test func zeroIsTakenWhereItMeansSomething() throws {
        let arguments = try parsed("send shop --rate 0 --connection-rate 0 --expect-rows 0")
        #expect(arguments.decimal("rate") == 0)
        #expect(arguments.decimal("connection-rate") == 0)
        #expect(arguments.whole("expect-rows") == 0)
        #expect(try parsed("send shop --limit 18446744073709551615").whole("limit") == UInt64.max)
    }

    @Test(arguments: [
        "send shop --proxy x",
        "send shop --metrics x",
        "send shop --at x",
    ])
    func whatLaterVersionsBringIsRefusedAsSuch(line: String) throws {
        #expect(try refusal(line).contains("not yet supported"))
    }

    @Test func aCommandTakesTheOperandsThatItDeclares() throws {
        #expect(try refusal("send").contains("needs a CAMPAIGN"))
        #expect(try refusal("send a b").contains("'b' is a second"))
        #expect(try refusal("mock a").contains("takes no argument"))
        #expect(try refusal("").contains("no command"))
        #expect(try refusal("--json send shop").contains("before a command"))
    }

    @Test(arguments: [
        "--help", "-h", "help", "help send", "send --help", "send --frobnicate -h", "--x --help",
    ])
    func whoAsksForHelpGetsIt(line: String) throws {
        let invocation = try ArgumentParser.parse(line.split(separator: " ").map(String.init))
        guard case .help(let command) = invocation else {
            Issue.record("no help")
            return
        }
        #expect(command?.name == (line.contains("send") ? "send" : nil))
    }
}
