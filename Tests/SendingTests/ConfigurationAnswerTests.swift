import APNS
import Testing
import Transport

@testable import Sending

/// Answers that every row would get until a person corrects something.
@Suite(.timeLimit(.minutes(5))) struct ConfigurationAnswerTests {
    @Test func fiveInARowStopTheRunAndLeaveTheirRowsForLater() throws {
        let server = try ScriptedServer { _ in .refuse(400, "BadTopic") }
        let sent = try SendingRig(server, rows: 50).send()
        #expect(sent.summary.exitStatus == 3)
        #expect(!sent.summary.completed)
        #expect(sent.rows(with: OpenState.handedBack) == 5)
        #expect(sent.rows(with: OpenState.untouched) == 45)
        #expect(sent.failureLineCount == 0)
        let message = try #require(sent.summary.stoppedBecause)
        #expect(message.contains("400 BadTopic"))
        #expect(message.contains(server.endpoint.description))
        #expect(message.contains(FinalCode.badTopic.advice))
        // B37: without a good answer there is never more than one request at a time.
        #expect(server.log.requests.allSatisfy { $0.openCount == 1 })
    }

    @Test func anUnknownOneIsNamedInTheMessage() throws {
        let server = try ScriptedServer { _ in .refuse(403, "AccountOnHoliday") }
        let sent = try SendingRig(server).send()
        #expect(sent.summary.exitStatus == 3)
        #expect(sent.summary.stoppedBecause?.contains("403 AccountOnHoliday") == true)
    }

    @Test func amongAcceptedRowsTheyAreAboutTheirRows() throws {
        let server = try ScriptedServer { request in
            request.row % 3 == 0 ? .refuse(400, "PayloadEmpty") : .accept
        }
        var rig = SendingRig(server, rows: 60)
        rig.options.streams = 1  // so that the answers come in the order of the rows
        let sent = try rig.send()
        #expect(sent.summary.exitStatus == 0)
        #expect(sent.count(.accepted) == 40)
        #expect(sent.count(.rejected) == 20)
        #expect(sent.failures[60]?.reason == "PayloadEmpty")
        #expect(sent.failures[60]?.status == 400)
    }

    @Test func aFileOfLessThanFiveRowsStopsToo() throws {
        let server = try ScriptedServer { _ in .refuse(403, "InvalidProviderToken") }
        let sent = try SendingRig(server, rows: 3).send()
        #expect(sent.summary.exitStatus == 3)
        #expect(sent.rows(with: OpenState.handedBack) == 3)
        #expect(sent.summary.stoppedBecause?.contains("InvalidProviderToken") == true)
    }

    /// B46, B52: a token of this minute cannot be too old, so the clocks differ, and no other token
    /// helps.
    @Test func anExpiredTokenThatIsYoungNamesTheClock() throws {
        let server = try ScriptedServer { _ in .refuse(403, "ExpiredProviderToken") }
        let sent = try SendingRig(server).send()
        #expect(sent.summary.exitStatus == 3)
        #expect(sent.rows(with: OpenState.untouched) == 20)
        #expect(sent.summary.attempts == 0)
        #expect(sent.summary.stoppedBecause?.contains("clock") == true)
        #expect(server.log.requests.count == 1)
    }

    /// B47, B48: the rows keep their attempts and their token; a server that says nothing else ends
    /// the run.
    @Test func tooManyTokenUpdatesAreNotTheRowsFault() throws {
        let server = try ScriptedServer { request in
            request.row <= 2 && request.attempt == 1
                ? .refuse(429, "TooManyProviderTokenUpdates") : .accept
        }
        let sent = try SendingRig(server).send()
        #expect(sent.count(.accepted) == 20)
        #expect(sent.summary.attempts == 20)
        #expect(Set(server.log.requests.map(\.authorization)).count == 1)
    }

    @Test func nothingButTooManyTokenUpdatesStopsTheRun() throws {
        let server = try ScriptedServer { _ in .refuse(429, "TooManyProviderTokenUpdates") }
        let sent = try SendingRig(server).send()
        #expect(sent.summary.exitStatus == 3)
        #expect(sent.rows(with: OpenState.untouched) == 20)
        #expect(sent.summary.stoppedBecause?.contains("TooManyProviderTokenUpdates") == true)
    }
}
