import TestSupport
import Testing

@testable import Sending

@Suite struct LatencyHistogramTests {
    @Test func percentilesAreWithinTheBucketsWidthOfTheSortedValues() {
        var random = SeededGenerator()
        var histogram = LatencyHistogram()
        let values = (0..<50_000).map { _ in
            UInt64.random(in: 0...(1 << UInt64.random(in: 1...30, using: &random)), using: &random)
        }
        for value in values { histogram.record(microseconds: value) }
        let sorted = values.sorted()
        for share in [0.5, 0.9, 0.99, 0.999] {
            let exact = Double(sorted[Int((share * Double(sorted.count)).rounded(.up)) - 1])
            let found = Double(histogram.percentile(share))
            #expect(
                found >= exact && found <= exact * 1.033 + 1, "seed \(testSeed), share \(share)")
        }
        #expect(histogram.percentile(1) == sorted.last)
        #expect(histogram.count == 50_000)
    }

    @Test func sumsOfWorkersCountEveryValueOnce() {
        var one = LatencyHistogram()
        var other = LatencyHistogram()
        for value in 1...100 { one.record(microseconds: UInt64(value)) }
        for value in 101...200 { other.record(microseconds: UInt64(value)) }
        one.add(other)
        #expect(one.count == 200)
        #expect(one.maxMicroseconds == 200)
        #expect((100...103).contains(one.percentile(0.5)))
    }

    @Test func anEmptyHistogramSaysZero() {
        #expect(LatencyHistogram().percentile(0.99) == 0)
    }

    @Test func aValuePastTheLastBucketIsKeptAsTheMaximum() {
        var histogram = LatencyHistogram()
        histogram.record(microseconds: .max)
        #expect(histogram.maxMicroseconds == .max)
        #expect(histogram.count == 1)
    }
}
