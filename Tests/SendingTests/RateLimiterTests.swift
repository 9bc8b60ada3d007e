import Testing

@testable import Sending

@Suite struct RateLimiterTests {
    private let second: UInt64 = 1_000_000_000

    /// Requests that start in `ns`, when somebody asks every `stepNs`.
    private func requests(
        _ limiter: inout RateLimiter, from startNs: UInt64, forNs ns: UInt64, everyNs stepNs: UInt64
    ) -> Int {
        var count = 0
        for now in stride(from: startNs, to: startNs + ns, by: Int(stepNs)) {
            while limiter.allows(nowNs: now) {
                limiter.take(nowNs: now)
                count += 1
            }
        }
        return count
    }

    @Test(arguments: [1.0, 100, 1_000, 10_000, 50_000])
    func overASecondTheRateIsTheOneAskedFor(rate: Double) {
        var limiter = RateLimiter(perSecond: rate)
        _ = requests(&limiter, from: second, forNs: second, everyNs: second / 1000)
        let count = requests(&limiter, from: 2 * second, forNs: second, everyNs: second / 1000)
        #expect(abs(Double(count) - rate) <= max(1, rate / 100))
    }

    @Test func aLateCallerCatchesUpTwoMillisecondsAtMost() {
        var limiter = RateLimiter(perSecond: 1_000)
        limiter.take(nowNs: second)
        let burst = requests(&limiter, from: 10 * second, forNs: 1, everyNs: 1)
        #expect(burst == 3)  // the one that is due, and two for 2 ms
    }

    @Test func waitsExactlyUntilTheNextIsAllowed() {
        var limiter = RateLimiter(perSecond: 10)
        while limiter.allows(nowNs: second) { limiter.take(nowNs: second) }
        let wait = limiter.waitNs(nowNs: second)
        #expect(!limiter.allows(nowNs: second + wait - 2))
        #expect(limiter.allows(nowNs: second + wait))
    }

    @Test func theHeadStartsAtOnceAndTheRestAtTheRate() {
        var limiter = RateLimiter(perSecond: 100, head: 50)
        let burst = requests(&limiter, from: 10 * second, forNs: 1, everyNs: 1)
        #expect(burst == 51)  // and the one that is due
        let count = requests(
            &limiter, from: 10 * second + 1_000_000, forNs: second, everyNs: second / 1000)
        #expect(abs(count - 100) <= 1)
    }

    @Test func zeroMeansNoLimit() {
        var limiter = RateLimiter(perSecond: 0)
        for _ in 0..<1_000 {
            #expect(limiter.allows(nowNs: 0))
            limiter.take(nowNs: 0)
        }
        #expect(limiter.waitNs(nowNs: 0) == 0)
    }
}
