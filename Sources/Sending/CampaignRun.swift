package import APNS
package import Campaign
internal import Crypto
internal import EventLoop
internal import Synchronization
internal import TLS
internal import Transport

/// A campaign that is being sent: started, watched, interrupted, waited for.
///
/// - Thread: any.
package final class CampaignRun: Sendable {
    private let state: RunState
    private let folder: RunFolder
    private let record: RunRecord
    private let inputBytes: UInt64?
    private let startNs: UInt64
    private let checkpointer: Checkpointer
    private let threads = Mutex<[PlatformThread]>([])
    private let runningThreads: Atomic<Int>

    /// Checks the input, makes or opens the run folder, and starts the threads.
    ///
    /// - Parameters:
    ///   - tokens: where provider tokens come from; nil with certificate authentication.
    ///   - whenFinished: called once, on a thread of the run, when ``wait()`` will not wait any
    ///     more.
    /// - Throws: kind `.refused`; nothing has been sent then.
    package static func start(
        campaign: Campaign, options: SendOptions, tokens: ProviderTokenSource?,
        whenFinished: @escaping @Sendable () -> Void
    ) throws(SendError) -> CampaignRun {
        try RunDeadline.check(campaign, options)
        let setup =
            options.resumes
            ? try RunSetup(resuming: campaign, options: options, tokens: tokens)
            : try RunSetup(campaign: campaign, options: options, tokens: tokens)
        let run = CampaignRun(setup)
        try run.startThreads(setup, expectRows: options.expectRows, whenFinished)
        return run
    }

    private init(_ setup: RunSetup) {
        state = setup.state
        folder = setup.folder
        record = setup.record
        inputBytes = setup.reader.bytesTotal
        startNs = monotonicNowNs()
        checkpointer = Checkpointer(
            state: setup.state, folder: setup.folder, files: setup.durableFiles, startNs: startNs)
        runningThreads = Atomic(setup.state.plan.threads + 1)
    }

    /// Stops the run after the requests in flight are answered; called again, at once.
    package func interrupt() {
        state.stop(.interrupted)
    }

    /// Whether it takes no more rows.
    var isStopping: Bool { state.isStopping }

    /// Where the run stands now.
    package var progress: ProgressSnapshot {
        var snapshot = ProgressSnapshot()
        snapshot.rowsRead = state.rowsRead.load(ordering: .relaxed)
        for code in OpenState.firstFinal...UInt8.max {
            let count = state.counters.reduce(state.earlier.counts[Int(code)]) {
                $0 + $1.finalCount(code)
            }
            guard count > 0 else { continue }
            snapshot.outcomes[FinalCode(rawValue: code).outcome, default: 0] += count
        }
        let final = snapshot.outcomes.values.reduce(0, +)
        snapshot.accepted = snapshot.outcomes[.accepted] ?? 0
        for outcome: Outcome in [.unregistered, .rejected, .exhausted, .unknown, .invalid] {
            snapshot.failed += snapshot.outcomes[outcome] ?? 0
        }
        snapshot.open = snapshot.rowsRead - min(final, snapshot.rowsRead)
        snapshot.fractionRead = inputBytes.map { total in
            total == 0 ? 1 : Double(state.bytesRead.load(ordering: .relaxed)) / Double(total)
        }
        snapshot.seconds = seconds
        snapshot.waitingFor = state.waitingFor
        snapshot.heldBack = state.heldBack
        return snapshot
    }

    /// Waits for the threads, writes what the run folder must hold, and says how the run ended.
    package func wait() -> RunSummary {
        for thread in threads.withLock({ $0 }) { thread.join() }
        return RunEnding(state: state, folder: folder, record: record, checkpointer: checkpointer)
            .conclude()
    }

    /// What there is to report; to be asked when ``wait()`` has returned `summary`.
    package func facts(_ summary: RunSummary) -> RunFacts {
        RunFacts(summary, record, checkpointer.rate, in: folder)
    }

    /// Writes `report.html` into the run folder.
    ///
    /// - Throws: kind `.stopped`; the run's outcomes do not depend on it.
    package func write(report: [UInt8]) throws(SendError) {
        try folder.replace(RunFolder.reportName, with: report)
    }

    private var seconds: Double { Double(monotonicNowNs() - startNs) / 1e9 }

    private func startThreads(
        _ setup: RunSetup, expectRows: UInt64?, _ whenFinished: @escaping @Sendable () -> Void
    ) throws(SendError) {
        let state = state
        let ended: @Sendable () -> Void = { [self] in
            if runningThreads.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
                checkpointer.end()
                whenFinished()
            }
        }
        do {
            for index in 0..<state.plan.threads {
                try add(
                    PlatformThread.start(name: "peal-send-\(index)") {
                        do throws(SendError) {
                            try Worker(state: state, index: index).run()
                        } catch {
                            state.stop(.failure(error))
                        }
                        ended()
                    })
            }
            let feeder = FeederParts(setup: setup, expectRows: expectRows)
            try add(
                PlatformThread.start(name: "peal-read") {
                    feeder.run()
                    ended()
                })
            try add(PlatformThread.start(name: "peal-checkpoint") { [self] in checkpointer.run() })
        } catch {
            let failure = SendError(
                .internal, "cannot start a thread: \(error); use fewer threads (--threads)")
            state.stop(.failure(failure))
            throw failure
        }
    }

    private func add(_ thread: PlatformThread) {
        threads.withLock { $0.append(thread) }
    }
}

/// What the reader thread takes over from the thread that starts the run.
// @unchecked: handed over whole; the starting thread lets go of it.
private struct FeederParts: @unchecked Sendable {
    let setup: RunSetup
    let expectRows: UInt64?

    func run() { Feeder(setup, expectRows: expectRows).run() }
}
