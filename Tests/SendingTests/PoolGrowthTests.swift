import Testing

@testable import Sending

/// When a pool gets another connection, on a clock that is moved by hand.
struct PoolGrowthTests {
    private static let tickNs: UInt64 = 100_000_000

    /// Seconds at which a pool grows that starts with four connections, of which each answers
    /// `perConnection` requests a second until all together answer `serverMax`.
    private func growthTimes(
        _ limit: (Double) -> PoolGrowth.Limit = { _ in .window }, addedMax: Int = 28,
        perConnection: Double = 200, serverMax: Double = .infinity, seconds: Double
    ) -> [Double] {
        var growth = PoolGrowth(addedMax: addedMax)
        var answers = 0.0
        var times: [Double] = []
        for tick in 0..<Int(seconds * 10) {
            let time = Double(tick) / 10
            let connections = 4 + growth.added
            answers += min(Double(connections) * perConnection, serverMax) / 10
            let hasGrown = growth.observe(
                limit(time), answers: UInt64(answers), connections: connections,
                nowNs: UInt64(tick + 1) * Self.tickNs)
            if hasGrown { times.append(time) }
        }
        return times
    }

    /// B89: a window of 64 KiB carries one window per round trip; more connections carry more.
    @Test(arguments: [PoolGrowth.Limit.window, .streams])
    func aPoolThatIsTooSmallForTheServersLimitsGrowsByOneASecond(limit: PoolGrowth.Limit) {
        let times = growthTimes({ _ in limit }, seconds: 5.5)
        #expect(times == [1, 2, 3, 4, 5])
    }

    @Test(arguments: [PoolGrowth.Limit.rate, .input, .other])
    func nothingElseMakesItGrow(limit: PoolGrowth.Limit) {
        #expect(growthTimes({ _ in limit }, seconds: 60) == [])
    }

    /// Bursts of less than a second are none of its business; now and then a moment of room is.
    @Test func theLimitMustHoldForASecondOrSo() {
        #expect(growthTimes({ Int($0 * 10) % 12 >= 9 ? .other : .streams }, seconds: 60) == [])
        #expect(growthTimes({ Int($0 * 10) % 8 == 7 ? .other : .streams }, seconds: 10).count >= 4)
    }

    @Test func itEndsAtItsMaximum() {
        #expect(growthTimes(addedMax: 3, seconds: 60).count == 3)
        #expect(growthTimes(addedMax: 0, seconds: 60) == [])
    }

    /// A server that is busy answers no more for being asked on more connections.
    @Test func itRestsWhenMoreBringsNothing() {
        #expect(growthTimes(serverMax: 800, seconds: 60) == [1])
        #expect(growthTimes(serverMax: 1000, seconds: 60) == [1, 2])
    }

    @Test func aServerThatAnswersNothingGetsNoMore() {
        #expect(growthTimes(perConnection: 0, seconds: 60) == [])
    }
}
