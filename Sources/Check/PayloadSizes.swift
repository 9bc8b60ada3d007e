/// How many payloads have how many bytes.
package struct PayloadSizes: Sendable {
    /// Sizes from `from` to `to` bytes, both included.
    package struct Bucket: Sendable, Equatable {
        package let from: Int
        package let to: Int
        package let rows: UInt64
    }

    /// The most that APNs takes.
    package let bytesMax: Int
    /// Rows by size.
    private var rows: [UInt64]
    /// The first row with the largest payload; 0 when there is none.
    package private(set) var largestRow: UInt64 = 0

    package init(bytesMax: Int) {
        self.bytesMax = bytesMax
        rows = Array(repeating: 0, count: bytesMax + 1)
    }

    /// Takes in counted sizes. `counts`: as many as there are sizes.
    package mutating func add(_ counts: UnsafePointer<UInt64>, largestRow: UInt64) {
        let before = largest ?? -1
        for size in 0...bytesMax { rows[size] += counts[size] }
        guard largestRow > 0, let after = largest else { return }
        let theirs = (0...bytesMax).last { counts[$0] > 0 } ?? -1
        if after > before || (theirs == after && largestRow < self.largestRow) {
            self.largestRow = largestRow
        }
    }

    package var count: UInt64 { rows.reduce(0, +) }
    /// Bytes of all payloads.
    package var totalBytes: UInt64 {
        rows.indices.reduce(0) { $0 + UInt64($1) * rows[$1] }
    }
    /// Bytes; nil without rows.
    package var smallest: Int? { rows.firstIndex { $0 > 0 } }
    package var largest: Int? { rows.lastIndex { $0 > 0 } }
    /// The size that half of the rows do not exceed (the lower one of two in the middle).
    package var median: Int? { size(ofRow: (count + 1) / 2) }

    /// The size of the row with this number (1-based), were the rows sorted by size.
    private func size(ofRow row: UInt64) -> Int? {
        var sum: UInt64 = 0
        return rows.indices.first { size in
            sum += rows[size]
            return row > 0 && sum >= row
        }
    }

    /// The rows by size: in ranges of equal width that begin at round numbers, some `atMost`, for
    /// 99 of 100 rows at least; a last one holds what is far larger. Empty ones are kept.
    package func buckets(atMost bucketsMax: Int = 8) -> [Bucket] {
        guard let smallest, let largest, let common = size(ofRow: count - count / 100) else {
            return []
        }
        let steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
        let width = steps.first { (common - smallest) / $0 < bucketsMax } ?? 1000
        var ranges = stride(from: smallest / width * width, through: common, by: width).map {
            $0...min($0 + width - 1, bytesMax)
        }
        if let last = ranges.last?.upperBound, last < largest { ranges.append(last + 1...largest) }
        return ranges.map { range in
            Bucket(
                from: range.lowerBound, to: range.upperBound, rows: rows[range].reduce(0, +))
        }
    }
}
