import APNS
import Foundation
import Glibc
import HTTP2
import Synchronization
import TestSupport
import Testing

@testable import Sending

/// Rows that wait in the ledger, and the later readings of the input that send them.
@Suite(.timeLimit(.minutes(5))) struct LaterPassTests {
    /// A rig for which the minutes of the rules are 60 ms.
    private func quickRig(_ server: ScriptedServer, rows: Int = 20) -> SendingRig {
        var rig = SendingRig(server, rows: rows)
        rig.options.retrySecondNs = 1_000_000
        rig.manifest["retry"] = "{serverErrorDelay: '1ms..2ms', secondPass: '20ms'}"
        return rig
    }

    /// Starts a run and stops it at the moment that `isTime` waits for.
    private func stop(
        _ rig: inout SendingRig, twice: Bool = false, _ isTime: (RunningCampaign) -> Void
    ) throws -> SentRun {
        let running = try rig.start()
        isTime(running)
        running.run.interrupt()
        if twice { running.run.interrupt() }
        rig.options.resumes = true
        return try running.finish()
    }

    /// Starts a run, interrupts it, and lets the server answer what it holds.
    private func drain(
        _ rig: inout SendingRig, _ server: ScriptedServer, _ isTime: () -> Void
    ) throws -> SentRun {
        let running = try rig.start()
        isTime()
        running.run.interrupt()
        server.releaseHeld()
        rig.options.resumes = true
        return try running.finish()
    }

    /// Waits until the run says that it waits for a pass, an hour long.
    private func waitForPass(_ running: RunningCampaign) {
        let deadline = ContinuousClock.now + .seconds(30)
        while running.run.progress.waitingFor?.contains("the next attempt of") != true {
            guard ContinuousClock.now < deadline else {
                Issue.record("the run does not wait for a pass")
                return
            }
            sched_yield()
        }
    }

    @Test func serverErrorsGetASecondPass() throws {
        let server = try ScriptedServer { request in
            request.row <= 3 && request.attempt <= 3
                ? .refuse(503, "ServiceUnavailable") : .accept
        }
        let sent = try quickRig(server).send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 20)
        #expect(sent.summary.attempts == 29)
        #expect(sent.summary.retries == 9)
        #expect(sent.retried(.serviceUnavailable) == 9)
        #expect(server.log.attempts.values.sorted().suffix(4) == [1, 4, 4, 4])
        // The connection is kept, and nobody takes a row that meets itself for a duplicate.
        #expect(server.log.connectionCount == 1)
        #expect(sent.count(.duplicate) == 0)
    }

    @Test func afterTheSecondPassTheyAreExhausted() throws {
        let server = try ScriptedServer { request in
            request.row == 7 ? .refuse(500, "InternalServerError") : .accept
        }
        let sent = try quickRig(server).send()
        #expect(sent.summary.completed)
        #expect(sent.ledger[6] == FinalCode.internalServerError.rawValue)
        #expect(sent.failures[7]?.attempts == 6)
        #expect(server.log.attempts[SendingRig.token(7)] == 6)
    }

    /// B48, B72, B75: four attempts, then one in each of four passes; nobody else is held up.
    @Test func tooManyRequestsHasEightAttempts() throws {
        let server = try ScriptedServer { request in
            switch request.row {
            case 4: .refuse(429, "TooManyRequests")
            case 5: request.attempt < 8 ? .refuse(429, "TooManyRequests") : .accept
            default: .accept
            }
        }
        var rig = quickRig(server)
        rig.manifest["retry"] = "{attempts: 1}"
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 19)
        #expect(sent.ledger[3] == FinalCode.tooManyRequests.rawValue)
        #expect(sent.failures[4]?.attempts == 8)
        #expect(server.log.attempts[SendingRig.token(4)] == 8)
        #expect(server.log.attempts[SendingRig.token(5)] == 8)
        #expect(server.log.attempts.values.reduce(0, +) == 18 + 16)
    }

    /// B72: not before its time, whether it is short or long.
    @Test(arguments: [20, 90]) func retryAfterIsWaitedFor(seconds: Int) throws {
        let times = Mutex<[ContinuousClock.Instant]>([])
        let server = try ScriptedServer { request in
            guard request.row == 2 else { return .accept }
            times.withLock { $0.append(.now) }
            return request.attempt == 1
                ? .refuseFor(seconds: seconds, 503, "ServiceUnavailable") : .accept
        }
        let sent = try quickRig(server).send()
        #expect(sent.count(.accepted) == 20)
        let seen = times.withLock { $0 }
        try #require(seen.count == 2)
        #expect(seen[1] - seen[0] >= .milliseconds(seconds))
    }

    /// Many chunks, two threads; the passes take the rows that wait and no others.
    @Test func severalWorkersSendAPassTogether() throws {
        let server = try ScriptedServer { request in
            request.row % 100 == 0 && request.attempt <= 3
                ? .refuse(503, "ServiceUnavailable")
                : request.row % 100 == 1 && request.attempt <= 5
                    ? .refuse(429, "TooManyRequests") : .accept
        }
        var rig = quickRig(server, rows: 9000)
        rig.options.threads = 2
        rig.options.connections = 2
        let sent = try rig.send()
        #expect(sent.summary.completed, "\(sent.summary.stoppedBecause ?? "")")
        #expect(sent.count(.accepted) == 9000)
        let attempts = server.log.attempts
        #expect(attempts.values.count { $0 == 1 } == 8820)
        #expect(attempts.values.count { $0 == 4 } == 90)
        #expect(attempts.values.count { $0 == 6 } == 90)
        #expect(server.log.accepted.values.allSatisfy { $0 == 1 })
    }

    @Test func anInterruptionEndsTheWaitAndAResumeSendsTheRows() throws {
        let server = try ScriptedServer { request in
            request.row == 3 && request.attempt <= 3
                ? .refuse(503, "ServiceUnavailable") : .accept
        }
        var rig = quickRig(server)
        rig.manifest["retry"] = "{serverErrorDelay: '1ms', secondPass: '1h'}"
        let stopped = try stop(&rig, waitForPass)
        #expect(stopped.summary.exitStatus == 130)
        #expect(stopped.ledger[2] == RetryRules.Pass.second.rawValue)
        #expect(stopped.count(.accepted) == 19)

        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 20)
        #expect(server.log.attempts.values.sorted() == [Int](repeating: 1, count: 19) + [4])
    }

    /// Interrupted with a pass half done: what was accepted in it stays so, the rest is sent once.
    @Test func anInterruptionInTheMiddleOfAPassLosesNothing() throws {
        let server = try ScriptedServer { request in
            guard request.row % 10 == 0 else { return .accept }
            if request.attempt <= 3 { return .refuse(503, "ServiceUnavailable") }
            return request.row <= 50 ? .accept : .hold
        }
        var rig = quickRig(server, rows: 100)
        rig.options.streams = 3
        let stopped = try drain(&rig, server) { server.waitForRequests(90 + 30 + 7) }
        #expect(stopped.summary.exitStatus == 130)
        #expect(stopped.rows(with: RetryRules.Pass.second.rawValue) > 0)
        #expect(stopped.summary.inDoubt == 0)

        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 100)
        #expect(server.log.accepted.count == 100)
        #expect(server.log.accepted.values.allSatisfy { $0 == 1 })
    }

    /// The second signal leaves the rows of the pass in doubt; at most once is kept all the same.
    @Test func rowsOfAPassThatIsCutOffAreInDoubt() throws {
        let server = try ScriptedServer { request in
            guard request.row > 95 else { return .accept }
            return request.attempt <= 3 ? .refuse(503, "ServiceUnavailable") : .silence
        }
        var rig = quickRig(server, rows: 100)
        let stopped = try stop(&rig, twice: true) { _ in server.waitForRequests(95 + 20) }
        #expect(stopped.summary.inDoubt == 5)

        rig.manifest["retry"] = "{onUnknown: 'skip'}"
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.unknown) == 5)
        #expect(server.log.requests.count == 115)
    }

    /// A row that may have been delivered, then was refused for an hour: who wants at most one
    /// sending from now on gets no second one.
    @Test(arguments: ["skip", "resend"]) func doubtOutlastsALaterPass(policy: String) throws {
        let server = try ScriptedServer { request in
            switch (request.row, request.attempt) {
            case (2, 1): .reset(.cancel)
            case (2, 2): .refuseFor(seconds: 3600, 429, "TooManyRequests")
            default: .accept
            }
        }
        var rig = SendingRig(server)
        let stopped = try stop(&rig, waitForPass)
        #expect(stopped.ledger[1] == OpenState.inDoubt)

        rig.manifest["retry"] = "{onUnknown: '\(policy)'}"
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == (policy == "skip" ? 19 : 20))
        #expect(server.log.attempts[SendingRig.token(2)] == (policy == "skip" ? 2 : 3))
    }

    @Test func aRowInDoubtIsSentInALaterPassOfTheSameRun() throws {
        let server = try ScriptedServer { request in
            switch (request.row, request.attempt) {
            case (2, 1): .reset(.cancel)
            case (2, 2): .refuseFor(seconds: 40, 429, "TooManyRequests")
            default: .accept
            }
        }
        let sent = try quickRig(server).send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 20)
        #expect(server.log.attempts[SendingRig.token(2)] == 3)
    }

    @Test func anInputThatIsGoneStopsTheRunAndCanBePutBack() throws {
        let folder = TemporaryDirectory()
        let path = folder.path + "/rows.csv"
        let server = try ScriptedServer { request in
            guard request.row == 3, request.attempt <= 3 else { return .accept }
            if request.attempt == 3 { unlink(path) }
            return .refuse(503, "ServiceUnavailable")
        }
        var rig = quickRig(server)
        let lines = (1...20).map { SendingRig.token($0) + "\n" }.joined()
        rig.options.recipients = folder.write("token\n" + lines, to: "rows.csv")
        let stopped = try rig.send()
        #expect(stopped.summary.exitStatus == 3)
        #expect(stopped.summary.stoppedBecause?.contains(path) == true)
        #expect(stopped.ledger[2] == RetryRules.Pass.second.rawValue)

        folder.write("token\n" + lines, to: "rows.csv")
        rig.options.resumes = true
        #expect(try rig.send().count(.accepted) == 20)
    }

    @Test func rowsOfAPipeAreExhaustedInstead() throws {
        let server = try ScriptedServer { request in
            request.row == 1 ? .refuse(503, "ServiceUnavailable") : .accept
        }
        var rig = quickRig(server)
        let pipe = try Pipe(in: rig.folder)
        rig.options.recipients = pipe.path
        pipe.write("token\n" + SendingRig.token(1) + "\n" + SendingRig.token(2) + "\n")
        let running = try rig.start()
        server.waitForRequests(2)
        pipe.close()
        let sent = try running.finish()
        #expect(sent.summary.completed)
        #expect(sent.count(.exhausted) == 1)
        #expect(server.log.attempts[SendingRig.token(1)] == 3)
    }
}
