import APNS
import Campaign
import EventLoop
import Report
import Sending

/// Watches a run from the main thread: draws its progress, and passes interruptions on.
enum RunWatcher {
    /// Milliseconds between two looks at a run: a line that changes more often cannot be read.
    private static let terminalTickMs: UInt64 = 100
    private static let plainTickMs: UInt64 = 1000

    /// Sends the campaign and returns when it has ended.
    static func send(
        _ campaign: Campaign, _ options: SendOptions, _ credentials: Credentials, isQuiet: Bool
    ) throws(CommandFailure) -> RunSummary {
        let tokens: ProviderTokenSource? =
            switch credentials {
            case .key(let key):
                ProviderTokenSource(key: key.key, keyID: key.keyID, teamID: key.teamID)
            case .identity: nil
            }
        do {
            let loop = try EventLoop()
            defer { loop.close() }
            let finished = try loop.makeWakeup { loop.stop() }
            let run = try CampaignRun.start(
                campaign: campaign, options: options, tokens: tokens,
                whenFinished: { finished.send() })
            try watch(run, on: loop, isQuiet: isQuiet)
            let summary = run.wait()
            ReportCommand.write(run, summary)
            return summary
        } catch let error as SendError {
            throw CommandFailure(status(of: error), error.description)
        } catch {
            throw CommandFailure(.internalError, "cannot watch the run: \(error)")
        }
    }

    /// Runs the loop until the run has ended.
    private static func watch(
        _ run: CampaignRun, on loop: EventLoop, isQuiet: Bool
    ) throws(EventLoopError) {
        let isTerminal = Terminal.showsStandardError
        var line = ProgressLine(style: isTerminal ? .terminal : .plain)
        let ticks = try loop.makeTimer {
            guard let text = line.update(run.progress, columns: Terminal.columns) else { return }
            Terminal.standardError(text)
        }
        if !isQuiet {
            let tickMs = isTerminal ? terminalTickMs : plainTickMs
            ticks.start(afterMs: tickMs, repeatMs: tickMs)
        }
        let signals = try Signals.watchEnd(on: loop) {
            Terminal.standardError(
                line.erasure + "peal: interrupted; waiting for the requests in flight "
                    + "(again: stop at once)\n")
            run.interrupt()
        }
        withExtendedLifetime((ticks, signals)) { loop.run() }
        if !isQuiet { Terminal.standardError(line.erasure) }
    }

    /// What a failure means for the process.
    static func status(of error: SendError) -> ExitStatus {
        switch error.kind {
        case .refused: .refused
        case .stopped: .stopped
        case .internal: .internalError
        }
    }
}
