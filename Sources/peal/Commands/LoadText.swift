import Load
import Measure
import Report
import Transport

/// The summary of a load test, for people.
enum LoadText {
    /// Failures that are listed; the JSON summary has all.
    private static let failuresMax = 10

    static func render(_ summary: LoadSummary) -> String {
        guard summary.planned > 0 else { return warning(summary) }
        var lines = [headline(summary), counts(summary)]
        if let rate = summary.rateBeforeLate, isRamp(summary) {
            lines.append(
                "Up to \(NumberText.rate(rate)) per second no request went out more than 100 ms late."
            )
        }
        lines += failures(summary)
        lines += ["", header()]
        lines.append(row("latency", summary.latency))
        lines.append(row("  service", summary.service))
        lines.append(row("  lag", summary.lag))
        if summary.failedLatency.count > 0 { lines.append(row("failed", summary.failedLatency)) }
        lines += ["", effort(summary)]
        let text = lines.joined(separator: "\n") + "\n"
        let warning = warning(summary)
        return warning.isEmpty ? text : text + "\n" + warning
    }

    /// What `--quiet` does not silence; empty when all is well.
    static func warning(_ summary: LoadSummary) -> String {
        if case .failed(let why) = summary.end { return "peal: stopped: \(why)\n" }
        guard let shortfall = summary.shortfall, summary.planned > 0 else { return "" }
        let share = Int((summary.achievedPerSecond / summary.askedPerSecond * 100).rounded(.down))
        var text = """
            RATE NOT REACHED: \(NumberText.rate(summary.achievedPerSecond)) per second of \
            \(NumberText.rate(summary.askedPerSecond)) (\(share) %).
            Most likely because \(reason(shortfall, summary)).\n
            """
        if summary.notSent > 0 {
            text +=
                "\(NumberText.count(summary.notSent, "request")) "
                + "never went out: the latencies above do not know of them.\n"
        }
        return text
    }

    private static func headline(_ summary: LoadSummary) -> String {
        let schedule = summary.options.schedule
        let rates = [schedule.fromRate, schedule.toRate].map { NumberText.rate($0) }
        let rate = rates[0] == rates[1] ? rates[0] : "\(rates[0]) to \(rates[1])"
        let planned = NumberText.duration(seconds: Double(schedule.durationNs) / 1e9)
        var text = "\(rate) per second for \(planned) to \(summary.options.endpoint)"
        switch summary.end {
        case .completed: break
        case .interrupted, .failed:
            let passed = NumberText.duration(seconds: Double(summary.elapsedNs) / 1e9)
            text += ", STOPPED after \(passed)"
        }
        return text
    }

    private static func isRamp(_ summary: LoadSummary) -> Bool {
        summary.options.schedule.fromRate < summary.options.schedule.toRate
    }

    private static func counts(_ summary: LoadSummary) -> String {
        var parts = [
            "\(NumberText.count(summary.planned)) planned",
            "\(NumberText.count(summary.accepted)) accepted",
            "\(NumberText.count(summary.failed)) failed",
            "\(NumberText.rate(summary.achievedPerSecond)) accepted per second",
        ]
        if summary.notSent > 0 {
            parts.insert("\(NumberText.count(summary.notSent)) not sent", at: 3)
        }
        return parts.joined(separator: " · ")
    }

    private static func failures(_ summary: LoadSummary) -> [String] {
        guard !summary.failures.isEmpty else { return [] }
        let shown = summary.failures.prefix(failuresMax)
        let width = shown.map { NumberText.count($0.count).count }.max() ?? 0
        var lines = [""]
        for failure in shown {
            let count = NumberText.count(failure.count)
            lines.append("  \(left(count, width))  \(name(failure))")
        }
        let rest = summary.failures.dropFirst(failuresMax).reduce(0) { $0 + $1.count }
        if rest > 0 { lines.append("  \(NumberText.count(rest)) for other reasons: see --json") }
        return lines
    }

    private static func name(_ failure: LoadSummary.Failure) -> String {
        switch (failure.status, failure.reason) {
        case (0, "Timeout"): "no answer in time"
        case (0, "ConnectionLost"): "the connection was lost before the answer"
        case (0, "StreamReset"): "the server broke the request off"
        case (0, "RefusedStream"): "the server refused the request again and again"
        case (0, "Unanswered"): "in flight when the test was stopped"
        case (let status, ""): "status \(status)"
        case (let status, let reason): "\(status) \(reason)"
        }
    }

    // MARK: Latencies

    private static func header() -> String {
        cells("", ["mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"])
    }

    private static func row(_ name: String, _ histogram: Histogram) -> String {
        guard histogram.count > 0 else { return cells(name, ["none"]) }
        let values = LoadSummary.percentiles.map { time(ns: histogram.percentile($0.share)) }
        return cells(name, [time(ns: UInt64(histogram.mean))] + values + [time(ns: histogram.max)])
    }

    private static func cells(_ name: String, _ values: [String]) -> String {
        name + String(repeating: " ", count: 9 - name.count)
            + values.map { left($0, 9) }.joined()
    }

    /// "85 µs", "1.23 ms", "120 ms", "1.2 s": three digits at most.
    static func time(ns: UInt64) -> String {
        let microseconds = Double(ns) / 1000
        if microseconds < 999.5 { return "\(Int(microseconds.rounded())) µs" }
        let milliseconds = microseconds / 1000
        if milliseconds < 9.995 { return "\(hundredths(milliseconds)) ms" }
        if milliseconds < 999.5 { return "\(Int(milliseconds.rounded())) ms" }
        let seconds = milliseconds / 1000
        return seconds < 9.995 ? "\(hundredths(seconds)) s" : "\(Int(seconds.rounded())) s"
    }

    private static func hundredths(_ value: Double) -> String {
        let units = Int((value * 100).rounded())
        let rest = units % 100
        return "\(units / 100).\(rest < 10 ? "0" : "")\(rest)"
    }

    // MARK: Effort and reasons

    private static func effort(_ summary: LoadSummary) -> String {
        var connections = NumberText.count(summary.connectionsOpened, "connection")
        let replaced = summary.connectionsLost + summary.connectionsGoAway
        if replaced > 0 { connections += " (\(NumberText.count(replaced)) replaced)" }
        var parts = [
            connections, NumberText.count(UInt64(summary.options.threadCount), "thread"),
            "\(NumberText.bytes(summary.bytesSent)) sent",
        ]
        let answered = summary.accepted + summary.failed
        if answered > 0 {
            let each = summary.processorSeconds / Double(answered) * 1e9
            parts.append("\(time(ns: UInt64(each))) of a processor per request")
        }
        if let busy = summary.machineBusyShare {
            parts.append("this machine \(percent(busy)) busy")
        }
        return parts.joined(separator: " · ")
    }

    private static func reason(_ shortfall: Shortfall, _ summary: LoadSummary) -> String {
        let service = time(ns: summary.service.percentile(0.5))
        let options = summary.options
        switch shortfall {
        case .streams:
            let connections = NumberText.count(UInt64(options.connections), "connection")
            return "no stream was free: \(connections) with "
                + "\(NumberText.count(summary.streamsAllowed, "stream")) each, and half of the "
                + "answers took \(service) or more; try more --connections"
        case .window:
            return "the server's flow-control window was full: it takes the bytes too slowly, or "
                + "is far away; try more --connections"
        case .socket:
            return "the connections took no more bytes: the server reads too slowly, or the "
                + "network is the limit"
        case .connection:
            return "there was no open connection for a while: look at the server's log"
        case .processor:
            return "the processors of this machine were the limit: a thread of the test worked "
                + "\(percent(summary.threadBusyShare)) of the time and waited for a processor "
                + "\(percent(summary.threadWaitShare)); use another machine, or more --threads if "
                + "processors were free"
        case .serverErrors:
            let worst = summary.failures.first.map(name) ?? "errors"
            return "the server answers with errors: \(worst)"
        case .noAnswers:
            return "the server does not answer all requests: look at its log"
        }
    }

    private static func percent(_ share: Double) -> String {
        "\(Int((share * 100).rounded())) %"
    }

    private static func left(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
