import Foundation
import MockAPNS
import TestSupport
import Testing

/// `peal check` as people and scripts run it.
@Suite(.timeLimit(.minutes(5))) struct CheckTests {
    private let peal = PealProgram()
    private static let token = String(repeating: "ab", count: 32)

    private func json(_ result: Subprocess.Result) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(result.outputBytes)) as? [String: Any],
            "\(result.allText)")
    }

    // MARK: What it leaves behind

    @Test(arguments: ["hello", "spring-sale", "silent-refresh", "incoming-call"])
    func everySampleCanBeChecked(sample: String) throws {
        let result = try peal.run("check", PealProgram.sample(sample))
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.isEmpty)
        #expect(result.output.hasPrefix("\(sample): "))
        #expect(result.output.contains("would be sent"))
        #expect(result.output.contains("Row 1 on a phone"))
    }

    /// No run folder, no socket, no file in TMPDIR; tokens only shortened.
    @Test func nothingIsSentAndNothingStaysBehind() throws {
        let campaign = try peal.campaign(
            recipients: "token,name\n\(Self.token),A\n\(Self.token),B\nbad,C\n".utf8)
        let temporary = TemporaryDirectory()
        let trace = peal.folder.path + "/trace"
        // Not everywhere installed, and not everywhere allowed.
        let hasStrace =
            (try? Subprocess.run(["strace", "-o", "/dev/null", "true"]).status) == 0
        let result = try Subprocess.run(
            (hasStrace ? ["strace", "-f", "-e", "trace=network", "-o", trace] : [])
                + [PealProgram.binary, "check", campaign], in: peal.folder.path,
            environment: peal.environment.merging(["TMPDIR": temporary.path]) { $1 })
        #expect(result.status == 0, "\(result.errors)")
        let left = try FileManager.default.contentsOfDirectory(atPath: peal.folder.path)
        #expect(Set(left).isSubset(of: ["campaign", "state", "trace"]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
        if hasStrace {
            let calls = try String(contentsOfFile: trace, encoding: .utf8)
            #expect(!calls.contains("socket(") && !calls.contains("connect("), "\(calls)")
        }
        #expect(!result.allText.contains(Self.token))
    }

    /// A limit on the size of files stands for a disk that is full.
    @Test func aDiskThatIsFullStopsTheCheckWithTheRemedy() throws {
        let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" check \"$1\""
        let result = try Subprocess.run(
            ["bash", "-c", script, PealProgram.binary, PealProgram.sample("hello")],
            in: peal.folder.path, environment: peal.environment)
        #expect(result.status == 3, "\(result.errors)")
        #expect(result.outputBytes.isEmpty)
        #expect(result.errors.contains("TMPDIR"))
    }

    // MARK: Exit status

    private static let key = "{ key: 'none.p8', keyID: 'ABC123DEFG', teamID: 'DEF123GHIJ' }"
    private static let tooLong = String(repeating: "я", count: 2_100)

    /// A campaign as somebody may write it: its recipients, changed keys, and options.
    struct Attempt: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var recipients = "token,name\n\(CheckTests.token),Ann\n"
        var changes: [String: String] = [:]
        var options: [String] = []
        var file = "recipients.csv"
    }

    static let attempts: [Attempt] = [
        Attempt(testDescription: "unknown key", changes: ["pushTipe": "'alert'"]),
        Attempt(testDescription: "unknown push type", changes: ["pushType": "'alrt'"]),
        Attempt(testDescription: "broken manifest", changes: ["payload": "{ aps: "]),
        Attempt(
            testDescription: "placeholder without a column",
            changes: ["payload": "{ aps: { alert: '{{frist_name}}' } }"]),
        Attempt(testDescription: "no token column", recipients: "device,name\n"),
        Attempt(testDescription: "missing key file", changes: ["credentials": key]),
        Attempt(
            testDescription: "bad key id",
            changes: ["credentials": "{ key: 'none.p8', keyID: 'ABC', teamID: 'DEF123GHIJ' }"]),
        Attempt(
            testDescription: "fixed part too large",
            changes: ["payload": "{ aps: { alert: '\(tooLong)' } }"]),
        Attempt(
            testDescription: "background with priority 10",
            changes: [
                "pushType": "'background'", "priority": "10",
                "payload": "{ aps: { 'content-available': 1 } }",
            ]),
        Attempt(
            testDescription: "topic that does not fit",
            changes: ["pushType": "'voip'", "payload": "{ aps: {} }"]),
        Attempt(
            testDescription: "too many connections", changes: ["pacing": "{ connections: 600 }"]),
        Attempt(testDescription: "empty file", recipients: ""),
        Attempt(testDescription: "blank file", recipients: "\n\n"),
        Attempt(testDescription: "empty ndjson", recipients: "", file: "recipients.ndjson"),
        Attempt(testDescription: "no header", recipients: "\(token)\n\(token)\n"),
        Attempt(testDescription: "missing file", options: ["--recipients", "gone.csv"]),
        Attempt(testDescription: "folder as file", options: ["--recipients", "."]),
        Attempt(testDescription: "UTF-16", recipients: "\u{FEFF}token", options: []),
        Attempt(testDescription: "gzip", recipients: "\u{1F}\u{8B}token"),
        Attempt(testDescription: "bad pacing option", options: ["--pacing", "fast"]),
        Attempt(testDescription: "bad limit", options: ["--limit", "0"]),
        Attempt(testDescription: "header alone", recipients: "token,name\n"),
        Attempt(testDescription: "invalid rows alone", recipients: "token,name\nx,y\n,\n"),
        Attempt(testDescription: "runaway quote", recipients: "token,name\n\(token),\"Bob\n"),
        Attempt(
            testDescription: "some invalid rows",
            recipients: "token,name\n\(token),A\nx,y\n\(token),\(tooLong)\n"),
        Attempt(
            testDescription: "fewer rows than expected", options: ["--expect-rows", "2"]),
        Attempt(
            testDescription: "as many rows as expected", options: ["--expect-rows", "1"]),
        Attempt(
            testDescription: "a limit below the rows expected",
            recipients: "token,name\n\(token),A\n\(token),B\n",
            options: ["--limit", "1", "--expect-rows", "2"]),
    ]

    /// 2 exactly when `send` refuses, with the same words; and the same rows when it does not.
    @Test(arguments: attempts)
    func itEndsAsSendWould(attempt: Attempt) throws {
        var bytes = Array(attempt.recipients.utf8)
        if attempt.testDescription == "gzip" { bytes = [0x1F, 0x8B, 8, 0] }
        if attempt.testDescription == "UTF-16" { bytes = [0xFF, 0xFE, 0x74, 0] }
        let campaign = try peal.campaign(
            recipients: bytes, named: attempt.file, changes: attempt.changes)

        let checked = try peal.run(["check", campaign, "--json"] + attempt.options)
        let sent = try peal.run(["send", campaign, "--mock", "--json"] + attempt.options)

        #expect(checked.status == sent.status, "\(checked.errors)\n\(sent.errors)")
        if sent.status == 2 {
            #expect(checked.errors == sent.errors)
            #expect(checked.outputBytes.isEmpty)
        } else {
            let facts = try json(checked)
            let summary = try Summary(Data(sent.outputBytes))
            #expect(facts["rows"] as? Int == summary.rows)
            #expect(facts["sendable"] as? Int == summary.outcomes["accepted"])
            #expect(facts["invalid"] as? Int == summary.outcomes["invalid"])
            #expect(facts["repeated"] as? Int == summary.outcomes["duplicate"])
        }
    }

    @Test func optionsThatContradictEachOtherAreRefused() throws {
        let hello = PealProgram.sample("hello")
        for options in [["--row", "1", "--limit", "2"], ["--row", "0"], ["--row", "6"]] {
            let result = try peal.run(["check", hello] + options)
            #expect(result.status == 2)
            #expect(result.outputBytes.isEmpty)
            #expect(result.errors.hasPrefix("peal: "))
        }
    }

    // MARK: The figures

    /// A file as real ones are, counted by a program in another language.
    private func realFile(_ rows: Int) -> [UInt8] {
        var random = SeededGenerator(seed: testSeed)
        let names = ["Ann", "", "\"Bo, \"\"B\"\"\"", "王小明", "Zoë", "\"two\r\nlines\"", "\t"]
        let locales = ["de", "pt-BR", "ja", "", "uk"]
        var text = "\u{FEFF}token,locale,name\r\n"
        for row in 1...rows {
            let number = UInt64.random(in: 1...UInt64(rows * 4), using: &random)
            let digits = String(number, radix: 16)
            var token = String(repeating: "0", count: 64 - digits.count) + digits
            if row % 3 == 0 { token = token.uppercased() }
            if row % 11 == 0 { token = "<\(token.prefix(8)) \(token.dropFirst(8))>" }
            if row % 97 == 0 { token = ["", "xyz", "123", "12345"].randomElement(using: &random)! }
            var name = names.randomElement(using: &random)!
            if row % 1_000 == 0 {
                name = String(repeating: "é", count: Int.random(in: 1...3_000, using: &random))
            }
            text += "\(token),\(locales.randomElement(using: &random)!),\(name)\r\n"
        }
        return Array(text.utf8)
    }

    @Test func theFiguresAreThoseOfAnIndependentProgram() throws {
        let campaign = try peal.campaign(
            recipients: realFile(30_000),
            changes: [
                "payload": "{ aps: { alert: 'Hi {{name|friend}}' } }",
                "payloads": "{ de: { aps: { alert: 'Hi {{name|friend}}' } } }",
            ])
        let script = PealProgram.root + "/Tests/IntegrationTests/clients/check_counts.py"
        let counted = try json(
            Subprocess.run(["python3", script, campaign + "/recipients.csv"]))

        let result = try peal.run("check", campaign, "--json")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1)
        let facts = try json(result)

        for key in ["rows", "invalid", "repeated", "sendable"] {
            #expect(facts[key] as? Int == counted[key] as? Int, "\(key), seed \(testSeed)")
        }
        let sizes = try #require(facts["payloadBytes"] as? [String: Any])
        for key in ["smallest", "median", "largest", "largestRow", "total"] {
            #expect(sizes[key] as? Int == counted[key] as? Int, "\(key), seed \(testSeed)")
        }
        let locales = try #require(facts["locales"] as? [[String: Any]])
        let byLocale = Dictionary(
            uniqueKeysWithValues: locales.map { ($0["locale"] as? String, $0["rows"] as? Int) })
        let expected = try #require(counted["locales"] as? [String: Int])
        #expect(byLocale.count == expected.count)
        for (locale, rows) in expected { #expect(byLocale[locale] == rows) }
        let placeholders = try #require(facts["placeholders"] as? [[String: Any]])
        #expect(placeholders.map { $0["empty"] as? Int } == [counted["empty"] as? Int])
        let duplicates = try #require(facts["duplicates"] as? [String: Any])
        let most = try #require(duplicates["mostRepeated"] as? [String: Any])
        #expect(most["rows"] as? Int == counted["mostRepeated"] as? Int)
    }

    /// The forecast says "about": the way of encoding headers may change, the size of a request
    /// hardly.
    @Test func theForecastIsWhatSendingTakes() throws {
        let file = try Tools.makeRecipients(20_000, format: "csv", in: peal.folder)
        let options = [PealProgram.sample("spring-sale"), "--recipients", file, "--rate", "0"]
        let facts = try json(peal.run(["check"] + options + ["--pacing", "unlimited", "--json"]))
        let forecast = try #require(facts["forecast"] as? [String: Any])
        let sent = try json(
            peal.run(["send"] + options + ["--pacing", "unlimited", "--mock", "--json"]))
        #expect(forecast["requests"] as? Int == sent["attempts"] as? Int)
        let predicted = try #require(forecast["bytes"] as? Double)
        let real = try #require(sent["bytesSent"] as? Double)
        #expect(abs(predicted / real - 1) < 0.25, "\(predicted) predicted, \(real) sent")
        #expect(forecast["secondsMin"] is NSNull)
        let slow = try json(peal.run(["check"] + options.dropLast() + ["50", "--json"]))
        #expect((slow["forecast"] as? [String: Any])?["secondsMin"] as? Int == 400)
    }

    @Test func standardInputIsCheckedAsAFileIs() throws {
        let file = try Tools.makeRecipients(30_000, format: "ndjson", in: peal.folder)
        let sale = PealProgram.sample("spring-sale")
        var fromFile = try json(peal.run("check", sale, "--recipients", file, "--json"))
        var fromPipe = try json(
            peal.run("check", sale, "--recipients", "-", "--json", inputFile: file))
        for key in ["seconds", "recipients"] {
            fromFile[key] = nil
            fromPipe[key] = nil
        }
        #expect(fromFile as NSDictionary == fromPipe as NSDictionary)
        #expect(fromFile["rows"] as? Int == 30_000)
    }

    // MARK: One row

    /// What `--row` shows is what arrives at the service.
    @Test func theJSONOfARowIsWhatArrives() throws {
        var options = MockOptions(
            listen: (host: "127.0.0.1", port: 0), stateDirectory: peal.folder.path + "/mock")
        options.recordsBodies = 10
        let mock = try MockServer.start(options)
        defer { mock.stop() }
        let server = "https://127.0.0.1:\(mock.port)"
        let hello = PealProgram.sample("hello")
        try #require(
            try peal.run("send", hello, "--server", server, "--ca-file", mock.caFile).status == 0)
        let answer = try Subprocess.run(
            ["curl", "-sS", "--http2", "--cacert", mock.caFile, server + "/mock/requests"])
        let requests = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.outputBytes)) as? [[String: Any]])
        let arrived = Set(requests.compactMap { $0["body"] as? String })
        let shown = try (1...5).map { row in
            try #require(
                try json(peal.run("check", hello, "--row", "\(row)", "--json"))["payload"]
                    as? String)
        }
        #expect(Set(shown) == arrived)
        #expect(arrived.count == 5)
        let text = try peal.run("check", hello, "--row", "4").output
        #expect(text.contains("\n\(shown[3])\n"))
        #expect(text.contains("apns-topic: com.example.app\n"))
        #expect(text.contains("(1 h after the start)"))
    }

    @Test func anInvalidRowSaysWhyAndWhere() throws {
        let campaign = try peal.campaign(
            recipients: "token,name\n\(Self.token),A\n\nnope,B\n".utf8)
        let result = try peal.run("check", campaign, "--row", "2")
        #expect(result.status == 0)
        #expect(result.output.contains("recipients.csv:4:1: "))
        #expect(result.output.contains("BadTokenForm"))
        let object = try json(peal.run("check", campaign, "--row", "2", "--json"))
        #expect(object["valid"] as? Bool == false)
        #expect(object["reason"] as? String == "BadTokenForm")
    }

    // MARK: Memory

    @Test func memoryIsTheSameForFourTimesTheRows() throws {
        let file = try Tools.makeRecipients(400_000, format: "csv", in: peal.folder)
        let few = try peakKiB(checking: 100_000, of: file)
        let many = try peakKiB(checking: 400_000, of: file)
        #expect(many < 32 * 1024)
        #expect(many < few + 1024, "\(few) KiB, then \(many) KiB")
    }

    private func peakKiB(checking rows: Int, of file: String) throws -> Int {
        let result = try peal.run(
            PealProgram.root + "/tools/peak-memory", PealProgram.binary, "check",
            PealProgram.sample("spring-sale"), "--recipients", file, "--limit", "\(rows)",
            isProgram: true)
        #expect(result.status == 0, "\(result.errors)")
        let match = try #require(
            result.errors.firstMatch(of: /peak anonymous memory: ([0-9]+) KiB/))
        return try #require(Int(match.1))
    }
}

extension PealProgram {
    /// Runs another program in the folder and with the state of this one.
    fileprivate func run(_ arguments: String..., isProgram: Bool) throws -> Subprocess.Result {
        try Subprocess.run(arguments, in: folder.path, environment: environment)
    }
}
