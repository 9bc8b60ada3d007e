import Foundation
import TestSupport
import Testing

@testable import Sending

/// When notifications were accepted, in room that does not grow with the run.
@Suite(.timeLimit(.minutes(1))) struct RateSeriesTests {
    private let folder = TemporaryDirectory()

    @Test func aLookIsSpreadOverTheTimeSinceTheOneBefore() {
        var series = RateSeries()
        series.add(100, from: 0, to: 1)
        series.add(400, from: 1, to: 5)
        #expect(series.bucketSeconds == 1)
        // The last moment belongs to a bucket of its own, in which no time has passed yet.
        #expect(series.counts == [100, 100, 100, 100, 100, 0])
        #expect(series.rates(seconds: 5) == [100, 100, 100, 100, 100])
    }

    @Test func theLastBucketIsAsLongAsTheRun() {
        var series = RateSeries()
        series.add(100, from: 0, to: 1)
        series.add(60, from: 1, to: 1.75)
        #expect(series.rates(seconds: 1.75) == [100, 80])
        // One tenth of a second says little: it is told with the second before it.
        var sliver = RateSeries()
        sliver.add(110, from: 0, to: 1.1)
        #expect(sliver.rates(seconds: 1.1).map { $0.rounded() } == [100])
    }

    /// 30 hours of looks: all of them are in the sum, and the room is bounded.
    @Test func aLongRunDoublesTheWidthOfItsBuckets() {
        var random = SeededGenerator()
        var series = RateSeries()
        var sum: UInt64 = 0
        var seconds = 0.0
        while seconds < 30 * 3600 {
            let count = UInt64.random(in: 0...50_000, using: &random)
            let next = seconds + Double.random(in: 0...9, using: &random)
            series.add(count, from: seconds, to: next)
            (sum, seconds) = (sum + count, next)
            #expect(series.counts.count <= RateSeries.bucketsMax)
        }
        #expect(series.counts.reduce(0, +) == sum)
        #expect(series.bucketSeconds == 256)  // 108,000 s / 600 = 180: the next power of two
    }

    @Test func theCheckpointKeepsIt() throws {
        var written = Measurements()
        written.rate.add(1000, from: 0, to: 3.5)
        let path = folder.write(written.json(), to: "checkpoint")
        #expect(try Measurements(checkpoint: path).rate == written.rate)
    }

    /// Too many buckets, a width that is no power of two, a count that is none.
    @Test(arguments: ["3", "0", "-1", "\"1\""])
    func aDamagedSeriesIsRefused(width: String) throws {
        let text = String(decoding: Measurements().json(), as: UTF8.self)
            .replacing("\"rateBucketSeconds\":1", with: "\"rateBucketSeconds\":\(width)")
        let path = folder.write(text, to: "checkpoint")
        #expect(throws: SendError.self) { try Measurements(checkpoint: path) }
        #expect(
            RateSeries(bucketSeconds: 1, counts: [UInt64](repeating: 1, count: 601)) == nil)
    }

    @Test func aCheckpointOfAnEarlierVersionHasNone() throws {
        let text = String(decoding: Measurements().json(), as: UTF8.self)
            .replacing(",\"rateBucketSeconds\":1,\"acceptedByBucket\":[]", with: "")
        #expect(!text.contains("Bucket\":"))
        let path = folder.write(text, to: "checkpoint")
        #expect(try Measurements(checkpoint: path).rate == RateSeries())
    }
}
