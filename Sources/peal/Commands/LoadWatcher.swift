import APNS
import EventLoop
import Load

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
