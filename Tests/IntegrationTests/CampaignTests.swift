import Foundation
import MockAPNS
import TestSupport
import Testing

/// Whole campaigns, from the file to the local APNs, through real processes and sockets.
@Suite(.timeLimit(.minutes(5))) struct CampaignTests {
    private let peal = PealProgram()

    @Test func helloGreetsFivePeopleInTheirOwnLanguages() throws {
        var options = MockOptions(
            listen: (host: "127.0.0.1", port: 0), stateDirectory: peal.folder.path + "/mock")
        options.recordsBodies = 10
        let mock = try MockServer.start(options)
        defer { mock.stop() }
        let server = "https://127.0.0.1:\(mock.port)"

        let result = try peal.run(
            "send", PealProgram.sample("hello"), "--server", server, "--ca-file", mock.caFile)

        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": 5])
        let titles = try titlesThatArrived(server, mock.caFile)
        for greeting in ["Kamusta!", "Salom!", "Halo!", "नमस्ते!", "Привет!"] {
            #expect(titles.contains { $0.contains(greeting) }, "\(greeting) is not in \(titles)")
        }
        #expect(titles.count == 5)
    }

    /// The bodies as `curl` reads them from the local APNs, parsed by Foundation.
    private func titlesThatArrived(_ server: String, _ caFile: String) throws -> [String] {
        let answer = try Subprocess.run(
            ["curl", "-sS", "--http2", "--cacert", caFile, server + "/mock/requests"])
        let requests = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.outputBytes)) as? [[String: Any]],
            "\(answer.output) \(answer.errors)")
        return try requests.map { request in
            let body = try #require(request["body"] as? String)
            let payload = try #require(
                try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
            let aps = try #require(payload["aps"] as? [String: Any])
            let alert = try #require(aps["alert"] as? [String: Any])
            return try #require(alert["title"] as? String)
        }
    }

    @Test(arguments: ["hello", "spring-sale", "silent-refresh", "incoming-call"])
    func everySampleIsAcceptedByTheLocalAPNsInTheSameProcess(sample: String) throws {
        let result = try peal.run("send", PealProgram.sample(sample), "--mock")
        #expect(result.status == 0, "\(result.errors)")
        let summary = try peal.summary()
        #expect(summary.completed)
        #expect(summary.counted == ["accepted": summary.rows])
        #expect(summary.rows > 0)
        #expect(result.errors.contains("accepted by APNs"))
        #expect(!result.errors.contains("delivered"))
        #expect(result.output.isEmpty)
    }

    @Test(arguments: ["csv", "ndjson"])
    func everyTokenOfALargeFileArrivesOnce(format: String) throws {
        let rows = 50_000
        let file = try Tools.makeRecipients(rows, format: format, in: peal.folder)
        let mock = try MockProgram(peal)

        let result = try peal.run(
            "send", PealProgram.sample("spring-sale"), "--recipients", file, "--rate", "0",
            "--pacing", "unlimited",
            "--server", mock.url, "--ca-file", mock.caFile)

        try expectAll(rows, of: file, arrivedAt: mock, result)
    }

    @Test(arguments: ["csv", "ndjson"])
    func standardInputGivesTheSameResultAsAFile(format: String) throws {
        let rows = 20_000
        let file = try Tools.makeRecipients(rows, format: format, in: peal.folder)
        let mock = try MockProgram(peal)

        let result = try peal.run(
            "send", PealProgram.sample("spring-sale"), "--recipients", "-", "--rate", "0",
            "--pacing", "unlimited",
            "--server", mock.url, "--ca-file", mock.caFile, inputFile: file)

        try expectAll(rows, of: file, arrivedAt: mock, result)
        let spooled = try Data(contentsOf: URL(fileURLWithPath: peal.runFolder() + "/input"))
        #expect(try spooled == Data(contentsOf: URL(fileURLWithPath: file)))
    }

    private func expectAll(
        _ rows: Int, of file: String, arrivedAt mock: MockProgram, _ result: Subprocess.Result
    ) throws {
        #expect(result.status == 0, "\(result.errors)")
        let summary = try peal.summary()
        #expect(summary.counted == ["accepted": rows])
        #expect(summary.rows == rows)
        #expect(summary.attempts == rows)
        let stats = try mock.stats()
        #expect(stats.tokenCount == rows)
        #expect(try stats.digest == Tools.tokenDigest(file))
    }

    @Test func aTokenThatStandsTwiceIsSentOnce() throws {
        let token = String(repeating: "ab", count: 32)
        let other = String(repeating: "cd", count: 32)
        let campaign = try peal.campaign(
            recipients: "token,name\n\(token),A\n\(other),B\n\(token.uppercased()),C\n".utf8)
        let result = try peal.run("send", campaign, "--mock", "--json")
        #expect(result.status == 0, "\(result.errors)")
        let summary = try Summary(Data(result.outputBytes))
        #expect(summary.counted == ["accepted": 2, "duplicate": 1])
        #expect(try peal.failures()[3]?["outcome"] as? String == "duplicate")
    }

    @Test func limitSendsTheFirstRowsOnly() throws {
        let mock = try MockProgram(peal)
        let result = try peal.run(
            "send", PealProgram.sample("spring-sale"), "--limit", "7", "--server", mock.url,
            "--ca-file", mock.caFile)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().rows == 7)
        #expect(try mock.stats().accepted == 7)
    }

    /// B92: the first interrupt drains and says that the run can be looked at; no row is left
    /// without a state.
    @Test func anInterruptedRunDrainsAndSaysWhereItStands() throws {
        let file = try Tools.makeRecipients(100_000, format: "csv", in: peal.folder)
        let mock = try MockProgram(peal)
        let sender = try peal.start(
            "send", PealProgram.sample("spring-sale"), "--recipients", file, "--rate", "100",
            "--server", mock.url, "--ca-file", mock.caFile)
        while try mock.stats().accepted == 0 {}
        sender.signal(SIGINT)
        let end = sender.wait()

        #expect(end.status == 130, "\(end.errors)")
        let summary = try peal.summary()
        #expect(!summary.completed)
        #expect(summary.outcomes["accepted"] == (try mock.stats().accepted))
        #expect(summary.rows > summary.outcomes.values.reduce(0, +))
    }

    @Test func fewerRowsThanExpectedIsAnErrorAfterTheRowsWereSent() throws {
        let result = try peal.run(
            "send", PealProgram.sample("hello"), "--mock", "--expect-rows", "6")
        #expect(result.status == 3)
        #expect(result.errors.contains("--expect-rows"))
        #expect(try peal.summary().counted == ["accepted": 5])
    }
}
