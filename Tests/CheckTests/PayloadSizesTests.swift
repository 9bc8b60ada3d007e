import Testing

@testable import Check

@Suite struct PayloadSizesTests {
    private func sizes(_ rows: [Int: UInt64], bytesMax: Int = 4096, largestRow: UInt64 = 1)
        -> PayloadSizes
    {
        var sizes = PayloadSizes(bytesMax: bytesMax)
        add(rows, to: &sizes, largestRow: largestRow)
        return sizes
    }

    private func add(_ rows: [Int: UInt64], to sizes: inout PayloadSizes, largestRow: UInt64) {
        var counts = [UInt64](repeating: 0, count: sizes.bytesMax + 1)
        for (size, count) in rows { counts[size] = count }
        sizes.add(counts, largestRow: largestRow)
    }

    @Test func withoutRowsThereIsNothingToTell() {
        let none = sizes([:], largestRow: 0)
        #expect(none.smallest == nil && none.median == nil && none.largest == nil)
        #expect(none.buckets() == [])
        #expect(none.totalBytes == 0)
    }

    @Test func theMedianIsTheLowerOfTheTwoInTheMiddle() {
        #expect(sizes([10: 1, 20: 1]).median == 10)
        #expect(sizes([10: 1, 20: 1, 30: 1]).median == 20)
        #expect(sizes([10: 1, 20: 5]).median == 20)
        #expect(sizes([10: 3, 4096: 3]).largest == 4096)
        #expect(sizes([10: 3, 20: 2]).totalBytes == 70)
    }

    @Test func ofEqualLargestPayloadsTheFirstRowIsNamed() {
        var both = sizes([100: 1], largestRow: 900)
        add([100: 2, 50: 1], to: &both, largestRow: 30)
        #expect(both.largestRow == 30)
        add([99: 1], to: &both, largestRow: 1)
        #expect(both.largestRow == 30)
        add([101: 1], to: &both, largestRow: 2_000)
        #expect(both.largestRow == 2_000)
    }

    /// One row that is far larger than the others must not make them all look alike.
    @Test func aFarLargerRowHasARangeOfItsOwn() {
        let buckets = sizes([200: 40, 203: 30, 215: 129, 3_700: 1]).buckets()
        #expect(buckets.first?.from == 200)
        #expect(buckets.prefix(2).map(\.rows) == [40, 30])
        #expect(buckets.last == PayloadSizes.Bucket(from: 216, to: 3_700, rows: 1))
    }

    @Test(arguments: [
        [1: 1], [0: 1, 4096: 1], [94: 2, 107: 1, 151: 1], [4000: 7, 4096: 9], [5: 1, 12: 1],
        [149: 10, 180: 1], [999: 1, 1000: 1], [0: 3, 2048: 1, 2049: 1],
    ])
    func bucketsHoldEveryRowOnceInRoundRanges(rows: [Int: UInt64]) {
        let buckets = sizes(rows).buckets()
        #expect(buckets.map(\.rows).reduce(0, +) == rows.values.reduce(0, +))
        #expect((1...10).contains(buckets.count))
        for (bucket, next) in zip(buckets, buckets.dropFirst()) {
            #expect(bucket.to + 1 == next.from)
        }
        for bucket in buckets {
            let inside = rows.filter { $0.key >= bucket.from && $0.key <= bucket.to }
            #expect(bucket.rows == inside.values.reduce(0, +))
        }
    }
}
