/// How long the local APNs itself takes, from a whole request to its answer in the session's hands,
/// injected delays included. A sender's own numbers can be judged against it.
///
/// Buckets grow with the value, 16 to each power of two, so that a percentile is right within 6.3
/// %. *Thread*: one records, any reads. *Limits*: fixed memory; above two minutes counts as that.
final class ServiceLatency: Sendable {
    private static let subBucketBits = 4
    private static let bucketCount = (38 - subBucketBits) << subBucketBits
    /// The buckets, and behind them the largest value.
    private let slab = CounterSlab(count: bucketCount + 1)

    func record(ns: UInt64) {
        slab.add(1, at: min(Self.bucket(of: ns), Self.bucketCount - 1))
        if ns > maxNs { slab.set(ns, at: Self.bucketCount) }
    }

    var maxNs: UInt64 { slab[Self.bucketCount] }

    /// Of all that is recorded in `parts`: how many, and the percentiles in nanoseconds.
    static func summary(
        _ parts: [ServiceLatency], shares: [Double]
    ) -> (count: UInt64, percentilesNs: [UInt64], maxNs: UInt64) {
        let counts = (0..<bucketCount).map { index in parts.reduce(0) { $0 + $1.slab[index] } }
        let total = counts.reduce(0, +)
        let maxNs = parts.map(\.maxNs).max() ?? 0
        let percentiles = shares.map { share in
            percentile(share, counts, total).map { min($0, maxNs) } ?? 0
        }
        return (total, percentiles, maxNs)
    }

    /// The upper bound of the bucket that the share falls into; nil when nothing is recorded.
    private static func percentile(_ share: Double, _ counts: [UInt64], _ total: UInt64) -> UInt64?
    {
        let rank = max(1, UInt64((share * Double(total)).rounded(.up)))
        var seen: UInt64 = 0
        for (index, count) in counts.enumerated() {
            seen += count
            if seen >= rank { return upperBound(of: index) }
        }
        return nil
    }

    /// Values under 16 have a bucket each; above, the four bits after the leading one choose it.
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
