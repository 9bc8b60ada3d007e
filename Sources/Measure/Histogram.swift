internal import Glibc

/// Counts of values by bucket, and what can be said of them: percentiles, mean, spread.
///
/// Percentiles are the upper bounds of buckets, and so never too small; the largest value is exact.
package struct Histogram: Sendable {
    package let scale: HistogramScale
    /// By bucket.
    package private(set) var counts: [UInt64]
    /// How many values there are.
    package private(set) var count: UInt64 = 0
    package private(set) var max: UInt64 = 0
    /// The sum of the values as they were; wraps no sooner than after 584 years of nanoseconds.
    private var sum: UInt64 = 0

    package init(_ scale: HistogramScale) {
        self.scale = scale
        counts = Array(repeating: 0, count: scale.bucketCount)
    }

    /// Adds what a recorder holds. *Limits*: of the same scale.
    package mutating func add(_ recorder: HistogramRecorder) {
        precondition(recorder.scale == scale)
        guard recorder.count > 0 else { return }
        for bucket in recorder.usedBuckets { counts[bucket] += recorder.count(at: bucket) }
        count += recorder.count
        sum &+= recorder.sum
        max = Swift.max(max, recorder.max)
    }

    /// Adds the values of another histogram of the same scale.
    package mutating func add(_ other: Histogram) {
        precondition(other.scale == scale)
        for bucket in counts.indices { counts[bucket] += other.counts[bucket] }
        count += other.count
        sum &+= other.sum
        max = Swift.max(max, other.max)
    }

    /// The value that `share` (0…1) of the values do not exceed; 0 when there are none.
    package func percentile(_ share: Double) -> UInt64 {
        let rank = Swift.max(1, UInt64((share * Double(count)).rounded(.up)))
        var seen: UInt64 = 0
        for bucket in counts.indices {
            seen += counts[bucket]
            if seen >= rank { return Swift.min(scale.upperBound(of: bucket), max) }
        }
        return max
    }

    /// 0 when there are no values.
    package var mean: Double { count == 0 ? 0 : Double(sum) / Double(count) }

    /// The square root of the mean squared distance from the mean, each value taken as the middle
    /// of its bucket; 0 when there are no values.
    package var standardDeviation: Double {
        guard count > 0 else { return 0 }
        var squares = 0.0
        for bucket in counts.indices where counts[bucket] > 0 {
            let middle =
                Double(scale.lowerBound(of: bucket)) / 2 + Double(scale.upperBound(of: bucket)) / 2
            squares += Double(counts[bucket]) * (middle - mean) * (middle - mean)
        }
        return (squares / Double(count)).squareRoot()
    }
}

/// Where one thread counts values: fixed memory, no allocation and no lock when recording.
///
/// *Thread*: one.
package final class HistogramRecorder {
    package let scale: HistogramScale
    /// Owned: one for each bucket.
    private let counts: UnsafeMutablePointer<UInt64>
    package private(set) var count: UInt64 = 0
    package private(set) var max: UInt64 = 0
    private(set) var sum: UInt64 = 0
    private var lowest = Int.max
    private var highest = -1

    package init(_ scale: HistogramScale) {
        self.scale = scale
        counts = .allocate(capacity: scale.bucketCount)
        counts.initialize(repeating: 0, count: scale.bucketCount)
    }

    deinit { counts.deallocate() }

    /// Counts one value.
    package func record(_ value: UInt64) {
        let bucket = scale.bucket(of: value)
        counts[bucket] += 1
        count += 1
        sum &+= value
        if value > max { max = value }
        if bucket < lowest { lowest = bucket }
        if bucket > highest { highest = bucket }
    }

    /// Forgets everything.
    package func reset() {
        for bucket in usedBuckets { counts[bucket] = 0 }
        (count, max, sum, lowest, highest) = (0, 0, 0, .max, -1)
    }

    /// The buckets outside of which nothing is counted.
    var usedBuckets: Range<Int> { highest < 0 ? 0..<0 : lowest..<highest + 1 }

    func count(at bucket: Int) -> UInt64 { counts[bucket] }
}

@available(*, unavailable) extension HistogramRecorder: Sendable {}
