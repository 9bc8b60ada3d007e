import Testing

@testable import Load

struct LoadScheduleTests {
    private static let secondNs: UInt64 = 1_000_000_000

    @Test func aConstantRateIsEven() {
        let schedule = LoadSchedule(rate: 1000, durationNs: 3 * Self.secondNs)
        #expect(schedule.requestCount == 3000)
        for index: UInt64 in [0, 1, 2, 999, 1000, 2999] {
            #expect(abs(Int64(schedule.plannedNs(index)) - Int64(index * 1_000_000)) <= 1)
        }
    }

    /// From 0 to T at a to b per second there are (a + b) ÷ 2 · T requests, and in the first t
    /// seconds a·t + (b − a)·t² ÷ 2T.
    @Test(arguments: [(1000.0, 20_000.0), (20_000.0, 1000.0), (1.0, 3.0)])
    func aRampHasTheIntegralOfItsRate(from: Double, to: Double) {
        let schedule = LoadSchedule(fromRate: from, toRate: to, durationNs: 30 * Self.secondNs)
        #expect(schedule.requestCount == UInt64((from + to) / 2 * 30))
        for seconds in [1.0, 7.5, 15, 29] {
            let expected = from * seconds + (to - from) * seconds * seconds / 60
            let count = schedule.count(untilNs: UInt64(seconds * 1e9))
            #expect(abs(Double(count) - expected) <= 1)
        }
    }

    @Test func aRampHasItsMeanRateInTheMiddle() {
        let schedule = LoadSchedule(fromRate: 100, toRate: 300, durationNs: 10 * Self.secondNs)
        // Around the middle of the time the rate is 200, so requests are 5 ms apart.
        let middle = schedule.count(untilNs: 5 * Self.secondNs)
        let gap = schedule.plannedNs(middle + 1) - schedule.plannedNs(middle)
        #expect((4_950_000...5_050_000).contains(gap))
    }

    @Test(arguments: [(1.0, 1.0), (333.0, 333.0), (1000.0, 10.0), (7.0, 100_000.0), (0.5, 0.5)])
    func timesRiseAndEndWithinTheDuration(from: Double, to: Double) {
        let schedule = LoadSchedule(fromRate: from, toRate: to, durationNs: 4 * Self.secondNs)
        var last: UInt64 = 0
        for index in 0..<schedule.requestCount {
            let ns = schedule.plannedNs(index)
            #expect(ns >= last)
            last = ns
        }
        #expect(last < schedule.durationNs)
        #expect(schedule.plannedNs(schedule.requestCount) >= schedule.durationNs - 1)
    }

    /// What is due at a time is what was planned before it.
    @Test func countAndTimesAgree() {
        let schedule = LoadSchedule(fromRate: 50, toRate: 950, durationNs: 2 * Self.secondNs)
        for index: UInt64 in 1..<schedule.requestCount {
            let ns = schedule.plannedNs(index)
            #expect(schedule.count(untilNs: ns + 2) == index + 1)
            #expect(schedule.count(untilNs: ns - 2) == index)
        }
    }

    @Test func theRateOfARampIsTheLineBetweenItsEnds() {
        let schedule = LoadSchedule(fromRate: 100, toRate: 300, durationNs: 10 * Self.secondNs)
        #expect(schedule.rate(atNs: 0) == 100)
        #expect(abs(schedule.rate(atNs: 5 * Self.secondNs) - 200) < 1e-9)
        #expect(abs(schedule.rate(atNs: .max) - 300) < 1e-9)
    }

    @Test func nothingIsDueBeforeTheStartOrAfterTheEnd() {
        let schedule = LoadSchedule(rate: 10, durationNs: Self.secondNs)
        #expect(schedule.count(untilNs: 0) == 0)
        #expect(schedule.count(untilNs: .max) == 10)
    }

    @Test func aFractionOfARequestIsOne() {
        #expect(LoadSchedule(rate: 0.1, durationNs: Self.secondNs).requestCount == 1)
    }
}
