internal import Glibc
internal import Synchronization

/// Counts of latencies in buckets whose width grows with the value: 32 to each power of two, so
/// that any percentile is right within 3.2 %.
///
/// The arithmetic of `Measure`'s `HistogramScale`, once more: a worker does it for each answer, and
/// a call into another module costs more than the arithmetic.
///
/// Units: microseconds. Values past the last bucket (over an hour) count as the last one; the exact
/// maximum is kept beside.
struct LatencyHistogram: Sendable {
    private static let subBucketBits = 5
    static let bucketCount = (33 - subBucketBits) << subBucketBits
    /// By bucket.
    private(set) var counts: [UInt64]
    private(set) var maxMicroseconds: UInt64

    init() { self.init(counts: Array(repeating: 0, count: Self.bucketCount), maxMicroseconds: 0) }

    /// - Parameter counts: one for each bucket.
    init(counts: [UInt64], maxMicroseconds: UInt64) {
        precondition(counts.count == Self.bucketCount)
        self.counts = counts
        self.maxMicroseconds = maxMicroseconds
    }

    var count: UInt64 { counts.reduce(0, +) }

    mutating func add(_ other: LatencyHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        maxMicroseconds = max(maxMicroseconds, other.maxMicroseconds)
    }

    /// The smallest recorded bucket bound that `share` (0…1) of the values do not exceed; 0 when
    /// empty.
    func percentile(_ share: Double) -> UInt64 {
        let count = self.count
        guard count > 0 else { return 0 }
        let rank = max(1, UInt64((share * Double(count)).rounded(.up)))
        var seen: UInt64 = 0
        for (index, bucketCount) in counts.enumerated() {
            seen += bucketCount
            if seen >= rank { return min(Self.upperBound(of: index), maxMicroseconds) }
        }
        return maxMicroseconds
    }

    /// Values under 32 have a bucket each; above, the five bits after the leading one choose it.
    static func bucket(of value: UInt64) -> Int {
        guard value >= 1 << subBucketBits else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount - subBucketBits
        return min((exponent << subBucketBits) + Int(value >> UInt64(exponent)), bucketCount - 1)
    }

    private static func upperBound(of index: Int) -> UInt64 {
        guard index >= 2 << subBucketBits else { return UInt64(index) }
        let exponent = (index >> subBucketBits) - 1
        let mantissa = UInt64(index & ((1 << subBucketBits) - 1) | (1 << subBucketBits))
        return ((mantissa + 1) << UInt64(exponent)) - 1
    }
}

/// The latencies of one worker, which records them; any thread may look.
///
/// Each cell has a single writer, so it is a plain load and store (relaxed). Fixed memory, no
/// allocation when recording.
package final class LatencyRecorder: @unchecked Sendable {
    // @unchecked: atomic cells behind a pointer that never changes.
    private typealias Cell = Atomic<UInt64>
    /// One per bucket, and the maximum as the last.
    private static let cellCount = LatencyHistogram.bucketCount + 1
    private let cells: UnsafeMutablePointer<Cell>

    /// Makes an empty one.
    package init() {
        cells = .allocate(capacity: Self.cellCount)
        for index in 0..<Self.cellCount { (cells + index).initialize(to: Cell(0)) }
    }

    deinit {
        cells.deinitialize(count: Self.cellCount)
        cells.deallocate()
    }

    /// Counts one latency.
    package func record(microseconds: UInt64) {
        let cell = cells + LatencyHistogram.bucket(of: microseconds)
        cell.pointee.store(cell.pointee.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        let longest = cells + LatencyHistogram.bucketCount
        if microseconds > longest.pointee.load(ordering: .relaxed) {
            longest.pointee.store(microseconds, ordering: .relaxed)
        }
    }

    /// What was recorded up to now.
    var histogram: LatencyHistogram {
        LatencyHistogram(
            counts: (0..<LatencyHistogram.bucketCount).map { cells[$0].load(ordering: .relaxed) },
            maxMicroseconds: cells[LatencyHistogram.bucketCount].load(ordering: .relaxed))
    }
}
