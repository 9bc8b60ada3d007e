import Foundation
import TestSupport
import Testing

/// A second pass that is killed, and goes on.
@Suite(.timeLimit(.minutes(5))) struct LaterPassTests {
    private let peal = PealProgram()

    /// Half of all requests are answered 503, and each row has one attempt per pass.
    @Test(arguments: [true, false])
    func aPassThatIsKilledGoesOn(isPiped: Bool) throws {
        let rows = 12_000
        let file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
        let campaign = try peal.campaign(
            recipients: [UInt8]("token\n".utf8),
            changes: [
                "retry": "{ attempts: 1, secondPass: '100ms' }",
                "payload": "{ aps: { alert: 'Hello {{first_name|friend}}' } }",
                "stopWhen": "{ failures: 'never' }",
            ])
        let log = peal.folder.path + "/requests.ndjson"
        let mock = try MockProgram(
            peal, ["--seed", "5", "--log", log, "--fault", "status=503 p=0.5"])
        let command = [
            "send", campaign, "--pacing", "unlimited", "--rate", "6000", "--server", mock.url,
            "--ca-file", mock.caFile, "--recipients", isPiped ? "-" : file,
        ]
        let sender = try peal.start(command, inputFile: isPiped ? file : nil)
        // Some 6,000 are accepted in the first pass.
        while try mock.stats().accepted < 7_500 {}
        sender.signal(SIGKILL)
        #expect(sender.wait().status == 128 + SIGKILL)
        let ledger = try Data(contentsOf: URL(fileURLWithPath: peal.runFolder() + "/ledger"))
        let inFlight = ledger.prefix(rows).count { $0 == 1 }
        #expect(ledger.prefix(rows).contains(3))
        #expect(!ledger.prefix(rows).contains(0))

        let result = try peal.run(command + ["--resume"], inputFile: isPiped ? file : nil)
        #expect(result.status == 0, "\(result.errors)")
        let summary = try peal.summary()
        #expect(summary.completed)
        #expect(summary.rows == rows)
        let accepted = try #require(summary.outcomes["accepted"])
        #expect(accepted + (summary.outcomes["exhausted"] ?? 0) == rows)

        mock.process.signal(SIGTERM)
        #expect(mock.process.wait().status == 0)
        // From outside: one attempt in each pass, and one more for a row in flight at the kill.
        var attempts: [String: Int] = [:]
        var acceptances: [String: Int] = [:]
        for line in try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n") {
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let token = try #require(object["token"] as? String)
            attempts[token, default: 0] += 1
            if object["status"] as? Int == 200 { acceptances[token, default: 0] += 1 }
        }
        #expect(attempts.count == rows)
        #expect(acceptances.count >= accepted)
        #expect(acceptances.values.reduce(0, +) - acceptances.count <= inFlight)
        #expect(attempts.values.count { $0 > 2 } <= inFlight)
    }
}
