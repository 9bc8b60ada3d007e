import APNS
import Campaign
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Sending

/// Instants after which nothing may be sent.
@Suite(.timeLimit(.minutes(5))) struct DeadlineTests {
    private func instant(secondsFromNow seconds: Double) -> String {
        let formatter = ISO8601DateFormatter()
        return formatter.string(from: Date(timeIntervalSinceNow: seconds))
    }

    @Test(arguments: [
        (
            "stopWhen", "{deadline: '2026-01-02T03:04:05Z'}",
            "stopWhen.deadline: 2026-01-02T03:04:05"
        ),
        ("expiration", "'2026-01-02T04:04:05+01:00'", "expiration: 2026-01-02T03:04:05"),
        ("expiration", "'0s'", "expiration: "),
    ])
    func oneThatHasPassedIsRefused(_ key: String, _ value: String, _ part: String) throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server)
        rig.manifest[key] = value
        let error = #expect(throws: SendError.self) { try rig.start() }
        #expect(error?.kind == .refused)
        #expect(error?.description.contains(part) == true)
        #expect(error?.description.contains("has passed") == true)
        #expect(access(rig.options.runDirectory, F_OK) != 0)
        #expect(server.log.connectionCount == 0)
    }

    @Test func anExpirationOfZeroIsNoInstant() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server)
        rig.manifest["expiration"] = "0"
        #expect(try rig.send().summary.completed)
    }

    @Test func theEarlierOfTheTwoCounts() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server)
        rig.manifest["expiration"] = "'1h'"
        rig.manifest["stopWhen"] = "{deadline: '1970-01-01T02:00:00Z'}"
        let start = Timestamp(milliseconds: 0)
        let deadline = try #require(RunDeadline(try rig.load(), startedAt: start))
        #expect(deadline.key == "expiration")
        #expect(deadline.milliseconds == 3_600_000)
        #expect(!deadline.hasPassed(Timestamp(milliseconds: 3_599_999)))
        #expect(deadline.hasPassed(Timestamp(milliseconds: 3_600_000)))
    }

    @Test func itStopsARunThatALaterOneContinues() throws {
        let server = try ScriptedServer { $0.index == 0 || $0.connection > 0 ? .accept : .silence }
        var rig = SendingRig(server, rows: 100)
        rig.options.streams = 10
        let text = instant(secondsFromNow: 2.5)
        rig.manifest["stopWhen"] = "{deadline: '\(text)'}"
        rig.manifest["timeouts"] = "{drain: '50ms'}"
        let stopped = try rig.send()
        #expect(stopped.summary.exitStatus == 3)
        let message = try #require(stopped.summary.stoppedBecause)
        #expect(message.contains("stopWhen.deadline: \(text.dropLast())"), "\(message)")
        #expect(message.contains("--resume"))
        #expect(stopped.summary.inDoubt == 10)

        rig.options.resumes = true
        let error = #expect(throws: SendError.self) { try rig.start() }
        #expect(error?.kind == .refused)
        rig.manifest["stopWhen"] = "{deadline: '\(instant(secondsFromNow: 3600))'}"
        #expect(try rig.send().count(.accepted) == 100)
    }

    @Test func oneThatComesWithTheLastAnswerStopsNothing() throws {
        let server = try ScriptedServer { $0.row == 20 ? .hold : .accept }
        var rig = SendingRig(server)
        rig.manifest["stopWhen"] = "{deadline: '\(instant(secondsFromNow: 2.5))'}"
        let running = try rig.start()
        server.waitForRequests(20)
        while !running.run.isStopping {}
        server.releaseHeld()
        let sent = try running.finish()
        #expect(sent.summary.completed)
        #expect(sent.summary.exitStatus == 0)
        #expect(sent.count(.accepted) == 20)
    }

    @Test func itEndsTheWaitForALaterPass() throws {
        let server = try ScriptedServer { $0.row == 3 ? .refuse(500, "x") : .accept }
        var rig = SendingRig(server)
        rig.manifest["retry"] = "{attempts: 1, secondPass: '1h'}"
        rig.manifest["expiration"] = "'\(instant(secondsFromNow: 2.5))'"
        let stopped = try rig.send()
        #expect(stopped.summary.exitStatus == 3)
        #expect(stopped.summary.stoppedBecause?.contains("expiration: ") == true)
        #expect(stopped.ledger[2] == RetryRules.Pass.second.rawValue)
        #expect(stopped.count(.accepted) == 19)
    }

    /// B18: the books are kept twice. Here the ledger is tampered with while the run goes on.
    @Test func aLedgerThatDoesNotAgreeWithTheWorkersIsADefect() throws {
        let server = try ScriptedServer { $0.row == 20 ? .hold : .accept }
        let rig = SendingRig(server)
        let running = try rig.start()
        server.waitForRequests(20)
        let file = open(rig.options.runDirectory + "/ledger", O_RDWR)
        var byte = FinalCode.accepted.rawValue
        // The held row gets its outcome a second time.
        #expect(pwrite(file, &byte, 1, 19) == 1)
        close(file)
        running.run.interrupt()
        running.run.interrupt()
        let summary = running.run.wait()
        #expect(summary.exitStatus == 1)
        #expect(summary.stoppedBecause?.contains("a defect of Peal") == true)
    }
}
