/// How many notifications were accepted when: counts in buckets of equal width, which doubles when
/// there would be too many of them. So a run of any length takes the same room.
///
/// Time is that of the run's starts, one behind the other; the pauses between them are left out.
package struct RateSeries: Sendable, Equatable {
    /// Finer than a picture of the whole run can show, and a few KiB in the checkpoint.
    package static let bucketsMax = 600
    /// Past this (30,000 years) seconds are no time of a run.
    private static let secondsMax = 1e12

    /// The width of a bucket; a power of two.
    package private(set) var bucketSeconds: UInt64 = 1
    /// From the start on, one behind the other.
    package private(set) var counts: [UInt64] = []

    package init() {}

    /// Nil for what no series is.
    init?(bucketSeconds: UInt64, counts: [UInt64]) {
        guard bucketSeconds > 0, bucketSeconds & (bucketSeconds - 1) == 0,
            bucketSeconds <= UInt64(Self.secondsMax), counts.count <= Self.bucketsMax
        else { return nil }
        self.bucketSeconds = bucketSeconds
        self.counts = counts
    }

    /// Adds what was accepted between two looks, spread evenly over the time between them: a look
    /// comes late when the disk is slow, and a late look is no peak.
    package mutating func add(_ count: UInt64, from: Double, to: Double) {
        guard from >= 0, to >= from, to < Self.secondsMax else { return }
        while bucket(of: to) >= Self.bucketsMax { doubleWidth() }
        let last = bucket(of: to)
        while counts.count <= last { counts.append(0) }
        var done: UInt64 = 0
        for index in min(bucket(of: from), last)...last {
            let end = Double(index + 1) * Double(bucketSeconds)
            let share = index == last ? 1 : (end - from) / (to - from)
            let upTo = index == last ? count : min(count, UInt64(Double(count) * share))
            counts[index] &+= upTo - min(done, upTo)
            done = max(done, upTo)
        }
    }

    /// Accepted per second, by bucket, of a run that has taken `seconds` in all. Its last bucket is
    /// shorter; one that has hardly begun would show a rate that never was, so it belongs to the
    /// one before.
    package func rates(seconds: Double) -> [Double] {
        let width = Double(bucketSeconds)
        var counts = counts
        if counts.count > 1, seconds - Double(counts.count - 1) * width < width / 2 {
            let sliver = counts.removeLast()
            counts[counts.count - 1] &+= sliver
        }
        return counts.enumerated().map { index, count in
            let isLast = index == counts.count - 1
            let covered = isLast ? seconds - Double(index) * width : width
            return Double(count) / max(covered, 0.001)
        }
    }

    private func bucket(of seconds: Double) -> Int { Int(seconds / Double(bucketSeconds)) }

    private mutating func doubleWidth() {
        counts = stride(from: 0, to: counts.count, by: 2).map { index in
            counts[index] &+ (index + 1 < counts.count ? counts[index + 1] : 0)
        }
        bucketSeconds *= 2
    }
}
