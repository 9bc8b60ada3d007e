import Report
import Sending
import Testing

struct ProgressLineTests {
    private func snapshot(
        _ seconds: Double, rows: UInt64, accepted: UInt64, failed: UInt64 = 0,
        fraction: Double? = nil
    ) -> ProgressSnapshot {
        var snapshot = ProgressSnapshot()
        snapshot.seconds = seconds
        snapshot.rowsRead = rows
        snapshot.accepted = accepted
        snapshot.failed = failed
        snapshot.fractionRead = fraction
        return snapshot
    }

    @Test func terminalLineIsDrawnOverItself() {
        var line = ProgressLine(style: .terminal)
        let first = line.update(snapshot(0, rows: 0, accepted: 0, fraction: 0), columns: 80)
        #expect(first == "\r0 rows (0 %) · 0 accepted/s · 0 failed · 0 ms\u{1B}[K")
        let second = line.update(
            snapshot(2, rows: 30_000, accepted: 25_000, failed: 12, fraction: 0.25), columns: 80)
        #expect(
            second == "\r30,000 rows (25 %) · 12,500 accepted/s · 12 failed · 6 s left\u{1B}[K")
        #expect(line.erasure == "\r\u{1B}[K")
    }

    /// B89: a low speed has its reason beside it.
    @Test func theServersLimitIsNamedWhileItHoldsRowsBack() {
        func text(_ change: (inout HeldBack, UInt64) -> Void) -> String {
            var line = ProgressLine(style: .terminal)
            var text = ""
            for second in 0...8 {
                var now = snapshot(Double(second), rows: 1_000, accepted: 0)
                now.heldBack.input = 1_000  // of long ago
                change(&now.heldBack, UInt64(second) * 10)
                text = line.update(now, columns: 200) ?? ""
            }
            return text
        }
        #expect(text { $0.window = $1 }.contains(" · held back by the server's windows · "))
        #expect(text { $0.streams = $1 }.contains(" · held back by the server's stream limit · "))
        #expect(!text { $0.rate = $1 }.contains("held back"))
        #expect(
            !text {
                $0.rate += $1
                $0.window = $1 / 2
            }.contains("held back"))
        #expect(!text { _, _ in }.contains("held back"))
    }

    @Test func speedIsThatOfTheLastSeconds() {
        var line = ProgressLine(style: .terminal)
        var text = ""
        // 1,000 a second for 20 seconds, then nothing for 6.
        for second in 0...26 {
            let accepted = UInt64(min(second, 20) * 1000)
            let now = snapshot(Double(second), rows: accepted, accepted: accepted)
            text = line.update(now, columns: 80) ?? ""
            if second == 20 { #expect(text.contains(" 1,000 accepted/s")) }
            // Of the five seconds before, two still had rows.
            if second == 23 { #expect(text.contains(" 400 accepted/s")) }
        }
        #expect(text.contains(" 0 accepted/s"))
    }

    @Test func lineFollowsTheWidthOfTheTerminal() {
        var line = ProgressLine(style: .terminal)
        let now = snapshot(1, rows: 1_234_567, accepted: 1, fraction: 0.5)
        for columns in [80, 20, 5, 1, 0] {
            let text = line.update(now, columns: columns) ?? ""
            let shown = text.dropFirst("\r".count).dropLast("\u{1B}[K".count)
            #expect(ColumnWidth.of(String(shown)) <= max(0, columns - 1))
        }
    }

    @Test func plainLinesComeEveryTenSeconds() {
        var line = ProgressLine(style: .plain)
        var written: [Double] = []
        for tenth in 0...305 {
            let seconds = Double(tenth) / 10
            let now = snapshot(seconds, rows: UInt64(tenth), accepted: UInt64(tenth))
            if let text = line.update(now, columns: 0) {
                written.append(seconds)
                #expect(text.hasSuffix("\n"))
                #expect(!text.contains("\r") && !text.contains("\u{1B}"))
            }
        }
        #expect(written == [10, 20, 30])
        #expect(line.erasure.isEmpty)
    }

    @Test func whatARunWaitsForIsSaid() {
        var line = ProgressLine(style: .terminal)
        var now = snapshot(3, rows: 5, accepted: 0)
        now.waitingFor = "a connection to 127.0.0.1:2197"
        let text = line.update(now, columns: 100) ?? ""
        #expect(text.contains("waiting for a connection to 127.0.0.1:2197"))
    }

    @Test func sumsThatStepBackDoNotTrap() {
        var line = ProgressLine(style: .terminal)
        _ = line.update(snapshot(1, rows: 10, accepted: 10, fraction: 0.5), columns: 80)
        let text = line.update(snapshot(2, rows: 9, accepted: 9, fraction: 0.4), columns: 80) ?? ""
        #expect(text.contains(" 0 accepted/s"))
    }
}
