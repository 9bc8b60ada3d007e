import APNS
import Campaign
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Sending

/// Runs that go on: what the second start finds, checks and does. Killed processes are the subject
/// of the integration tests.
@Suite(.timeLimit(.minutes(5))) struct ResumeTests {
    /// Rows 2 to 11 of the first start are never answered.
    private func silentAtFirst() throws -> ScriptedServer {
        try ScriptedServer { $0.connection > 0 || $0.index == 0 ? .accept : .silence }
    }

    /// Stops a run of 100 rows with 10 requests in flight, the first accepted.
    private func stopAtOnce(_ rig: inout SendingRig, _ server: ScriptedServer) throws -> SentRun {
        rig.options.streams = 10
        let running = try rig.start()
        server.waitForRequests(11)
        running.run.interrupt()
        running.run.interrupt()
        rig.options.resumes = true
        return try running.finish()
    }

    /// Stops it, and answers those in flight.
    private func drain(_ rig: inout SendingRig, _ server: ScriptedServer) throws -> SentRun {
        rig.options.streams = 10
        let running = try rig.start()
        server.waitForRequests(11)
        running.run.interrupt()
        server.releaseHeld()
        rig.options.resumes = true
        return try running.finish()
    }

    @Test func everyRowIsSentOnce() throws {
        let server = try ScriptedServer { $0.index == 0 ? .accept : .hold }
        var rig = SendingRig(server, rows: 100)
        let stopped = try drain(&rig, server)
        #expect(stopped.summary.exitStatus == 130)

        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 100)
        #expect(sent.summary.resumes == 1)
        #expect(sent.summary.attempts == 100)
        #expect(sent.summary.seconds > stopped.summary.seconds)
        #expect(server.log.attempts.count == 100)
        #expect(server.log.attempts.values.allSatisfy { $0 == 1 })
    }

    @Test func rowsInDoubtAreSentAgainWithTheSameID() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server, rows: 100)
        #expect(try stopAtOnce(&rig, server).summary.inDoubt == 10)
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 100)
        let requests = Dictionary(grouping: server.log.requests, by: \.row)
        #expect(requests.count == 100)
        for (row, ofRow) in requests {
            #expect(ofRow.count == (2...11 ~= row ? 2 : 1))
            #expect(Set(ofRow.map(\.apnsID)).count == 1)
        }
    }

    @Test func rowsInDoubtBecomeUnknownWhenTheyMayNotBeSentAgain() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server, rows: 100)
        rig.manifest["retry"] = "{onUnknown: 'skip'}"
        _ = try stopAtOnce(&rig, server)
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 90)
        #expect(sent.count(.unknown) == 10)
        #expect(sent.failures[2]?.reason == "ConnectionLost")
        #expect(server.log.attempts.values.allSatisfy { $0 == 1 })
    }

    /// Each token stands twice, far from itself; whichever row was sent, the other is not.
    @Test func aTokenThatWasSentStaysSent() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server)
        let tokens = (1...60).map { SendingRig.token($0) + "\n" }
        rig.recipients = (tokens + tokens.reversed()).joined()
        _ = try stopAtOnce(&rig, server)
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 60)
        #expect(sent.count(.duplicate) == 60)
        #expect(server.log.accepted.count == 60)
        #expect(server.log.accepted.values.allSatisfy { $0 == 1 })
    }

    @Test(arguments: [
        ("name", "'other'"), ("apnsID", "false"), ("duplicates", "'send'"),
        ("columns", "{locale: 'language'}"), ("collapseID", "'sale'"), ("pushType", "'background'"),
        ("columns", "{registeredAt: 'since'}"), ("suppress", "['list.csv']"),
        ("payload", "{aps: {alert: 'Hallo'}}"), ("payloads", "{de: {aps: {alert: 'Hallo'}}}"),
    ])
    func whatDecidesWhatIsSentMayNotChange(key: String, value: String) throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server, rows: 100)
        _ = try stopAtOnce(&rig, server)
        let before = server.log.requests.count
        if key == "pushType" { rig.manifest["payload"] = "{aps: {'content-available': 1}}" }
        rig.manifest[key] = value
        let error = #expect(throws: SendError.self) { try rig.start() }
        #expect(error?.kind == .refused)
        #expect(error?.description.contains(" \(key): it has changed") == true)
        #expect(error?.description.contains("may not, because it ") == true)
        #expect(error?.description.contains("change it back, or start a new run") == true)
        #expect(server.log.requests.count == before)
        // Nothing was spoilt by the attempt.
        rig.manifest[key] = nil
        rig.manifest["payload"] = "{'aps': {\"alert\": 'Hello',}}"  // the same, written otherwise
        #expect(try rig.send().summary.completed)
    }

    @Test func theRestMayChange() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server, rows: 100)
        _ = try stopAtOnce(&rig, server)
        let other = try ScriptedServer { _ in .accept }
        rig.manifest["topic"] = "'com.example.other'"
        rig.manifest["environment"] = "'production'"
        rig.manifest["credentials"] =
            "{key: 'other.p8', keyID: 'OTHER12345', teamID: 'DEF123GHIJ'}"
        rig.manifest["priority"] = "5"
        rig.manifest["expiration"] = "'1h'"
        rig.manifest["retry"] = "{attempts: 2}"
        rig.manifest["timeouts"] = "{request: '20s'}"
        rig.manifest["pacing"] = "{mode: 'gentle', streams: 50}"
        rig.manifest["recipients"] = "'moved.csv'"
        rig.options.recipients = rig.folder.path + "/recipients.csv"
        rig.options.endpoint = other.endpoint
        rig.options.pacing = .adaptive
        rig.options.rate = 100_000
        rig.options.connectionRate = 100_000
        rig.options.streams = 20
        rig.options.threads = 2
        rig.options.connections = 2
        rig.options.expectRows = 100
        #expect(try rig.send().summary.completed)
        #expect(other.log.requests.count == 99)
    }

    @Test func otherRecipientsStopTheRunBeforeAnyOfThemIsSent() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server, rows: 100)
        _ = try stopAtOnce(&rig, server)
        let before = server.log.requests.count
        rig.recipients = (0..<100).map { SendingRig.token($0 + 1001) + "\n" }.joined()
        let sent = try rig.send()
        #expect(sent.summary.exitStatus == 3)
        #expect(sent.summary.stoppedBecause?.contains("rows 1 to 100 are not those") == true)
        #expect(server.log.requests.count == before)
    }

    @Test func rowsThatWereAddedSinceStopTheRun() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server, rows: 100)
        _ = try stopAtOnce(&rig, server)
        rig.rows = 101
        let sent = try rig.send()
        #expect(sent.summary.exitStatus == 3)
        #expect(sent.summary.stoppedBecause?.contains("rows after row 100") == true)
        #expect(server.log.attempts.count <= 100)
    }

    @Test func otherColumnsAreRefused() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server, rows: 100)
        _ = try stopAtOnce(&rig, server)
        rig.options.recipients = rig.folder.write(
            "TOKEN\n" + (0..<100).map { SendingRig.token($0 + 1) + "\n" }.joined(),
            to: "other.csv")
        rig.manifest["columns"] = nil
        let error = #expect(throws: SendError.self) { try rig.start() }
        #expect(error?.kind == .refused)
    }

    /// A line that a kill tore, and one whose row never got its byte.
    @Test func failureLinesThatDoNotCountAreLeftOut() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server)
        rig.recipients = "none\n" + (1..<100).map { SendingRig.token($0) + "\n" }.joined()
        _ = try stopAtOnce(&rig, server)
        let path = rig.options.runDirectory + "/failures.ndjson"
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(
            contentsOf: Data(
                """
                {"row":50,"line":51,"outcome":"rejected","reason":"BadTopic","attempts":1}
                {"row":51,"line":52,"outcome":"unregis
                """.utf8))
        try file.close()
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.failureLineCount == 1)
        #expect(sent.failures[1]?.outcome == "invalid")
    }

    @Test func aChunkLineThatAKillToreIsWrittenAgain() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server, rows: 100)
        _ = try stopAtOnce(&rig, server)
        let path = rig.options.runDirectory + "/chunks"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first)
        try Data("\(line)\nen".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try rig.send().summary.completed)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }

    @Test func aFolderInUseIsRefused() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server, rows: 100)
        _ = try stopAtOnce(&rig, server)
        let other = try RunFolder(opening: rig.options.runDirectory)
        let error = #expect(throws: SendError.self) { try rig.start() }
        #expect(error?.description.contains("another process uses this run folder") == true)
        withExtendedLifetime(other) {}
    }

    @Test func aShortLedgerIsRefused() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server, rows: 100)
        _ = try stopAtOnce(&rig, server)
        #expect(truncate(rig.options.runDirectory + "/ledger", 99) == 0)
        let error = #expect(throws: SendError.self) { try rig.start() }
        #expect(error?.kind == .refused)
        #expect(error?.description.contains("99 bytes for 100 rows") == true)
    }

    @Test func aCompletedRunHasNothingToResume() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server)
        #expect(try rig.send().summary.completed)
        rig.options.resumes = true
        let error = #expect(throws: SendError.self) { try rig.start() }
        #expect(error?.kind == .refused)
        #expect(error?.description.contains("nothing to resume") == true)
    }

    @Test func theLimitOfTheFirstStartHolds() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server, rows: 100)
        rig.options.limit = 20
        _ = try stopAtOnce(&rig, server)
        #expect(throws: SendError.self) { try rig.start() }
        rig.options.limit = nil
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.summary.rows == 20)
        #expect(server.log.accepted.count == 20)
    }

    @Test func aTimeIsReadAsItWasWritten() {
        let text = "2026-03-14T09:00:00.123Z"
        #expect(Timestamp(rfc3339: text)?.milliseconds == 1_773_478_800_123)
        #expect(Timestamp(rfc3339: text)?.rfc3339 == text)
        #expect(Timestamp(rfc3339: "2026-03-14T09:00:00Z") == nil)
    }

    @Test func aRecordIsReadAsItWasWritten() throws {
        let server = try silentAtFirst()
        var rig = SendingRig(server, rows: 100)
        _ = try stopAtOnce(&rig, server)
        let path = rig.options.runDirectory + "/run.json"
        let first = try RunRecord.read(path)
        #expect(!first.isCompleted)
        #expect(try rig.send().summary.completed)
        let second = try RunRecord.read(path)
        #expect(second.isCompleted)
        #expect(second.startedAt.milliseconds == first.startedAt.milliseconds)
        #expect(abs(second.startedAt.milliseconds - Timestamp.now().milliseconds) < 60_000)
        #expect(second.identity.bytes == first.identity.bytes)
        #expect(second.resumes == 1)
    }
}
