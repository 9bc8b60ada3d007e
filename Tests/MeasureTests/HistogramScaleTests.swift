import TestSupport
import Testing

@testable import Measure

struct HistogramScaleTests {
    @Test(arguments: [1, 4, 5, 10])
    func everyValueLiesWithinTheBoundsOfItsBucket(precisionBits: Int) {
        var random = SeededGenerator()
        let scale = HistogramScale(precisionBits: precisionBits, valueMax: 1 << 42)
        for _ in 0..<20_000 {
            let value = UInt64.random(
                in: 0...(1 << UInt64.random(in: 0...42, using: &random)), using: &random)
            let bucket = scale.bucket(of: value)
            let (low, high) = (scale.lowerBound(of: bucket), scale.upperBound(of: bucket))
            #expect(low <= value && value <= high, "seed \(testSeed)")
            // Within one part in two to the power of the bits.
            #expect(high - low <= value >> UInt64(precisionBits), "seed \(testSeed), \(value)")
        }
    }

    @Test func bucketsFollowEachOtherWithoutGaps() {
        let scale = HistogramScale(precisionBits: 3, valueMax: 1 << 20)
        for bucket in 1..<scale.bucketCount {
            #expect(scale.lowerBound(of: bucket) == scale.upperBound(of: bucket - 1) + 1)
        }
        #expect(scale.lowerBound(of: 0) == 0)
    }

    @Test func whatIsAboveTheLargestValueCountsAsThat() {
        let scale = HistogramScale(precisionBits: 4, valueMax: 1000)
        #expect(scale.bucket(of: .max) == scale.bucketCount - 1)
        #expect(scale.bucket(of: 1000) == scale.bucketCount - 1)
    }
}
