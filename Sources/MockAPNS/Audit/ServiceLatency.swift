internal import Measure

/// How long the local APNs itself takes, from a whole request to its answer in the session's hands,
/// injected delays included. A sender's own numbers can be judged against it.
///
/// Percentiles are right within 6.3 %. *Thread*: one records, any reads. *Limits*: fixed memory;
/// above two minutes counts as that.
final class ServiceLatency: Sendable {
    private static let scale = HistogramScale(precisionBits: 4, valueMax: 1 << 37 - 1)
    /// The buckets, and behind them the largest value.
    private let slab = CounterSlab(count: scale.bucketCount + 1)

    func record(ns: UInt64) {
        slab.add(1, at: Self.scale.bucket(of: ns))
        if ns > maxNs { slab.set(ns, at: Self.scale.bucketCount) }
    }

    var maxNs: UInt64 { slab[Self.scale.bucketCount] }

    /// Of all that is recorded in `parts`: how many, and the percentiles in nanoseconds.
    static func summary(
        _ parts: [ServiceLatency], shares: [Double]
    ) -> (count: UInt64, percentilesNs: [UInt64], maxNs: UInt64) {
        let counts = (0..<scale.bucketCount).map { index in
            parts.reduce(0) { $0 + $1.slab[index] }
        }
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
            if seen >= rank { return scale.upperBound(of: index) }
        }
        return nil
    }
}
