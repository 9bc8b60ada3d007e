import APNS
import Glibc
import HTTP2
import TestSupport
import Testing

@testable import Sending

/// Runs under random faults, interrupted at random moments, the first pass or a later one, and
/// resumed until they complete.
@Suite(.timeLimit(.minutes(5))) struct ChaosResumeTests {
    private static let rows = 2000

    /// B18, B20, B71: one outcome for every row; with `skip` no row is ever accepted twice, with
    /// `resend` only one whose answer was lost.
    @Test(arguments: ["skip", "resend"]) func nothingIsLostAcrossResumes(policy: String) throws {
        var random = SeededGenerator(seed: testSeed ^ UInt64(policy.utf8.count))
        let seed = random.next()
        let server = try ScriptedServer { Self.fault($0, seed: seed) }
        var rig = SendingRig(server, rows: Self.rows)
        rig.options.threads = 2
        rig.options.connections = 3
        rig.options.streams = 50
        rig.options.retrySecondNs = 1_000_000
        rig.manifest["timeouts"] = "{request: '500ms', drain: '1s'}"
        rig.manifest["retry"] =
            "{serverErrorDelay: '1ms..5ms', secondPass: '20ms', onUnknown: '\(policy)'}"
        var inDoubt: UInt64 = 0
        for _ in 0..<4 {
            let stopped = try Self.interrupt(
                rig, server, after: Int.random(in: 1...800, using: &random),
                times: Int.random(in: 1...2, using: &random))
            #expect(stopped.summary.completed || stopped.summary.exitStatus == 130)
            inDoubt += stopped.summary.inDoubt
            if stopped.summary.completed { break }
            rig.options.resumes = true
        }
        let sent = try Self.last(rig)
        let log = server.log
        for row in 1...UInt64(Self.rows) {
            let outcome = try #require(sent.outcome(row), "row \(row), seed \(testSeed)")
            let accepted = log.accepted[SendingRig.token(row), default: 0]
            if outcome == .accepted { #expect(accepted >= 1, "row \(row), seed \(testSeed)") }
            if policy == "skip" { #expect(accepted <= 1, "row \(row), seed \(testSeed)") }
            // Four in the slot and four later, for each kind of failure and each start.
            #expect(log.attempts[SendingRig.token(row), default: 0] < 80)
        }
        #expect(sent.rows(with: FinalCode.accepted.rawValue) > Self.rows * 8 / 10)
    }

    /// A run that has completed by itself before it was interrupted is not resumed.
    private static func last(_ rig: SendingRig) throws -> SentRun {
        guard rig.options.resumes else { return try rig.send() }
        do { return try rig.send() } catch let error as SendError {
            try #require(error.description.contains("nothing to resume"))
            var summary = RunSummary(name: "scripted", runDirectory: rig.options.runDirectory)
            summary.rows = UInt64(rows)
            return try SentRun(summary, folder: rig.options.runDirectory)
        }
    }

    private static func interrupt(
        _ rig: SendingRig, _ server: ScriptedServer, after requests: Int, times: Int
    ) throws -> SentRun {
        let running = try rig.start()
        let before = server.log.requests.count
        let deadline = ContinuousClock.now + .seconds(20)
        while server.log.requests.count < before + requests, !running.hasEnded,
            ContinuousClock.now < deadline
        { sched_yield() }
        for _ in 0..<times { running.run.interrupt() }
        return try running.finish()
    }

    private static func fault(_ request: ScriptedRequest, seed: UInt64) -> ScriptedAction {
        var random = SeededGenerator(
            seed: seed ^ request.row &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(request.attempt) << 56)
        switch Int.random(in: 0..<10_000, using: &random) {
        case 0..<5: return .cut
        case 5..<10: return .goAwayBefore
        case 10..<20: return .silence
        case 20..<100: return .reset(.refusedStream)
        case 100..<150: return .reset(.cancel)
        case 150..<350: return .refuse(503, "ServiceUnavailable")
        case 350..<500: return .refuse(429, "TooManyRequests")
        case 500..<550: return .refuseFor(seconds: 40, 429, "TooManyRequests")
        case 550..<600: return .refuse(410, "Unregistered")
        case 600..<700: return .refuse(400, "BadDeviceToken")
        case 700..<750: return .refuse(413, "PayloadTooLarge")
        case 750..<760: return .refuse(400, "PayloadEmpty")
        case 760..<1_000: return .acceptLater
        // Whole groups of rows that are troubled for long.
        case 1_000... where request.row % 100 == 7 && request.attempt < 5:
            return .refuse(429, "TooManyRequests")
        case 1_000... where request.row % 100 == 8 && request.attempt < 4:
            return .refuse(500, "InternalServerError")
        default: return .accept
        }
    }
}
