import Load
import Measure
import Report

/// The progress of a load test, once a second: drawn over itself on a terminal, line after line in
/// a file.
struct LoadLine {
    let isTerminal: Bool
    let scheduleSeconds: Double
    private var earlier: (seconds: Double, accepted: UInt64, failed: UInt64)?

    init(isTerminal: Bool, scheduleSeconds: Double) {
        self.isTerminal = isTerminal
        self.scheduleSeconds = scheduleSeconds
    }

    mutating func update(_ progress: LoadProgress, columns: Int) -> String {
        let text = text(progress)
        earlier = (progress.seconds ?? 0, progress.accepted, progress.failed)
        guard isTerminal else { return text + "\n" }
        // The last column stays free: some terminals wrap as soon as it is filled.
        return "\r" + ColumnWidth.truncated(text, to: columns - 1) + "\u{1B}[K"
    }

    /// The text that takes the live line away, so that other lines can follow.
    var erasure: String { isTerminal ? "\r\u{1B}[K" : "" }

    private func text(_ progress: LoadProgress) -> String {
        guard let seconds = progress.seconds else { return "connecting" }
        let before = earlier ?? (0, 0, 0)
        let span = seconds - before.seconds
        let accepted = progress.accepted - min(before.accepted, progress.accepted)
        let failed = progress.failed - min(before.failed, progress.failed)
        let rate = span > 0 ? Double(accepted) / span : 0
        var parts = [
            NumberText.duration(seconds: seconds, tenths: false),
            "\(NumberText.rate(rate)) accepted/s",
            "\(NumberText.count(progress.inFlight)) in flight",
        ]
        if progress.recentLatency.count > 0 {
            parts.append("p99 " + LoadText.time(ns: progress.recentLatency.percentile(0.99)))
        }
        if failed > 0 { parts.append("\(NumberText.count(failed)) failed") }
        // A second late at most: then what is due is not sent any more.
        if seconds > scheduleSeconds + 1, progress.inFlight > 0 {
            parts.append("waiting for the last answers")
        }
        if progress.behind > 0 { parts.append("\(NumberText.count(progress.behind)) BEHIND") }
        return parts.joined(separator: " · ")
    }
}
