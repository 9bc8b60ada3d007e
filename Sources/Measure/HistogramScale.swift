/// The arithmetic of histograms whose buckets widen with the value: below `2 << precisionBits`
/// every value has a bucket of its own; above, each power of two is cut into `1 << precisionBits`
/// buckets. So a value is known within 1 part in `1 << precisionBits`, however large it is.
package struct HistogramScale: Sendable, Equatable {
    /// Bits of a value that count, beside its leading one.
    package let precisionBits: Int
    /// Buckets for values up to `valueMax`.
    package let bucketCount: Int

    /// *Limits*: 1 to 16 bits of precision. Values above `valueMax` count as the last bucket.
    package init(precisionBits: Int, valueMax: UInt64) {
        precondition((1...16).contains(precisionBits))
        self.precisionBits = precisionBits
        bucketCount = Self.bucket(of: valueMax, precisionBits: precisionBits) + 1
    }

    /// The bucket that a value counts in.
    package func bucket(of value: UInt64) -> Int {
        min(Self.bucket(of: value, precisionBits: precisionBits), bucketCount - 1)
    }

    /// The smallest value of a bucket.
    package func lowerBound(of bucket: Int) -> UInt64 {
        guard bucket >= 2 << precisionBits else { return UInt64(bucket) }
        return mantissa(of: bucket) << exponent(of: bucket)
    }

    /// The largest value of a bucket.
    package func upperBound(of bucket: Int) -> UInt64 {
        guard bucket >= 2 << precisionBits else { return UInt64(bucket) }
        return (mantissa(of: bucket) + 1) << exponent(of: bucket) - 1
    }

    private static func bucket(of value: UInt64, precisionBits: Int) -> Int {
        guard value >= 2 << UInt64(precisionBits) else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount - precisionBits
        return (exponent << precisionBits) + Int(value >> UInt64(exponent))
    }

    private func exponent(of bucket: Int) -> UInt64 { UInt64((bucket >> precisionBits) - 1) }

    private func mantissa(of bucket: Int) -> UInt64 {
        UInt64(bucket & ((1 << precisionBits) - 1) | 1 << precisionBits)
    }
}
