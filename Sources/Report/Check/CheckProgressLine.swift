package import Check

/// The progress of a check: one line that is drawn over itself on a terminal, a plain line every
/// ten seconds elsewhere. It reads no clock and writes nothing.
package struct CheckProgressLine {
    /// Seconds between two texts: a line that changes more often cannot be read.
    private static let terminalSeconds = 0.1
    private static let plainSeconds = 10.0

    private let isTerminal: Bool
    private var dueSeconds: Double
    private var hasDrawn = false

    /// `isTerminal`: whether someone watches.
    package init(isTerminal: Bool) {
        self.isTerminal = isTerminal
        dueSeconds = isTerminal ? 0.3 : Self.plainSeconds  // what is done by then needs no line
    }

    /// The text to write; nil when nothing is due. `columns` gives the terminal's width, and is
    /// asked only then.
    package mutating func update(_ progress: CheckProgress, columns: () -> Int) -> String? {
        guard progress.seconds >= dueSeconds else { return nil }
        dueSeconds = progress.seconds + (isTerminal ? Self.terminalSeconds : Self.plainSeconds)
        guard isTerminal else { return Self.text(of: progress) + "\n" }
        hasDrawn = true
        return "\r" + ColumnWidth.truncated(Self.text(of: progress), to: columns() - 1) + "\u{1B}[K"
    }

    /// The text that takes the live line away; empty when there is none.
    package var erasure: String { hasDrawn ? "\r\u{1B}[K" : "" }

    private static func text(of progress: CheckProgress) -> String {
        var parts = [NumberText.count(progress.rows, "row") + " checked"]
        if let fraction = progress.fractionRead, fraction > 0 {
            parts[0] += " (\(Int(min(fraction, 1) * 100)) %)"
            let left = progress.seconds / fraction * (1 - min(fraction, 1))
            parts.append("\(NumberText.duration(seconds: left, tenths: false)) left")
        }
        parts.append("\(NumberText.rate(Double(progress.rows) / progress.seconds)) rows/s")
        return parts.joined(separator: " · ")
    }
}
