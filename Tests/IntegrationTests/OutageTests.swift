import Foundation
import TestSupport
import Testing

/// A service that is away in the middle of a campaign.
@Suite(.timeLimit(.minutes(5))) struct OutageTests {
    private let peal = PealProgram()

    /// B16, B32, B70: the server's process is killed and comes back at the same port. No row is
    /// lost for it, nobody starts anything again, and meanwhile it is asked about once a second.
    @Test func aServerThatIsKilledAndComesBackCostsNoRow() throws {
        let rows = 6_000
        let file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
        let log = peal.folder.path + "/requests.ndjson"
        let mock = try MockProgram(peal, "--log", log)
        let sender = try peal.start(
            "send", PealProgram.sample("spring-sale"), "--pacing", "unlimited", "--rate", "2000",
            "--threads", "1", "--recipients", file, "--server", mock.url, "--ca-file",
            mock.caFile)
        while try mock.stats().accepted < 1_000 {}
        mock.process.signal(SIGKILL)
        _ = mock.process.wait()
        // Four connections were lost; then come attempts in vain.
        let connections = try peal.runFolder() + "/connections.ndjson"
        while try lines(connections).count < 4 + 6 {}

        let port = try #require(mock.url.split(separator: ":").last)
        let again = try MockProgram(
            peal, ["--log", peal.folder.path + "/again.ndjson"], listen: "127.0.0.1:\(port)")
        let end = sender.wait()
        #expect(end.status == 0, "\(end.errors)")
        let summary = try peal.summary()
        #expect(summary.completed)
        #expect(summary.counted == ["accepted": rows])
        // Each row that the end of the server left unanswered was sent twice, and no other.
        let told = try lines(connections)
        let unanswered = try told.reduce(0) { sum, line in
            let requests = try #require(line["requests"] as? Int)
            return sum + requests - (try #require(line["answered"] as? Int))
        }
        #expect(summary.attempts - rows <= unanswered)
        #expect(
            told[4..<10].allSatisfy {
                ($0["end"] as? String)?.hasPrefix("cannot connect to 127.0.0.1:\(port)") == true
            })
        again.process.signal(SIGTERM)
        #expect(again.process.wait().status == 0)
    }

    /// A suspended sender has not read what came meanwhile: that is no timeout, and nothing is sent
    /// twice for it.
    @Test func aPauseOfTheSenderIsNoFaultOfTheServer() throws {
        let rows = 3_000
        let file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
        let campaign = try peal.campaign(
            recipients: Data(contentsOf: URL(fileURLWithPath: file)),
            changes: [
                "timeouts": "{ request: '3s' }",
                "payload": "{ aps: { alert: 'Hello {{first_name|friend}}' } }",
            ])
        let mock = try MockProgram(peal, "--fault", "latency=300ms")
        let sender = try peal.start(
            "send", campaign, "--pacing", "unlimited", "--rate", "1000", "--server", mock.url,
            "--ca-file", mock.caFile)
        while try mock.stats().accepted < 500 {}
        sender.signal(SIGSTOP)
        // Longer than a request may take.
        let end = ContinuousClock.now + .seconds(4)
        while ContinuousClock.now < end { _ = try mock.stats() }
        let whilePaused = try mock.stats().accepted
        sender.signal(SIGCONT)
        let result = sender.wait()
        #expect(result.status == 0, "\(result.errors)")
        #expect(whilePaused < rows)
        let summary = try peal.summary()
        #expect(summary.counted == ["accepted": rows])
        #expect(summary.attempts == rows)
        #expect(try mock.stats().accepted == rows)
    }

    private func lines(_ path: String) throws -> [[String: Any]] {
        // The last line may be half written while it is read.
        let text = try String(contentsOfFile: path, encoding: .utf8)
        guard let end = text.lastIndex(of: "\n") else { return [] }
        return try text[...end].split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }
}
