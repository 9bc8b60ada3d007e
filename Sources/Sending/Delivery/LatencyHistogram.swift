internal import Glibc

/// Counts of latencies in buckets whose width grows with the value: 32 to each power of two, so
/// that any percentile is right within 3.2 %. Fixed memory, no allocation when recording.
///
/// Units: microseconds. Values past the last bucket (over an hour) count as the last one; the exact
/// maximum is kept beside.
struct LatencyHistogram: Sendable {
    private static let subBucketBits = 5
    private static let bucketCount = (33 - subBucketBits) << subBucketBits
    private var counts = [UInt64](repeating: 0, count: bucketCount)
    private(set) var maxMicroseconds: UInt64 = 0
    private(set) var count: UInt64 = 0

    mutating func record(microseconds: UInt64) {
        counts[min(Self.bucket(of: microseconds), Self.bucketCount - 1)] += 1
        maxMicroseconds = max(maxMicroseconds, microseconds)
        count += 1
    }

    mutating func add(_ other: LatencyHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        maxMicroseconds = max(maxMicroseconds, other.maxMicroseconds)
        count += other.count
    }

    /// The smallest recorded bucket bound that `share` (0…1) of the values do not exceed; 0 when
    /// empty.
    func percentile(_ share: Double) -> UInt64 {
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
    private static func bucket(of value: UInt64) -> Int {
        guard value >= 1 << subBucketBits else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount - subBucketBits
        return (exponent << subBucketBits) + Int(value >> UInt64(exponent))
    }

    private static func upperBound(of index: Int) -> UInt64 {
        guard index >= 2 << subBucketBits else { return UInt64(index) }
        let exponent = (index >> subBucketBits) - 1
        let mantissa = UInt64(index & ((1 << subBucketBits) - 1) | (1 << subBucketBits))
        return ((mantissa + 1) << UInt64(exponent)) - 1
    }
}
