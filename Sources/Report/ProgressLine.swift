package import Sending

/// The progress of a run: one line that is drawn over itself on a terminal, or a plain line every
/// ten seconds where nobody watches (a log file).
///
/// It reads no clock and writes nothing: time is the snapshot's, the text is the caller's to write.
package struct ProgressLine {
    /// For someone who watches, or for a file.
    package enum Style: Sendable { case terminal, plain }

    /// Seconds between two plain lines.
    private static let plainSeconds = 10.0
    /// Seconds over which speed is measured: long enough to be readable, short enough to show that
    /// a server slows down.
    private static let speedSeconds = 5.0
    /// Samples kept; at ten a second this is more than `speedSeconds`.
    private static let samplesMax = 64

    private struct Sample {
        let seconds: Double
        let accepted: UInt64
        let fractionRead: Double
        let heldBack: HeldBack
    }

    private let style: Style
    private var samples: [Sample] = []
    private var plainDueSeconds = ProgressLine.plainSeconds

    package init(style: Style) { self.style = style }

    /// The text to write for `snapshot`; nil when nothing is due. `columns` is the terminal's width
    /// at this moment, so that a resized window is right from the next line on.
    package mutating func update(_ snapshot: ProgressSnapshot, columns: Int) -> String? {
        record(snapshot)
        switch style {
        case .terminal:
            // The last column stays free: some terminals wrap as soon as it is filled.
            return "\r" + ColumnWidth.truncated(text(of: snapshot), to: columns - 1) + "\u{1B}[K"
        case .plain:
            guard snapshot.seconds >= plainDueSeconds else { return nil }
            plainDueSeconds = snapshot.seconds + Self.plainSeconds
            return text(of: snapshot) + "\n"
        }
    }

    /// The text that takes the live line away, so that other lines can follow.
    package var erasure: String { style == .terminal ? "\r\u{1B}[K" : "" }

    private mutating func record(_ snapshot: ProgressSnapshot) {
        samples.append(
            Sample(
                seconds: snapshot.seconds, accepted: snapshot.accepted,
                fractionRead: snapshot.fractionRead ?? 0, heldBack: snapshot.heldBack))
        // One sample older than the window stays: it is where the window begins.
        let begin = snapshot.seconds - Self.speedSeconds
        while samples.count > 2, samples[1].seconds <= begin || samples.count > Self.samplesMax {
            samples.removeFirst()
        }
    }

    private func text(of snapshot: ProgressSnapshot) -> String {
        var parts = [NumberText.count(snapshot.rowsRead, "row")]
        if let fraction = snapshot.fractionRead {
            let shown = Int((min(max(fraction, 0), 1) * 100).rounded(.down))
            parts[0] += " (\(shown) %)"
        }
        parts.append("\(NumberText.rate(acceptedPerSecond)) accepted/s")
        parts.append("\(NumberText.count(snapshot.failed)) failed")
        if let serverLimit { parts.append("held back by \(serverLimit)") }
        if let waitingFor = snapshot.waitingFor {
            parts.append("waiting for \(waitingFor)")
        } else if let left = secondsLeft(snapshot) {
            parts.append("\(NumberText.duration(seconds: left, tenths: false)) left")
        } else {
            parts.append(NumberText.duration(seconds: snapshot.seconds))
        }
        return parts.joined(separator: " · ")
    }

    /// Which of the server's limits has held rows back most of the time lately; nil: none.
    private var serverLimit: String? {
        guard let first = samples.first?.heldBack, let last = samples.last?.heldBack else {
            return nil
        }
        let windows = last.window - min(first.window, last.window)
        let streams = last.streams - min(first.streams, last.streams)
        let others = last.rate + last.input - min(first.rate + first.input, last.rate + last.input)
        // A single look, a tenth of a second, says nothing.
        guard windows + streams > max(others, 4) else { return nil }
        return windows > streams ? "the server's windows" : "the server's stream limit"
    }

    private var acceptedPerSecond: Double {
        guard let first = samples.first, let last = samples.last, last.seconds > first.seconds
        else { return 0 }
        // A snapshot is a sum over threads that run on: it may step back by a few rows.
        let accepted = last.accepted - min(first.accepted, last.accepted)
        return Double(accepted) / (last.seconds - first.seconds)
    }

    /// By the speed at which the input is being read; nil while that says nothing.
    private func secondsLeft(_ snapshot: ProgressSnapshot) -> Double? {
        guard let fraction = snapshot.fractionRead, fraction > 0, fraction < 1,
            let first = samples.first, let last = samples.last
        else { return nil }
        let read = last.fractionRead - first.fractionRead
        guard read > 0, last.seconds > first.seconds else { return nil }
        return (1 - fraction) / read * (last.seconds - first.seconds)
    }
}
