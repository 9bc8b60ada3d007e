import APNS
import Campaign
import Foundation
import TestSupport
import Testing

@testable import Sending

/// A run that has ended, read from its folder alone.
@Suite(.timeLimit(.minutes(1))) struct StoredRunTests {
    private func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// The folder of a run of 20 rows: the third token is dead, the fifth needs a second attempt.
    private func sentRun() throws -> (rig: SendingRig, run: SentRun) {
        let server = try ScriptedServer { request in
            if request.row == 3 { return .refuse(410, "Unregistered") }
            if request.row == 5, request.attempt == 1 { return .refuse(503, "Shutdown") }
            return .accept
        }
        let rig = SendingRig(server)
        return (rig, try rig.send())
    }

    @Test func theSummaryOfACompletedRunIsTheOneThatItWrote() throws {
        let (rig, _) = try sentRun()
        let folder = rig.options.runDirectory
        let stored = try StoredRun(folder + "/")
        #expect(stored.facts.summary.json() == (try bytes(folder + "/summary.json")))
        #expect(stored.facts.summary.runDirectory == folder)
        #expect(stored.facts.campaign?.topic == "com.example.app")
        #expect(stored.facts.pace?.mode == .unlimited)
        #expect(stored.facts.rate.counts.reduce(0, +) == 19)
        #expect(stored.facts.connectionEnds.groups.reduce(0) { $0 + $1.connections } >= 1)
    }

    @Test func theListOfTokensIsWrittenAnew() throws {
        let (rig, run) = try sentRun()
        let list = rig.options.runDirectory + "/unregistered.csv"
        let before = try bytes(list)
        #expect(run.unregistered.count == 2)
        try #require(unlink(list) == 0)
        try StoredRun(rig.options.runDirectory).writeUnregisteredList()
        #expect(try bytes(list) == before)
    }

    /// B92: killed between a failure line and its ledger byte: the row is still to be sent, so its
    /// token is not dead yet. And there is no summary but the one of an earlier start.
    @Test func ofAKilledRunTheLedgerTells() throws {
        let (rig, _) = try sentRun()
        let folder = rig.options.runDirectory
        let record = String(decoding: try bytes(folder + "/run.json"), as: UTF8.self)
        rig.folder.write(
            record.replacing("\"completed\"", with: "\"running\""), to: "run/run.json")
        var ledger = try bytes(folder + "/ledger")
        ledger[2] = 1
        ledger[19] = 0
        rig.folder.write(ledger, to: "run/ledger")

        let stored = try StoredRun(folder)
        try stored.writeUnregisteredList()
        let summary = stored.facts.summary
        #expect(!summary.completed)
        #expect(summary.stoppedBecause?.contains("killed") == true)
        #expect(summary.rows == 20)
        #expect(summary.count(of: .accepted) == 18)
        #expect(summary.count(of: .unregistered) == 0)
        #expect(summary.inDoubt == 1)
        #expect(
            try bytes(folder + "/unregistered.csv")
                == Array("token,row,reason,invalid_since\n".utf8))
        // Nothing was taken away that a resume needs.
        let failures = String(decoding: try bytes(folder + "/failures.ndjson"), as: UTF8.self)
        #expect(failures.contains("\"row\":3,"))
    }

    @Test func ofAStoppedRunItsOwnReasonIsTold() throws {
        let server = try ScriptedServer { $0.row <= 5 ? .accept : .hold }
        var rig = SendingRig(server)
        rig.options.streams = 5
        rig.manifest["timeouts"] = "{drain: '100ms'}"
        let ended = try interrupted(rig, server)
        #expect(ended.stoppedBecause == "interrupted")
        let stored = try StoredRun(rig.options.runDirectory)
        #expect(stored.facts.summary.json() == ended.json())
    }

    /// The series goes on where it stood, and is that of all starts.
    @Test func aResumeGoesOnWithTheRates() throws {
        let server = try ScriptedServer { $0.connection > 0 || $0.row <= 5 ? .accept : .hold }
        var rig = SendingRig(server)
        rig.options.streams = 5
        rig.manifest["timeouts"] = "{drain: '100ms'}"
        let first = try interrupted(rig, server)
        #expect(first.count(of: .accepted) >= 5)
        rig.options.resumes = true
        let second = try rig.send().summary
        #expect(second.count(of: .accepted) == 20)
        let stored = try StoredRun(rig.options.runDirectory)
        #expect(stored.facts.rate.counts.reduce(0, +) == 20)
        #expect(stored.facts.summary.resumes == 1)
    }

    private func interrupted(_ rig: SendingRig, _ server: ScriptedServer) throws -> RunSummary {
        let running = try rig.start()
        server.waitForRequests(10)
        running.run.interrupt()
        return try running.finish().summary
    }

    /// The lock belongs to the run as long as something refers to it.
    @Test func aRunInUseIsLeftAlone() throws {
        let server = try ScriptedServer { _ in .hold }
        let rig = SendingRig(server)
        let running = try rig.start()
        server.waitForRequests(1)
        let error = #expect(throws: SendError.self) { try StoredRun(rig.options.runDirectory) }
        #expect(error?.kind == .refused)
        #expect(error?.description.contains("another process uses this run folder") == true)
        running.run.interrupt()
        server.releaseHeld()
        _ = try running.finish()
    }

    @Test func whatIsNoRunIsRefusedWithAnExample() throws {
        let folder = TemporaryDirectory()
        let error = #expect(throws: SendError.self) { try StoredRun(folder.path) }
        #expect(error?.kind == .refused)
        #expect(error?.description.contains("runs/NAME/20260314T090000Z") == true)
        let missing = #expect(throws: SendError.self) { try StoredRun(folder.path + "/none") }
        #expect(missing?.kind == .refused)
    }

    /// A server that says something else on each connection does not fill the memory.
    @Test func causesOfEndsAreBounded() {
        let folder = TemporaryDirectory()
        let lines = (0..<3000).map {
            "{\"requests\":2,\"answered\":1,\"end\":\"GOAWAY \($0 % 1500)\"}\n"
        }
        let path = folder.write(lines.joined() + "{\"end\":\"torn", to: "connections.ndjson")
        let ends = ConnectionEnds(file: path)
        #expect(ends.groups.count == 1000)
        #expect(ends.groups.allSatisfy { $0.connections == 2 && $0.answered == 2 })
        #expect(ends.others.connections == 1000)
        #expect(ConnectionEnds(file: folder.path + "/none").groups.isEmpty)
    }
}
