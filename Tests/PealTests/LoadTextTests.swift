import Measure
import Testing

@testable import Load
@testable import peal

struct LoadTextTests {
    @Test(arguments: [
        (0, "0 µs"), (1_499, "1 µs"), (999_000, "999 µs"), (999_600, "1.00 ms"),
        (1_234_000, "1.23 ms"), (9_990_000, "9.99 ms"), (12_300_000, "12 ms"),
        (999_000_000, "999 ms"), (1_234_000_000, "1.23 s"), (12_000_000_000, "12 s"),
    ])
    func timesHaveThreeDigitsAtMost(ns: UInt64, expected: String) {
        #expect(LoadText.time(ns: ns) == expected)
    }

    private func progress(
        _ seconds: Double?, accepted: UInt64 = 0, failed: UInt64 = 0, behind: UInt64 = 0
    ) -> LoadProgress {
        let recorder = HistogramRecorder(LoadState.coarseScale)
        recorder.record(2_000_000)
        var recent = Histogram(LoadState.coarseScale)
        recent.add(recorder)
        return LoadProgress(
            seconds: seconds, accepted: accepted, failed: failed, inFlight: 7, behind: behind,
            recentLatency: recent)
    }

    @Test func theLineTellsWhatHappenedSinceTheLastOne() {
        var line = LoadLine(isTerminal: false, scheduleSeconds: 60)
        #expect(line.update(progress(nil), columns: 80) == "connecting\n")
        #expect(
            line.update(progress(1, accepted: 1000), columns: 80)
                == "1 s · 1,000 accepted/s · 7 in flight · p99 2.00 ms\n")
        #expect(
            line.update(progress(3, accepted: 5000, failed: 3, behind: 40), columns: 80)
                == "3 s · 2,000 accepted/s · 7 in flight · p99 2.00 ms · 3 failed · 40 BEHIND\n")
        #expect(line.erasure.isEmpty)
    }

    @Test func theLineOnATerminalIsDrawnOverItselfAndFits() {
        var line = LoadLine(isTerminal: true, scheduleSeconds: 60)
        let text = line.update(progress(1, accepted: 1000), columns: 20)
        #expect(text.hasPrefix("\r1 s"))
        #expect(text.hasSuffix("…\u{1B}[K"))
        #expect(text.count == 1 + 19 + 3)
        #expect(line.erasure == "\r\u{1B}[K")
    }

    @Test func theLineSaysWhatIsWaitedForAfterTheSchedule() {
        var line = LoadLine(isTerminal: false, scheduleSeconds: 2)
        #expect(line.update(progress(4), columns: 80).contains("waiting for the last answers"))
    }
}
