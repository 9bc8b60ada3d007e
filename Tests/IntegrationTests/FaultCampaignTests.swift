import Foundation
import MockAPNS
import TestSupport
import Testing

/// A whole campaign on a bad day.
@Suite(.timeLimit(.minutes(5))) struct FaultCampaignTests {
    private let peal = PealProgram()

    @Test("with the faults that help combines, every row ends in an outcome, and none is lost")
    func combination() throws {
        let rows = 3_000
        let file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
        let campaign = try peal.campaign(
            recipients: Data(contentsOf: URL(fileURLWithPath: file)),
            changes: [
                "retry": "{ serverErrorDelay: '50ms..200ms' }",
                "payload": "{ aps: { alert: 'Hello {{first_name|friend}}' } }",
            ])
        let log = peal.folder.path + "/requests.ndjson"
        let mock = try MockProgram(
            peal,
            ["--seed", "7", "--log", log] + FaultHelp.combination.flatMap { ["--fault", $0] })
        let result = try peal.run(
            "send", campaign, "--rate", "0", "--pacing", "unlimited", "--server", mock.url,
            "--ca-file", mock.caFile)

        #expect(result.status == 0, "\(result.errors)")
        let summary = try peal.summary()
        #expect(summary.rows == rows)
        #expect(summary.outcomes.values.reduce(0, +) == rows)
        let accepted = try #require(summary.outcomes["accepted"])
        // Only a row with three failures in a row is not accepted, and hardly any has them.
        #expect(accepted > rows * 9 / 10)
        let stats = try mock.stats()
        #expect(stats.accepted >= accepted)

        mock.process.signal(SIGTERM)
        #expect(mock.process.wait().status == 0)
        // From outside: every row that is said to be accepted was answered 200 at least once.
        let tokens = try acceptedTokens(log)
        #expect(tokens.lines == stats.accepted)
        #expect(tokens.unique.count >= accepted)
    }

    /// The tokens of the lines with a 200, as Foundation reads them.
    private func acceptedTokens(_ log: String) throws -> (lines: Int, unique: Set<String>) {
        var lines = 0
        var unique: Set<String> = []
        for line in try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n") {
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            guard object["status"] as? Int == 200 else { continue }
            lines += 1
            unique.insert(try #require(object["token"] as? String))
        }
        return (lines, unique)
    }
}
