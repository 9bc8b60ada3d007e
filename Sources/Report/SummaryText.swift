internal import APNS
package import Sending

/// The summary at the end of a run, for people: what became of the rows, why, and what to do next.
///
/// It says "accepted by APNs" and never "delivered": a 200 means that APNs took the notification,
/// and nobody can know that a device showed it.
package enum SummaryText {
    /// Reasons that are listed; the others are summed up, their rows are in failures.ndjson.
    private static let reasonsMax = 10

    /// The whole text, with a line end at its end. `resumeCommand` goes on with a run that has
    /// stopped; nil for none.
    package static func render(_ summary: RunSummary, resumeCommand: String? = nil) -> String {
        var lines = headline(summary)
        lines += outcomes(summary)
        lines += reasons(summary)
        lines += ["", effort(summary)]
        if !latency(summary).isEmpty { lines.append(latency(summary)) }
        lines += [
            "Run folder: \(summary.runDirectory)", "Report: \(summary.runDirectory)/report.html",
        ]
        lines += nextSteps(summary)
        if let resumeCommand, !summary.completed {
            lines += ["", "To go on where it stopped:", "  " + resumeCommand]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func headline(_ summary: RunSummary) -> [String] {
        let rows = NumberText.count(summary.rows, "row")
        let time = NumberText.duration(seconds: summary.seconds)
        if summary.completed {
            return ["\(summary.name): completed, \(rows) in \(time)"]
        }
        let because = summary.stoppedBecause ?? "it was interrupted"
        return ["\(summary.name): STOPPED after \(time), \(rows) read", "Because: \(because)"]
    }

    private static func outcomes(_ summary: RunSummary) -> [String] {
        var table = summary.outcomes.filter { $0.1 > 0 }.map { outcome, count in
            (words: OutcomeText.words(for: outcome), count: count)
        }
        let closed = table.reduce(0) { $0 + $1.count }
        let open = summary.rows - min(closed, summary.rows)
        let inDoubt = min(summary.inDoubt, open)
        if inDoubt > 0 { table.append(("sent, the answer did not come", inDoubt)) }
        if open > inDoubt { table.append(("not sent yet", open - inDoubt)) }
        guard !table.isEmpty else {
            return ["", "  WARNING: the file has no rows, so nothing was sent."]
        }
        let width = table.map { NumberText.count($0.count).count }.max() ?? 0
        return [""]
            + table.map { row in
                let share = NumberText.percent(row.count, of: summary.rows)
                return "  \(padded(NumberText.count(row.count), width))  \(padded(share, 7))  "
                    + row.words
            }
    }

    private static func reasons(_ summary: RunSummary) -> [String] {
        let failures = summary.reasons
            .filter { $0.1 > 0 && OutcomeText.isFailure($0.0.outcome) }
            .sorted { ($1.1, $0.0.rawValue) < ($0.1, $1.0.rawValue) }
        guard !failures.isEmpty else { return [] }
        let shown = failures.prefix(reasonsMax)
        let width = shown.map { NumberText.count($0.1).count }.max() ?? 0
        var lines = ["", "Why:"]
        for (code, count) in shown {
            let status = code.status == 0 ? "" : " (\(code.status))"
            lines.append("  \(padded(NumberText.count(count), width))  \(code.reason)\(status)")
            lines.append("  \(padded("", width))  \(code.advice)")
        }
        if failures.count > shown.count {
            let rest = failures.dropFirst(reasonsMax).reduce(0) { $0 + $1.1 }
            lines.append("  \(NumberText.count(rest)) for other reasons: see failures.ndjson")
        }
        return lines
    }

    private static func effort(_ summary: RunSummary) -> String {
        var parts = [
            "\(NumberText.rate(summary.acceptedPerSecond)) accepted per second",
            NumberText.count(summary.attempts, "request"),
            NumberText.count(summary.connections.opened, "connection"),
            "\(NumberText.bytes(summary.bytesSent)) sent",
        ]
        if summary.retries > 0 { parts[1] += " (\(NumberText.count(summary.retries)) again)" }
        if summary.connections.lost > 0 {
            parts[2] += " (\(NumberText.count(summary.connections.lost)) lost)"
        }
        return parts.joined(separator: " · ")
    }

    private static func latency(_ summary: RunSummary) -> String {
        let latency = summary.latencyMilliseconds
        guard latency.max > 0 else { return "" }
        return "Answers: half within \(NumberText.milliseconds(latency.p50)), "
            + "99 of 100 within \(NumberText.milliseconds(latency.p99)), "
            + "the slowest after \(NumberText.milliseconds(latency.max))"
    }

    /// What to do now. Only steps that this version of Peal can do.
    private static func nextSteps(_ summary: RunSummary) -> [String] {
        var steps: [String] = []
        if summary.count(of: .unregistered) > 0 {
            steps.append("Remove the tokens in unregistered.csv from your lists.")
        }
        let failed = summary.outcomes.reduce(0) {
            OutcomeText.isFailure($1.0) ? $0 + $1.1 : $0
        }
        if failed > 0 { steps.append("Every row that failed, with its reason: failures.ndjson.") }
        return steps.isEmpty ? [] : ["", "Next, in the run folder:"] + steps.map { "  " + $0 }
    }

    /// `text` with blanks before it, `width` columns wide.
    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
