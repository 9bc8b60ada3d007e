/// When each request of a load test is to be sent: fixed before the first one, and independent of
/// every answer (an open loop).
///
/// The rate changes linearly from `fromRate` to `toRate`; the two are equal for a constant one.
/// Requests count from 0. Time is in nanoseconds since the start of the test.
package struct LoadSchedule: Sendable, Equatable {
    /// Requests per second at the start and at the end.
    package let fromRate: Double
    package let toRate: Double
    package let durationNs: UInt64
    /// Half of the rate's change per second: its integral is `fromRate * t + halfSlope * t²`.
    private let halfSlope: Double

    /// *Limits*: rates above 0, a duration above 0.
    package init(fromRate: Double, toRate: Double, durationNs: UInt64) {
        precondition(fromRate > 0 && toRate > 0 && durationNs > 0)
        self.fromRate = fromRate
        self.toRate = toRate
        self.durationNs = durationNs
        halfSlope = (toRate - fromRate) / (Double(durationNs) / 1e9) / 2
    }

    /// The same rate from start to end.
    package init(rate: Double, durationNs: UInt64) {
        self.init(fromRate: rate, toRate: rate, durationNs: durationNs)
    }

    package var peakRate: Double { max(fromRate, toRate) }

    /// The rate at a time.
    package func rate(atNs ns: UInt64) -> Double {
        fromRate + 2 * halfSlope * Double(min(ns, durationNs)) / 1e9
    }

    /// Requests of the whole test.
    package var requestCount: UInt64 { count(untilNs: durationNs) }

    /// When request `index` is due: the time at which the rate's integral reaches it. The form of
    /// the solution that neither divides by the slope nor subtracts like from like.
    package func plannedNs(_ index: UInt64) -> UInt64 {
        let number = Double(index)
        let root = (fromRate * fromRate + 4 * halfSlope * number).squareRoot()
        return UInt64(2 * number / (fromRate + root) * 1e9)
    }

    /// How many requests are due before `ns`.
    package func count(untilNs ns: UInt64) -> UInt64 {
        let seconds = Double(min(ns, durationNs)) / 1e9
        let integral = (fromRate + halfSlope * seconds) * seconds
        // A whole number that rounding has made a hair larger is not one request more.
        return UInt64((integral * (1 - 1e-12)).rounded(.up))
    }
}
