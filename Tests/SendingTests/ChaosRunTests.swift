import APNS
import HTTP2
import TestSupport
import Testing

@testable import Sending

@Suite(.timeLimit(.minutes(5))) struct ChaosRunTests {
    private static let rows = 20_000

    /// B15, B18, B22, B23, B32, B34: every row gets exactly one outcome whatever the server does,
    /// and the ledger, the summary and the server agree. Faults depend on the seed, the row and the
    /// attempt.
    @Test func everyRowHasOneOutcomeUnderRandomFaults() throws {
        let seed = testSeed
        let server = try ScriptedServer { Self.fault($0, seed: seed) }
        var rig = SendingRig(server, rows: Self.rows)
        rig.options.threads = 2
        rig.options.connections = 4
        rig.options.streams = 100
        rig.manifest["timeouts"] = "{request: '2s', drain: '2s'}"
        let sent = try rig.send()
        let log = server.log
        #expect(sent.summary.completed, "\(sent.summary.stoppedBecause ?? "")")
        #expect(sent.summary.rows == UInt64(Self.rows))
        for row in 1...UInt64(Self.rows) {
            let outcome = try #require(sent.outcome(row))
            let token = SendingRig.token(row)
            let told = sent.failures[row]
            #expect(log.attempts[token] != nil, "row \(row): \(String(describing: told))")
            if outcome == .accepted { #expect(log.accepted[token, default: 0] >= 1) }
        }
        // Sent twice to a device only where an answer was lost.
        let repeated = log.accepted.values.reduce(0) { $0 + $1 - 1 }
        let lost: [FinalCode] = [
            .exhaustedConnectionLost, .exhaustedTimeout, .exhaustedStreamReset,
        ]
        #expect(repeated <= lost.reduce(0) { $0 + Int(sent.retried($1)) })
        // Each attempt either decides a row or is followed by another.
        let retried = sent.summary.retriedReasons.reduce(0) { $0 + $1.1 }
        #expect(sent.summary.attempts == UInt64(Self.rows) + retried)
        #expect(sent.summary.retries == retried)
        #expect(sent.count(.accepted) > 18_000)
        #expect(sent.count(.unregistered) > 0)
        #expect(sent.summary.connections.goaway > 0)
        #expect(sent.summary.connections.lost > 0)
    }

    private static func fault(_ request: ScriptedRequest, seed: UInt64) -> ScriptedAction {
        var random = SeededGenerator(
            seed: seed ^ request.row &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(request.attempt) << 56)
        switch Int.random(in: 0..<10_000, using: &random) {
        case 0..<4: return .cut
        case 4..<10: return .goAwayBefore
        case 10..<20: return .silence
        case 20..<200: return .reset(.refusedStream)
        case 200..<250: return .reset(.cancel)
        case 250..<300: return .reset(.internalError)
        case 300..<500: return .refuse(503, "ServiceUnavailable")
        case 500..<600: return .refuse(500, "InternalServerError")
        case 600..<700: return .refuse(410, "Unregistered", timestampMs: 1_767_323_045_006)
        case 700..<750: return .refuse(400, "BadDeviceToken")
        case 750..<760: return .refuse(413, "PayloadTooLarge")
        case 760..<1_200: return .acceptLater
        default: return .accept
        }
    }
}
