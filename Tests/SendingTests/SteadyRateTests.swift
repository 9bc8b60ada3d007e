import TestSupport
import Testing

@testable import Sending

/// The rate of a whole run, on a clock that moves by hand: workers that sleep in whole
/// milliseconds, as timers do, and wake up late by up to another one.
@Suite struct SteadyRateTests {
    private static let millisecondNs: UInt64 = 1_000_000
    private static let secondNs = 1_000 * millisecondNs

    struct Setting: CustomTestStringConvertible, Sendable {
        var rate: Double
        var workers: Int
        /// Connections of each worker with a limit of their own; 0: the run's rate alone limits.
        var connections = 0

        var testDescription: String {
            "\(Int(rate)) per second, \(workers) workers, \(connections) limited connections each"
        }
    }

    static let settings = [1_000.0, 10_000, 50_000].flatMap { rate in
        [1, 2].flatMap { workers in
            [0, 2].map { Setting(rate: rate, workers: workers, connections: $0) }
        }
    }

    @Test(arguments: settings)
    func anySecondIsWithinOnePerCentAndAnyTenMillisecondsWithinTwenty(_ setting: Setting) {
        let times = startTimes(setting, forNs: 5 * Self.secondNs / 2)
        let interval = 1e9 / setting.rate

        let seconds = deviations(of: times, inWindowsOf: Self.secondNs, rate: setting.rate)
        #expect(seconds.max()! <= setting.rate * 0.01)
        // Each worker has at most one request more or less in a window than its rate says, besides
        // what its lateness moves across the edges; at 1,000 per second 2 of 10 are just that.
        let short = deviations(of: times, inWindowsOf: 10 * Self.millisecondNs, rate: setting.rate)
        let within = short.count { $0 <= max(setting.rate * 0.01 * 0.2, 2) + 1e-6 }
        #expect(within * 100 >= short.count * 99)

        // A token bucket of the same rate that holds 2 ms, and one request of each limiter.
        let limiters = Double(setting.workers * max(setting.connections, 1))
        var dueNs = 0.0
        var largestNs = 0.0
        for time in times {
            largestNs = max(largestNs, dueNs - Double(time))
            dueNs = max(dueNs, Double(time)) + interval
        }
        #expect(largestNs <= RateLimiter.burstNs + limiters * interval + 1)
    }

    /// When requests start, from the second on in which the limiters have settled.
    private func startTimes(_ setting: Setting, forNs durationNs: UInt64) -> [UInt64] {
        var times: [UInt64] = []
        for worker in 0..<setting.workers {
            var random = SeededGenerator(seed: testSeed &+ UInt64(worker))
            let share = setting.rate / Double(setting.workers)
            var limiters = (0..<max(setting.connections, 1)).map { _ in
                RateLimiter(perSecond: share / Double(max(setting.connections, 1)))
            }
            // Workers do not start together.
            var now = Self.secondNs + UInt64.random(in: 0..<Self.millisecondNs, using: &random)
            let end = now + durationNs
            while now < end {
                for index in limiters.indices {
                    while limiters[index].allows(nowNs: now) {
                        limiters[index].take(nowNs: now)
                        times.append(now)
                    }
                }
                let waitNs = limiters.map { $0.waitNs(nowNs: now) }.min()!
                let wholeMs = (waitNs + Self.millisecondNs - 1) / Self.millisecondNs
                now +=
                    wholeMs * Self.millisecondNs
                    + UInt64.random(in: 0..<Self.millisecondNs, using: &random)
            }
        }
        return times.sorted()
    }

    /// How far the counts of windows are from the rate, at every millisecond.
    private func deviations(
        of times: [UInt64], inWindowsOf windowNs: UInt64, rate: Double
    ) -> [Double] {
        let expected = rate * Double(windowNs) / 1e9
        var result: [Double] = []
        var first = 0
        var end = 0
        for start in stride(
            from: times[0] + Self.secondNs, to: times.last! - windowNs - 5 * Self.millisecondNs,
            by: Int(Self.millisecondNs))
        {
            while times[first] < start { first += 1 }
            while times[end] < start + windowNs { end += 1 }
            result.append(abs(Double(end - first) - expected))
        }
        return result
    }
}
