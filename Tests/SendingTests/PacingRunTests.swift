import APNS
import Campaign
import Synchronization
import TestSupport
import Testing

@testable import Sending

/// The modes of pacing in whole runs.
@Suite(.timeLimit(.minutes(5))) struct PacingRunTests {
    private func plan(
        _ mode: Pacing.Mode, connectionRate: Double? = nil, manifest: String = "{}"
    ) throws -> SendPlan {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server)
        rig.manifest["pacing"] = manifest
        rig.options.pacing = mode
        rig.options.connectionRate = connectionRate
        return try SendPlan(options: rig.options, pacing: rig.load().pacing)
    }

    @Test func gentleIsAHundredPerSecondOnEachConnection() throws {
        #expect(try plan(.gentle).connectionRate == 100)
        #expect(try plan(.gentle, connectionRate: 5).connectionRate == 5)
        #expect(try plan(.gentle, connectionRate: 500).connectionRate == 100)
        #expect(try plan(.gentle).rampUpMs == nil)
    }

    @Test func onlyAdaptiveHasARamp() throws {
        #expect(try plan(.adaptive).rampUpMs == 2000)
        #expect(try plan(.adaptive, manifest: "{rampUp: '10s', rate: 7}").rampUpMs == 10_000)
        #expect(try plan(.adaptive, manifest: "{rampUp: '10s', rate: 7}").rate == 7)
        #expect(try plan(.unlimited, manifest: "{rampUp: '10s'}").rampUpMs == nil)
        #expect(try plan(.unlimited).connectionRate == 0)
    }

    @Test func gentleTakesTheTimeThatTheRateTells() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server, rows: 60)
        rig.options.pacing = .gentle
        let clock = ContinuousClock()
        let start = clock.now
        let sent = try rig.send()
        #expect(sent.count(.accepted) == 60)
        // 60 at 100 per second, but for the burst of 2 ms
        #expect(clock.now - start >= .milliseconds(580))
    }

    @Test func theFirstHundredRowsStartAtOnce() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server, rows: 100)
        rig.options.pacing = .adaptive
        rig.manifest["pacing"] = "{rampUp: '1h'}"  // what starts at once does not wait for it
        let sent = try rig.send()
        #expect(sent.count(.accepted) == 100)
        #expect(sent.summary.seconds < 0.8)
    }

    /// Requests that a server refuses while it answers most of them with 503, for one second from
    /// the first. Not all: a connection that answers nothing else would be replaced.
    private func requestsInTrouble(_ mode: Pacing.Mode) throws -> Int {
        let clock = ContinuousClock()
        let troubleEnds = Mutex<ContinuousClock.Instant?>(nil)
        let refused = Atomic(0)
        let server = try ScriptedServer { request in
            let end = troubleEnds.withLock { end in
                if end == nil { end = clock.now + .seconds(1) }
                return end ?? clock.now
            }
            let isRefused = (Int(request.row) + request.attempt) % 4 != 0
            guard clock.now < end, isRefused else { return .accept }
            refused.add(1, ordering: .relaxed)
            return .refuse(503, "ServiceUnavailable")
        }
        var rig = SendingRig(server, rows: 1500)
        rig.options.pacing = mode
        rig.manifest["retry"] = "{serverErrorDelay: '200ms..400ms'}"
        let sent = try rig.send()
        #expect(sent.summary.exitStatus == 0)
        #expect(sent.summary.outcomes.reduce(0) { $0 + $1.1 } == 1500)
        return refused.load(ordering: .relaxed)
    }

    /// B71: who has trouble gets less to do.
    @Test func aServerInTroubleGetsFewerRequestsFromAnAdaptiveRun() throws {
        let adaptive = try requestsInTrouble(.adaptive)
        let unlimited = try requestsInTrouble(.unlimited)
        #expect(unlimited >= 400)
        #expect(adaptive <= unlimited / 4)
    }
}
