import TestSupport
import Testing

@testable import Sending

@Suite struct LatencyHistogramTests {
    @Test func percentilesAreWithinTheBucketsWidthOfTheSortedValues() {
        var random = SeededGenerator()
        let recorder = LatencyRecorder()
        let values = (0..<50_000).map { _ in
            UInt64.random(in: 0...(1 << UInt64.random(in: 1...30, using: &random)), using: &random)
        }
        for value in values { recorder.record(microseconds: value) }
        let histogram = recorder.histogram
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
        let recorders = [LatencyRecorder(), LatencyRecorder()]
        for value in 1...100 { recorders[0].record(microseconds: UInt64(value)) }
        for value in 101...200 { recorders[1].record(microseconds: UInt64(value)) }
        var one = recorders[0].histogram
        one.add(recorders[1].histogram)
        #expect(one.count == 200)
        #expect(one.maxMicroseconds == 200)
        #expect((100...103).contains(one.percentile(0.5)))
    }

    @Test func anEmptyHistogramSaysZero() {
        #expect(LatencyHistogram().percentile(0.99) == 0)
    }

    @Test func aValuePastTheLastBucketIsKeptAsTheMaximum() {
        let recorder = LatencyRecorder()
        recorder.record(microseconds: .max)
        let histogram = recorder.histogram
        #expect(histogram.maxMicroseconds == .max)
        #expect(histogram.count == 1)
    }
}
