import Foundation
import Glibc
import TestSupport
import Testing

/// Whole campaigns over ways and to servers that break off.
@Suite(.timeLimit(.minutes(5))) struct InterruptedServiceTests {
    private let peal = PealProgram()

    /// B03, B44: nginx ends each connection with a GOAWAY of its own after 1,000 requests.
    @Test func twentyConnectionsThatNginxEndsCostNoRowAndNoSecondSending() throws {
        let rows = 20_000
        let file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
        let nginx = try NginxServer(keepaliveRequests: 1_000)

        let result = try peal.run(command(file, url: nginx.url, caFile: nginx.caFile))

        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": rows])
        // 20,000 requests fill twenty connections; those that are left at the end are not full.
        #expect(try peal.connectionCount("goaway") > 10)
        var accepted: [String: Int] = [:]
        for line in try nginx.stopAndReadLog() {
            try #require(line.hasPrefix("200 POST /3/device/"))
            accepted[String(line.dropFirst("200 POST /3/device/".count)), default: 0] += 1
        }
        RunAudit.expectEachToken(
            of: try RunAudit.tokens(ofFile: file), in: accepted,
            lost: try RunAudit.lostAnswers(ofRun: peal.runFolder()))
    }

    /// B20, B21, B22: cuts fall anywhere, between two bytes of a frame or of a handshake.
    @Test func aWayThatDelaysAndCutsCostsNoRowAndRepeatsOnlyLostAnswers() throws {
        let rows = 20_000
        let file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
        let log = peal.folder.path + "/requests.ndjson"
        let mock = try MockProgram(peal, "--log", log)
        let proxy = try CuttingProxy(to: mock.port, cutsMax: 20)
        defer { proxy.stop() }

        // Few streams, so that hardly any row can lose all of its three attempts.
        let result = try peal.run(
            command(file, url: "https://127.0.0.1:\(proxy.port)", caFile: mock.caFile)
                + ["--streams", "8"])

        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": rows])
        #expect(proxy.cutCount >= 5)
        mock.process.signal(SIGTERM)
        #expect(mock.process.wait().status == 0)
        RunAudit.expectEachToken(
            of: try RunAudit.tokens(ofFile: file), in: try RunAudit.acceptedTokens(log),
            lost: try RunAudit.lostAnswers(ofRun: peal.runFolder()))
    }

    /// B32: when the server is back, sending goes on by itself.
    @Test func aServerThatGoesAndComesBackInMidCampaignCostsNoRow() throws {
        let rows = 20_000
        let file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
        let log = peal.folder.path + "/requests.ndjson"
        let mock = try MockProgram(peal, "--log", log)
        let sender = try peal.start(
            command(file, url: mock.url, caFile: mock.caFile))
        while try mock.stats().accepted < rows / 4 {}
        mock.process.signal(SIGTERM)
        #expect(mock.process.wait().status == 0)

        // The sender is seen to try again, twice, before the server is back.
        let (listener, _) = try LocalSocket.listen(port: mock.port)
        for _ in 0..<2 { close(accept(listener, nil, nil)) }
        close(listener)
        let again = try MockProgram(peal, ["--log", log], listen: "127.0.0.1:\(mock.port)")

        let end = sender.wait()
        #expect(end.status == 0, "\(end.errors)")
        #expect(try peal.summary().counted == ["accepted": rows])
        again.process.signal(SIGTERM)
        #expect(again.process.wait().status == 0)
        RunAudit.expectEachToken(
            of: try RunAudit.tokens(ofFile: file), in: try RunAudit.acceptedTokens(log),
            lost: try RunAudit.lostAnswers(ofRun: peal.runFolder()))
    }

    private func command(
        _ file: String, url: String, caFile: String, rate: String = "0"
    ) -> [String] {
        [
            "send", PealProgram.sample("spring-sale"), "--recipients", file, "--pacing",
            "unlimited", "--rate", rate, "--server", url, "--ca-file", caFile,
        ]
    }
}

extension PealProgram {
    /// A number of `connections` in the summary of the only run.
    func connectionCount(_ key: String) throws -> Int {
        let json = try Data(contentsOf: URL(fileURLWithPath: runFolder() + "/summary.json"))
        let summary = try JSONSerialization.jsonObject(with: json) as? [String: Any]
        let connections = try #require(summary?["connections"] as? [String: Any])
        return try #require(connections[key] as? Int)
    }
}
