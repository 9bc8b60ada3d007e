import TestSupport
import Testing

@testable import Sending

/// When a worker connects again, and when it gives up; on a clock that is moved by hand.
struct ConnectFailuresTests {
    private static let second: UInt64 = 1_000_000_000
    private static let startNs = 1_000 * second

    /// B32, B70: an outage costs itself and 2 s at most, however long it was.
    @Test(arguments: [UInt64(1), 30, 300, 890])
    func anOutageCostsHardlyMoreThanItself(seconds: UInt64) {
        var random = SeededGenerator(seed: testSeed)
        var failures = ConnectFailures()
        var nowNs = Self.startNs
        let backNs = nowNs + seconds * Self.second
        var attempts = 0
        while nowNs < backNs {
            attempts += 1
            let verdict = failures.count(
                Int32(attempts), .noAnswer, nowNs: nowNs, lastAnswerNs: Self.startNs - 1,
                using: &random)
            guard case .again(let waitNs) = verdict else {
                Issue.record("given up after \(attempts) attempts")
                return
            }
            #expect(failures.nextAttemptNs == nowNs + waitNs)
            nowNs += waitNs
        }
        #expect(nowNs <= backNs + 2 * Self.second)
        // Waits up to 2 s, evenly spread: about one attempt a second, and some more at the start.
        #expect(UInt64(attempts) <= seconds * 2 + 12)
    }

    /// B70: full jitter spreads the attempts of many senders over all of the time.
    @Test func theWaitsAreSpread() {
        var random = SeededGenerator(seed: testSeed)
        let waitsMs = (0..<1_000).map { _ in
            var failures = ConnectFailures()
            var waitNs: UInt64 = 0
            for id in 0..<8 {
                let verdict = failures.count(
                    Int32(id), .noAnswer, nowNs: Self.startNs, lastAnswerNs: Self.startNs,
                    using: &random)
                if case .again(let ns) = verdict { waitNs = ns }
            }
            return waitNs / 1_000_000
        }
        // A quarter of a thousand, give or take 5.8 standard deviations of 13.7.
        for quarter in stride(from: UInt64(0), to: 2_000, by: 500) {
            let count = waitsMs.count { (quarter..<quarter + 500).contains($0) }
            #expect((170...330).contains(count))
        }
    }

    @Test func anOutageOfAQuarterOfAnHourIsGivenUp() {
        var random = SeededGenerator(seed: testSeed)
        var failures = ConnectFailures()
        let answeredNs = Self.startNs + 5 * Self.second  // another worker's
        func fail(_ id: Int32, afterSeconds seconds: UInt64) -> ConnectFailures.Verdict {
            failures.count(
                id, .noAnswer, nowNs: Self.startNs + seconds * Self.second,
                lastAnswerNs: answeredNs, using: &random)
        }
        for seconds in stride(from: UInt64(0), through: 905, by: 5) {
            guard case .again = fail(Int32(seconds), afterSeconds: seconds) else {
                Issue.record("given up after \(seconds) s")
                return
            }
        }
        #expect(fail(1_000, afterSeconds: 906) == .giveUp(sinceNs: answeredNs))
    }

    /// A pause without rows is no outage: the time counts from the first failure.
    @Test func aLongPauseBeforeTheFirstFailureDoesNotCount() {
        var random = SeededGenerator(seed: testSeed)
        var failures = ConnectFailures()
        let verdict = failures.count(
            1, .noAnswer, nowNs: Self.startNs + 5_000 * Self.second, lastAnswerNs: Self.startNs,
            using: &random)
        guard case .again = verdict else {
            Issue.record("given up at the first failure")
            return
        }
    }

    @Test func aServerThatNeverAnsweredIsGivenUpAfterThreeAttempts() {
        var random = SeededGenerator(seed: testSeed)
        var failures = ConnectFailures()
        var verdicts: [ConnectFailures.Verdict] = []
        for id in 1...3 {
            verdicts.append(
                failures.count(
                    Int32(id), .noAnswer, nowNs: Self.startNs, lastAnswerNs: 0, using: &random))
        }
        #expect(verdicts.prefix(2).allSatisfy { $0 != .giveUp(sinceNs: nil) })
        #expect(verdicts[2] == .giveUp(sinceNs: nil))
        var others = ConnectFailures()
        #expect(
            others.count(1, .hopeless, nowNs: Self.startNs, lastAnswerNs: 0, using: &random)
                == .giveUp(sinceNs: nil))
    }

    @Test func onlyANewerConnectionsAnswerEndsARowOfFailures() {
        var random = SeededGenerator(seed: testSeed)
        var failures = ConnectFailures()
        _ = failures.count(7, .noAnswer, nowNs: 1, lastAnswerNs: 1, using: &random)
        failures.connectionAnswered(6)
        #expect(failures.inARow == 1)
        failures.connectionAnswered(8)
        #expect(failures.inARow == 0)
    }

    /// B36: refusals spend no attempt; a server that has answered before may refuse all the same.
    @Test func threeConnectionsThatRefuseEverythingAreEnough() {
        var random = SeededGenerator(seed: testSeed)
        var failures = ConnectFailures()
        func refuse(_ id: Int32, lastAnswerNs: UInt64) -> ConnectFailures.Verdict {
            failures.count(
                id, .refused, nowNs: UInt64(id) * 100, lastAnswerNs: lastAnswerNs, using: &random)
        }
        #expect(refuse(1, lastAnswerNs: 50) != .giveUp(sinceNs: nil))
        #expect(refuse(2, lastAnswerNs: 50) != .giveUp(sinceNs: nil))
        #expect(refuse(3, lastAnswerNs: 250) != .giveUp(sinceNs: nil))  // an answer between
        #expect(refuse(4, lastAnswerNs: 250) != .giveUp(sinceNs: nil))
        #expect(refuse(5, lastAnswerNs: 250) == .giveUp(sinceNs: nil))
    }
}
