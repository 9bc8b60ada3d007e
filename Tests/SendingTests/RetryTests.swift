import APNS
import HTTP2
import Testing

@testable import Sending

@Suite(.timeLimit(.minutes(5))) struct RetryTests {
    @Test func everyRowIsAcceptedOnce() throws {
        let server = try ScriptedServer { _ in .accept }
        let sent = try SendingRig(server, rows: 500).send()
        #expect(sent.summary.exitStatus == 0)
        #expect(sent.count(.accepted) == 500)
        #expect(sent.summary.attempts == 500)
        #expect(sent.summary.retries == 0)
        #expect(server.log.accepted.count == 500)
        #expect(server.log.accepted.values.allSatisfy { $0 == 1 })
        #expect(sent.summary.bytesSent > 500 * 30)
        #expect(sent.summary.connections.opened == 1)
        #expect(sent.summary.connections.lost == 0)
    }

    /// Rows 1, 2 and 3 fail once, with an answer that may change; row 4 twice.
    @Test(arguments: [(UInt16(500), "InternalServerError"), (503, "ServiceUnavailable")])
    func aTransientAnswerIsTriedAgain(status: UInt16, reason: String) throws {
        let server = try ScriptedServer { request in
            let failures = request.row <= 3 ? 1 : request.row == 4 ? 2 : 0
            return request.attempt <= failures ? .refuse(status, reason) : .accept
        }
        let sent = try SendingRig(server).send()
        #expect(sent.count(.accepted) == 20)
        #expect(sent.summary.attempts == 25)
        #expect(sent.summary.retries == 5)
        #expect(sent.summary.retriedReasons.count == 1)
        #expect(sent.summary.retriedReasons.first?.0.reason == reason)
        #expect(sent.summary.retriedReasons.first?.1 == 5)
        #expect(sent.failureLineCount == 0)
    }

    /// B72, B75, B94: 429 holds up the row and nothing else.
    @Test func tooManyRequestsIsTriedAgainLater() throws {
        let server = try ScriptedServer { request in
            request.row == 7 && request.attempt == 1 ? .refuse(429, "TooManyRequests") : .accept
        }
        let sent = try SendingRig(server).send()
        #expect(sent.count(.accepted) == 20)
        #expect(sent.retried(.tooManyRequests) == 1)
        #expect(server.log.requests.last?.row == 7)
        #expect(server.log.connectionCount == 1)
    }

    @Test func aRowWhoseAttemptsRunOutKeepsTheLastReason() throws {
        let server = try ScriptedServer { request in
            guard request.row == 3 else { return .accept }
            return request.attempt < 3
                ? .refuse(500, "InternalServerError") : .refuse(503, "ServiceUnavailable")
        }
        let sent = try SendingRig(server).send()
        #expect(sent.summary.completed)
        #expect(sent.count(.exhausted) == 1)
        #expect(sent.ledger[2] == FinalCode.serviceUnavailable.rawValue)
        #expect(sent.failures[3]?.reason == "ServiceUnavailable")
        #expect(sent.failures[3]?.status == 503)
        #expect(sent.failures[3]?.attempts == 3)
        #expect(sent.summary.attempts == 22)
        #expect(server.log.attempts[SendingRig.token(3)] == 3)
    }

    /// B73, B76, B78: an answer about one token decides that row, sends no other again and closes
    /// nothing. B80: milliseconds.
    @Test func aDeadTokenIsListedWithItsTime() throws {
        let server = try ScriptedServer { request in
            switch request.row {
            // 2026-01-02T03:04:05.006Z, by `date -u -d 2026-01-02T03:04:05Z +%s`
            case 2: .refuse(410, "Unregistered", timestampMs: 1_767_323_045_006)
            case 3: .refuse(400, "BadDeviceToken")
            case 4: .refuse(400, "DeviceTokenNotForTopic")
            default: .accept
            }
        }
        let sent = try SendingRig(server).send()
        #expect(sent.summary.exitStatus == 0)
        #expect(sent.count(.unregistered) == 2)
        #expect(sent.count(.rejected) == 1)
        #expect(sent.failures[2]?.invalidSince == "2026-01-02T03:04:05.006Z")
        #expect(
            sent.unregistered.sorted() == [
                "\(SendingRig.token(2)),2,Unregistered,2026-01-02T03:04:05.006Z",
                "\(SendingRig.token(3)),3,BadDeviceToken,", "token,row,reason,invalid_since",
            ])
        #expect(server.log.connectionCount == 1)
        #expect(server.log.requests.count == 20)
    }

    /// B82: where nothing was accepted the environment may be the wrong one.
    @Test func badTokensAreNotListedWhenNothingWasAccepted() throws {
        let server = try ScriptedServer { _ in .refuse(400, "BadDeviceToken") }
        let sent = try SendingRig(server).send()
        #expect(sent.count(.unregistered) == 20)
        #expect(sent.unregistered == ["token,row,reason,invalid_since"])
    }

    /// B64
    @Test func anUnknownReasonKeepsItsText() throws {
        let server = try ScriptedServer { request in
            request.row == 5 ? .refuse(400, "Fröhlich") : .accept
        }
        let sent = try SendingRig(server).send()
        #expect(sent.ledger[4] == FinalCode.rejectedOther.rawValue)
        #expect(sent.failures[5]?.reason == "Fröhlich")
    }

    /// B36, B41: refused is not an attempt.
    @Test func aRefusedStreamGoesAgainWithoutSpendingAnAttempt() throws {
        let server = try ScriptedServer { request in
            request.row % 4 == 0 && request.attempt <= 2 ? .reset(.refusedStream) : .accept
        }
        let sent = try SendingRig(server).send()
        #expect(sent.count(.accepted) == 20)
        #expect(sent.summary.attempts == 20)
        #expect(sent.summary.retries == 0)
        #expect(sent.summary.retriedReasons.isEmpty)
        #expect(server.log.requests.count == 30)
    }

    /// B01, B02, B03, B07, B11: what is above the last stream goes again elsewhere, the rest is
    /// waited for.
    @Test func rowsAboveTheLastStreamOfAGoAwayGoAgainElsewhere() throws {
        let server = try ScriptedServer { request in
            switch (request.connection, request.index) {
            case (0, 15): .goAwayBefore
            case (0, 1...): .acceptLater
            default: .accept
            }
        }
        let sent = try SendingRig(server, rows: 100).send()
        #expect(sent.count(.accepted) == 100)
        #expect(sent.summary.attempts == 100)
        #expect(sent.summary.connections.goaway == 1)
        #expect(sent.summary.connections.opened == 2)
        #expect(sent.summary.connections.lost == 0)
        #expect(server.log.accepted.values.allSatisfy { $0 == 1 })
    }

    /// B31: CANCEL says nothing about what the server did.
    @Test func aStreamThatIsResetSpendsAnAttempt() throws {
        let server = try ScriptedServer { request in
            request.row == 9 && request.attempt == 1 ? .reset(.cancel) : .accept
        }
        let sent = try SendingRig(server).send()
        #expect(sent.count(.accepted) == 20)
        #expect(sent.summary.attempts == 21)
        #expect(sent.retried(.exhaustedStreamReset) == 1)
    }

    /// B86: the same id on every attempt, another for every row.
    @Test func anAPNSIDBelongsToItsRow() throws {
        let server = try ScriptedServer { request in
            request.attempt == 1 && request.row % 2 == 0
                ? .refuse(500, "InternalServerError") : .accept
        }
        _ = try SendingRig(server).send()
        let ids = Dictionary(grouping: server.log.requests, by: \.token).mapValues { requests in
            Set(requests.map(\.apnsID))
        }
        #expect(ids.values.allSatisfy { $0.count == 1 })
        #expect(Set(ids.values.flatMap { $0 }).count == 20)
    }

    @Test func noMoreRowsAreSentThanTheLimitSays() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server)
        rig.options.limit = 7
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.summary.rows == 7)
        #expect(Set(server.log.requests.map(\.row)) == Set(1...7))
    }

    @Test func fewerRowsThanExpectedStopTheRunAfterTheyWereSent() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server)
        rig.options.expectRows = 21
        let sent = try rig.send()
        #expect(sent.summary.exitStatus == 3)
        #expect(sent.count(.accepted) == 20)
        #expect(sent.summary.stoppedBecause?.contains("--expect-rows says 21") == true)
    }

    @Test func aRowOfATokenThatCameBeforeIsADuplicate() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server)
        rig.recipients = [1, 2, 1, 3, 2].map { SendingRig.token($0) + "\n" }.joined()
        let sent = try rig.send()
        #expect(sent.count(.accepted) == 3)
        #expect(sent.count(.duplicate) == 2)
        #expect(Set(sent.failures.keys) == [3, 5])
        #expect(server.log.requests.count == 3)
    }
}
