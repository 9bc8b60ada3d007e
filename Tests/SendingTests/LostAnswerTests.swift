import APNS
import HTTP2
import Testing

@testable import Sending

/// Requests that were written and never answered.
@Suite(.timeLimit(.minutes(5))) struct LostAnswerTests {
    /// B15, B21, B22, B26: the first 20 requests of the first connection wait, then it goes.
    private static let cutsAt20: Script = { request in
        guard request.connection == 0 else { return .accept }
        return request.index == 0 ? .accept : request.index == 20 ? .cut : .silence
    }

    @Test func rowsInFlightOnALostConnectionAreSentAgain() throws {
        let server = try ScriptedServer(script: Self.cutsAt20)
        let sent = try SendingRig(server, rows: 21).send()
        #expect(sent.count(.accepted) == 21)
        #expect(sent.retried(.exhaustedConnectionLost) == 20)
        #expect(sent.summary.attempts == 41)
        #expect(sent.summary.retries == 20)
        #expect(sent.summary.connections.opened == 2)
        #expect(sent.summary.connections.lost == 1)
    }

    /// B20, B25
    @Test func withSkipTheyAreUnknownAndNotSentAgain() throws {
        let server = try ScriptedServer(script: Self.cutsAt20)
        var rig = SendingRig(server, rows: 21)
        rig.manifest["retry"] = "{onUnknown: 'skip'}"
        let sent = try rig.send()
        #expect(sent.summary.exitStatus == 0)
        #expect(sent.count(.accepted) == 1)
        #expect(sent.count(.unknown) == 20)
        #expect(sent.rows(with: FinalCode.unknownConnectionLost.rawValue) == 20)
        #expect(sent.failures.values.allSatisfy { $0.attempts == 1 && $0.status == nil })
        #expect(server.log.attempts.values.allSatisfy { $0 == 1 })
    }

    /// B14, B18, B24: one lost answer does not hold the run, and its stream is free again.
    @Test func aRequestThatIsNotAnsweredInTimeIsSentAgain() throws {
        let server = try ScriptedServer { request in
            request.row == 5 && request.attempt == 1 ? .silence : .accept
        }
        var rig = SendingRig(server)
        rig.manifest["timeouts"] = "{request: '50ms'}"
        let sent = try rig.send()
        #expect(sent.count(.accepted) == 20)
        #expect(sent.retried(.exhaustedTimeout) == 1)
        #expect(server.log.connectionCount == 1)
    }

    /// B20
    @Test func withSkipATimeoutIsUnknown() throws {
        let server = try ScriptedServer { $0.row == 5 ? .silence : .accept }
        var rig = SendingRig(server)
        rig.manifest["timeouts"] = "{request: '50ms'}"
        rig.manifest["retry"] = "{onUnknown: 'skip'}"
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.ledger[4] == FinalCode.unknownTimeout.rawValue)
        #expect(sent.failures[5]?.reason == "Timeout")
        #expect(server.log.attempts[SendingRig.token(5)] == 1)
    }

    @Test func aRowThatIsNeverAnsweredIsExhausted() throws {
        let server = try ScriptedServer { $0.row == 5 ? .silence : .accept }
        var rig = SendingRig(server)
        rig.manifest["timeouts"] = "{request: '20ms'}"
        rig.manifest["retry"] = "{attempts: 2}"
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.ledger[4] == FinalCode.exhaustedTimeout.rawValue)
        #expect(sent.failures[5]?.attempts == 2)
    }

    /// Row 1 is lost and then known not to have been accepted; but the lost one may have been. So
    /// it stays in doubt when the run is stopped.
    @Test func aRowThatWasOnceInDoubtStaysSo() throws {
        let server = try ScriptedServer { request in
            switch (request.row, request.attempt) {
            case (1, 1): .accept
            case (2, 1): .reset(.cancel)
            case (2, _): .refuse(429, "TooManyRequests")
            default: .hold
            }
        }
        var rig = SendingRig(server, rows: 3)
        rig.options.streams = 2
        let running = try rig.start()
        server.waitForRequests(4)
        running.run.interrupt()
        server.releaseHeld()
        let sent = try running.finish()
        #expect(sent.summary.exitStatus == 130)
        #expect(sent.ledger[1] == OpenState.inDoubt)
        #expect(sent.summary.inDoubt == 1)
        #expect(sent.count(.accepted) == 2)
    }
}
