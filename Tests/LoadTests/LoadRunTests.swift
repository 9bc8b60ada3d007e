import Crypto
import Foundation
import Measure
import MockAPNS
import TestSupport
import Testing
import Transport

@testable import Load

@Suite(.timeLimit(.minutes(5))) struct LoadRunTests {
    private static let secondNs: UInt64 = 1_000_000_000

    @Test func everyRequestOfTheScheduleIsSentOnce() throws {
        var rig = try LoadRig(LoadSchedule(rate: 2000, durationNs: Self.secondNs))
        rig.options.connections = 3
        rig.options.threads = 2
        let summary = try rig.run()
        #expect(summary.end == .completed)
        #expect(summary.planned == 2000)
        #expect(summary.accepted + summary.notSent == 2000)
        #expect(try rig.acceptedByServer() == Int(summary.accepted + summary.warmUps))
        #expect(summary.warmUps == 3)
        #expect(summary.connectionsOpened == 3)
        #expect(summary.askedPerSecond == 2000)
    }

    /// The classic test of coordinated omission. At 1,000 a second over ten streams, ten requests
    /// are answered a second late: the thousand that are planned meanwhile cannot go out. A tester
    /// that waits for answers would see ten slow requests. In truth those of the stalled second
    /// wait 1 s to 0 s, half a second on average, and only latency may show it: in flight were
    /// ten.
    @Test func aServerThatStallsCannotHideIt() throws {
        var rig = try LoadRig(LoadSchedule(rate: 1000, durationNs: 3 * Self.secondNs))
        let slow = (1000..<1010 as Range<UInt64>).map { "latency=1s token=\(rig.token($0))" }
        rig = try LoadRig(rig.options.schedule, faults: slow)
        rig.options.streams = 10
        let started = ContinuousClock.now
        let summary = try rig.run()
        let took = (ContinuousClock.now - started) / .seconds(1)
        #expect(summary.accepted == 3000)
        // The sum of what 1,000 requests wait, by arithmetic: the sum of 1…1,000 ms. The last of
        // the ten goes out 9 ms after the first, so that not one of them can have less.
        let waited = summary.latency.mean * 3000 / 1e9
        #expect(waited >= 500)
        // Half of the stalled second's requests waited for half a second or more.
        #expect(summary.latency.percentile(1 - 500.0 / 3000) >= 499_000_000)
        #expect(summary.latency.max >= Self.secondNs)
        // Never more than ten were in flight, so their times add up to ten times the test's at
        // most.
        #expect(summary.service.mean * 3000 / 1e9 <= 10 * took)
        #expect(summary.service.max >= Self.secondNs)
        #expect(summary.blockedSeconds[Obstacle.streams.rawValue] >= 0.99)
    }

    /// Two streams with answers after 100 ms give 20 a second at most; 200 are asked for.
    @Test func aRateThatTheStreamsDoNotAllowIsNotReached() throws {
        var rig = try LoadRig(
            LoadSchedule(rate: 200, durationNs: Self.secondNs), faults: ["latency=100ms"])
        rig.options.streams = 2
        let summary = try rig.run()
        #expect(!summary.isRateReached)
        #expect(summary.achievedPerSecond <= 25)
        #expect(summary.planned == 200)
        #expect(summary.notSent > 100)
        #expect(summary.blockedSeconds[Obstacle.streams.rawValue] > 0.5)
        #expect(summary.rateBeforeLate == 200)
        // The last one that went out had waited since the first second.
        #expect(summary.lag.max > 500_000_000)
    }

    @Test func answersWithErrorsAreCountedByReasonAndApart() throws {
        let rig = try LoadRig(
            LoadSchedule(rate: 400, durationNs: Self.secondNs),
            faults: ["status=503 reason=ServiceUnavailable every=2"])
        let summary = try rig.run()
        let unavailable = summary.failures.first { $0.reason == "ServiceUnavailable" }
        #expect(unavailable?.status == 503)
        #expect((unavailable?.count ?? 0) >= 150)
        #expect(summary.failedLatency.count == unavailable?.count)
        #expect(!summary.isRateReached)
        #expect(summary.shortfall == .serverErrors)
    }

    /// GOAWAY moves what was not processed to another connection.
    @Test func aConnectionThatGoesAwayIsReplacedAndNothingIsLost() throws {
        let rig = try LoadRig(
            LoadSchedule(rate: 1000, durationNs: 2 * Self.secondNs),
            faults: ["goaway=now unprocessed=3 every=400 times=3"])
        let summary = try rig.run()
        #expect(summary.failed == 0)
        #expect(summary.accepted + summary.notSent == 2000)
        #expect(summary.connectionsGoAway == 3)
        #expect(summary.connectionsOpened == 4)
    }

    @Test func requestsThatAreRefusedGoAgain() throws {
        let rig = try LoadRig(
            LoadSchedule(rate: 500, durationNs: Self.secondNs),
            faults: ["reset=REFUSED_STREAM every=10"])
        let summary = try rig.run()
        #expect(summary.again >= 40)
        #expect(summary.failed == 0)
    }

    @Test func theLastRequestGoesAgainToo() throws {
        var rig = try LoadRig(LoadSchedule(rate: 100, durationNs: Self.secondNs))
        let last = rig.token(99)
        rig = try LoadRig(
            rig.options.schedule, faults: ["reset=REFUSED_STREAM token=\(last) times=2"])
        let summary = try rig.run()
        #expect(summary.accepted == 100)
        #expect(summary.again == 2)
    }

    @Test func aRequestThatIsNeverAnsweredIsGivenUpAndCounted() throws {
        var rig = try LoadRig(LoadSchedule(rate: 100, durationNs: Self.secondNs))
        rig = try LoadRig(rig.options.schedule, faults: ["silence token=\(rig.token(50))"])
        rig.options.requestMsMax = 2000
        let summary = try rig.run()
        let silent = summary.failures.first { $0.reason == "Timeout" }
        #expect(silent?.status == 0)
        #expect((silent?.count ?? 0) >= 1)
    }

    @Test func aServerThatRefusesTheProviderTokenEndsTheTest() throws {
        let rig = try LoadRig(
            LoadSchedule(rate: 100, durationNs: Self.secondNs), serverKey: try .generate())
        let summary = try rig.run()
        guard case .failed(let why) = summary.end else { throw Unexpected("\(summary.end)") }
        #expect(why.contains("InvalidProviderToken"))
        #expect(summary.sent == 0)
        #expect(summary.planned == 0)
    }

    @Test func aServerThatIsNotThereEndsTheTest() throws {
        let rig = try LoadRig(LoadSchedule(rate: 100, durationNs: Self.secondNs))
        rig.server.stop()
        let summary = try rig.run()
        guard case .failed(let why) = summary.end else { throw Unexpected("\(summary.end)") }
        #expect(why.contains("cannot connect"))
    }

    @Test func aServerThatIsGoneForLongEndsTheTestWithWhatWasMeasured() throws {
        var rig = try LoadRig(LoadSchedule(rate: 200, durationNs: 3600 * Self.secondNs))
        rig.options.outageMsMax = 200
        let summary = try rig.run(withoutServerAfter: 50)
        guard case .failed(let why) = summary.end else { throw Unexpected("\(summary.end)") }
        #expect(why.contains("cannot connect"))
        #expect(summary.accepted >= 50)
        #expect(summary.connectionsLost + summary.connectionsGoAway == 1)
        #expect(summary.blockedSeconds[Obstacle.connection.rawValue] > 0)
    }

    /// The address is looked at again where it is used, whatever was looked up before.
    @Test(arguments: ["192.0.2.1", "17.188.143.34"])
    func anAddressThatMayNotBeUsedGetsNoPacket(host: String) throws {
        var rig = try LoadRig(LoadSchedule(rate: 100, durationNs: Self.secondNs))
        rig.options.endpoint = Endpoint(host: host, port: 443)
        let summary = try rig.run()
        guard case .failed(let why) = summary.end else { throw Unexpected("\(summary.end)") }
        #expect(why.contains("a load test"))
        #expect(summary.connectionsOpened == 0)
    }

    @Test func applesHostsAreRefusedBeforeAnythingStarts() throws {
        var rig = try LoadRig(LoadSchedule(rate: 100, durationNs: Self.secondNs))
        rig.options.target = LoadTarget(isOwned: true)
        rig.options.endpoint = Endpoint(host: "API.sandbox.push.apple.com.", port: 443)
        let error = #expect(throws: LoadError.self) { try rig.run() }
        #expect(error?.kind == .refused)
    }

    @Test func moreThreadsThanConnectionsAreRefused() throws {
        var rig = try LoadRig(LoadSchedule(rate: 100, durationNs: Self.secondNs))
        rig.options.threads = 2
        let error = #expect(throws: LoadError.self) { try rig.run() }
        #expect(error?.description.contains("--threads") == true)
    }

    /// Stops in the first minute of an hour: what was due by then is the plan.
    @Test func anInterruptedTestSumsUpWhatWasMeasured() throws {
        let rig = try LoadRig(LoadSchedule(rate: 200, durationNs: 3600 * Self.secondNs))
        let summary = try rig.run(interruptedAfter: 50)
        #expect(summary.end == .interrupted)
        #expect(summary.accepted >= 50)
        #expect(summary.elapsedNs < 100 * Self.secondNs)
        #expect(abs(summary.askedPerSecond - 200) < 20)
    }

    private struct Unexpected: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }
}
