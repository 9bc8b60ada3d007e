import APNS
import EventLoop
import Load
import Measure
import Report

/// Watches a load test from the main thread: a line each second, and interruptions.
enum LoadWatcher {
    /// Runs the test and returns when it has ended.
    static func run(
        _ options: LoadOptions, _ tokens: ProviderTokenSource, isQuiet: Bool
    ) throws(CommandFailure) -> LoadSummary {
        do {
            let loop = try EventLoop()
            defer { loop.close() }
            let finished = try loop.makeWakeup { loop.stop() }
            let run = try LoadRun.start(options, tokens: tokens) { finished.send() }
            try watch(run, options, on: loop, isQuiet: isQuiet)
            return run.wait()
        } catch let error as LoadError {
            throw CommandFailure(
                error.kind == .refused ? .refused : .internalError, error.description)
        } catch {
            throw CommandFailure(.internalError, "cannot watch the test: \(error)")
        }
    }

    private static func watch(
        _ run: LoadRun, _ options: LoadOptions, on loop: EventLoop, isQuiet: Bool
    ) throws(EventLoopError) {
        var line = LoadLine(
            isTerminal: Terminal.showsStandardError,
            scheduleSeconds: Double(options.schedule.durationNs) / 1e9)
        let ticks = try loop.makeTimer {
            Terminal.standardError(line.update(run.takeProgress(), columns: Terminal.columns))
        }
        if !isQuiet { ticks.start(afterMs: 1000, repeatMs: 1000) }
        let signals = try Signals.watchEnd(on: loop) {
            Terminal.standardError(
                line.erasure + "peal: interrupted; waiting for the requests in flight "
                    + "(again: stop at once)\n")
            run.interrupt()
        }
        withExtendedLifetime((ticks, signals)) { loop.run() }
        if !isQuiet { Terminal.standardError(line.erasure) }
    }
}

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
