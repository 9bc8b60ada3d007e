import TestSupport
import Testing

@testable import Measure

struct HistogramTests {
    private static let scale = HistogramScale(precisionBits: 10, valueMax: 3_600_000_000_000)

    private func recorder(_ values: [UInt64]) -> HistogramRecorder {
        let recorder = HistogramRecorder(Self.scale)
        for value in values { recorder.record(value) }
        return recorder
    }

    @Test func percentilesAreWithinAThousandthOfTheSortedValues() {
        var random = SeededGenerator()
        let values = (0..<50_000).map { _ in
            UInt64.random(in: 0...(1 << UInt64.random(in: 1...41, using: &random)), using: &random)
        }
        var histogram = Histogram(Self.scale)
        histogram.add(recorder(values))
        let sorted = values.sorted()
        for share in [0.001, 0.5, 0.9, 0.99, 0.999, 0.9999] {
            let exact = Double(sorted[Int((share * Double(sorted.count)).rounded(.up)) - 1])
            let found = Double(histogram.percentile(share))
            #expect(found >= exact && found <= exact * 1.001, "seed \(testSeed), share \(share)")
        }
        #expect(histogram.percentile(1) == sorted.last)
        #expect(histogram.max == sorted.last)
        #expect(histogram.mean == Double(values.reduce(0, &+)) / 50_000)
    }

    @Test func sumsOfThreadsCountEveryValueOnce() {
        var all = Histogram(Self.scale)
        all.add(recorder(Array(1...100)))
        var other = Histogram(Self.scale)
        other.add(recorder(Array(101...200)))
        all.add(other)
        #expect(all.count == 200)
        #expect(all.max == 200)
        #expect(all.percentile(0.5) == 100)
        #expect(all.mean == 100.5)
    }

    /// The variance of 1…n is (n² − 1) ÷ 12.
    @Test func standardDeviationIsThatOfTheValues() {
        var histogram = Histogram(Self.scale)
        histogram.add(recorder(Array(1...1000)))
        let expected = (999_999.0 / 12).squareRoot()
        #expect(abs(histogram.standardDeviation - expected) < 1e-6)
    }

    @Test func anEmptyHistogramSaysZero() {
        let histogram = Histogram(Self.scale)
        #expect(histogram.percentile(0.99) == 0)
        #expect(histogram.mean == 0)
        #expect(histogram.standardDeviation == 0)
    }

    @Test func aRecorderThatWasResetHoldsNothing() {
        let recorder = recorder([5, 50_000])
        recorder.reset()
        recorder.record(7)
        var histogram = Histogram(Self.scale)
        histogram.add(recorder)
        #expect(histogram.count == 1)
        #expect(histogram.max == 7)
        #expect(histogram.counts.reduce(0, +) == 1)
    }

    @Test func whatIsTooLargeCountsAndIsTheMaximum() {
        var histogram = Histogram(Self.scale)
        let days: UInt64 = 90 * 86_400 * 1_000_000_000
        histogram.add(recorder([days]))
        #expect(histogram.count == 1)
        #expect(histogram.max == days)
    }

    /// The lines for 1…100: HdrHistogram takes a tenth of the way at first, and half as much after
    /// each halving of the distance to 100 %.
    @Test func textHasTheLinesOfHdrHistogram() {
        var histogram = Histogram(Self.scale)
        histogram.add(recorder(Array(1...100)))
        let lines = histogram.percentileText(unit: 1).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "       Value     Percentile TotalCount 1/(1-Percentile)")
        #expect(lines[1] == "")
        #expect(lines[2] == "       1.000 0.000000000000          1           1.00")
        #expect(lines[3] == "      10.000 0.100000000000         10           1.11")
        #expect(lines[7] == "      50.000 0.500000000000         50           2.00")
        #expect(lines[8] == "      55.000 0.550000000000         55           2.22")
        #expect(lines[12] == "      75.000 0.750000000000         75           4.00")
        #expect(lines[13] == "      78.000 0.775000000000         78           4.44")
        let last = lines.firstIndex { $0.contains("#[Mean") } ?? 0
        #expect(lines[last - 1] == "     100.000 1.000000000000        100")
        #expect(lines[last] == "#[Mean    =       50.500, StdDeviation   =       28.866]")
        #expect(lines[last + 1] == "#[Max     =      100.000, Total count    =          100]")
        #expect(lines[last + 2].hasPrefix("#[Buckets = "))
        #expect(lines[last + 2].hasSuffix(", SubBuckets     =         2048]"))
    }

    @Test func textOfNothingIsHeadAndFoot() {
        let text = Histogram(Self.scale).percentileText(unit: 1e6)
        #expect(text.contains("Total count    =            0]"))
        #expect(text.split(separator: "\n").count == 4)
    }

    @Test func valuesOfTextAreInItsUnit() {
        var histogram = Histogram(Self.scale)
        histogram.add(recorder([1_500_000]))
        #expect(histogram.percentileText(unit: 1e6).contains("\n       1.500 1.000000000000"))
    }
}
