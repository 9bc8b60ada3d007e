package import APNS
internal import EventLoop
internal import Glibc
package import Measure
internal import Synchronization
internal import TLS
internal import Transport

/// A load test: started, watched, interrupted, waited for.
///
/// *Thread*: any.
package final class LoadRun: Sendable {
    private let state: LoadState
    private let threads = Mutex<[PlatformThread]>([])
    private let runningThreads: Atomic<Int>

    /// Starts the threads. The schedule begins when all connections are open.
    ///
    /// `whenFinished` is called once, on a thread of the test, when ``wait()`` will not wait any
    /// more. *Errors*: kind `.refused` when nothing can be sent as asked, `.internal`.
    package static func start(
        _ options: LoadOptions, tokens: ProviderTokenSource,
        whenFinished: @escaping @Sendable () -> Void
    ) throws(LoadError) -> LoadRun {
        try check(options)
        let tls: TLSContext
        do throws(TLSError) {
            tls = try TLSContext.client(caFile: options.caFile)
        } catch {
            throw LoadError(.refused, error.description)
        }
        let run = LoadRun(LoadState(options: options, tls: tls, tokens: tokens))
        try run.startThreads(whenFinished)
        return run
    }

    private init(_ state: LoadState) {
        self.state = state
        runningThreads = Atomic(state.options.threadCount)
    }

    /// Sends nothing more and waits a little for the answers; called again, not even that.
    package func interrupt() { state.stop(.interrupted, nowNs: monotonicNowNs()) }

    /// Where the test stands, and what happened since the last call.
    package func takeProgress() -> LoadProgress {
        let startNs = state.startNs.load(ordering: .acquiring)
        let nowNs = monotonicNowNs()
        return LoadProgress(
            seconds: startNs == 0 || nowNs < startNs ? nil : Double(nowNs - startNs) / 1e9,
            accepted: state.total(.accepted), failed: state.total(.failed),
            inFlight: state.total(.inFlight), behind: state.total(.behind),
            recentLatency: state.takeRecent())
    }

    /// Waits for the threads, and says what was measured.
    package func wait() -> LoadSummary {
        for thread in threads.withLock({ $0 }) { thread.join() }
        return LoadSummary(state)
    }

    private static func check(_ options: LoadOptions) throws(LoadError) {
        if let refusal = options.target.refusal(host: options.endpoint.host) {
            throw LoadError(.refused, refusal)
        }
        guard options.threads ?? 1 <= options.connections else {
            throw LoadError(
                .refused,
                "\(options.threads ?? 1) threads need as many connections, and there are "
                    + "\(options.connections): set --connections or --threads")
        }
        guard options.schedule.requestCount > 0 else {
            throw LoadError(
                .refused, "the schedule holds no request: raise --rate or --duration")
        }
    }

    private func startThreads(
        _ whenFinished: @escaping @Sendable () -> Void
    ) throws(LoadError) {
        let state = state
        let ended: @Sendable () -> Void = { [self] in
            if runningThreads.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
                whenFinished()
            }
        }
        do {
            for index in 0..<state.options.threadCount {
                let thread = try PlatformThread.start(name: "peal-load-\(index)") {
                    do throws(LoadError) {
                        let worker = try LoadWorker(state: state, index: index)
                        worker.run()
                    } catch {
                        state.stop(.failure(error), nowNs: monotonicNowNs())
                    }
                    ended()
                }
                threads.withLock { $0.append(thread) }
            }
        } catch {
            state.stop(
                .failure(LoadError(.internal, "cannot start a thread: \(error)")),
                nowNs: monotonicNowNs())
            for thread in threads.withLock({ $0 }) { thread.join() }
            throw LoadError(.internal, "cannot start a thread: \(error)")
        }
    }
}

/// Where a load test stands.
package struct LoadProgress: Sendable {
    /// Since the schedule's start; nil before it.
    package let seconds: Double?
    package let accepted: UInt64
    package let failed: UInt64
    package let inFlight: UInt64
    /// Requests that were due a tenth of a second ago and still wait for a connection with room.
    package let behind: UInt64
    /// From the planned time to the answer, since the last look.
    package let recentLatency: Histogram
}

extension LoadSummary {
    init(_ state: LoadState) {
        let early = state.earlyEnd
        let schedule = state.options.schedule
        let startNs = state.startNs.load(ordering: .acquiring)
        let measured = state.measurements
        options = state.options
        switch early?.cause {
        case nil: end = .completed
        case .interrupted: end = .interrupted
        case .failure(let error): end = .failed(error.description)
        }
        let passedNs = startNs == 0 ? 0 : (early?.ns ?? .max) - min(startNs, early?.ns ?? .max)
        elapsedNs = min(passedNs, schedule.durationNs)
        let isLate = measured.lastSentNs > elapsedNs + Self.latenessNs
        seconds = Double(isLate ? measured.lastSentNs : elapsedNs) / 1e9
        rateBeforeLate = measured.firstLateNs.map { schedule.rate(atNs: $0) }
        sent = state.total(.sent)
        planned = max(schedule.count(untilNs: elapsedNs), sent)
        accepted = state.total(.accepted)
        failed = state.total(.failed)
        failures = LoadCounters.failures(of: state.counters)
        again = state.total(.again)
        warmUps = state.total(.warmUps)
        connectionsOpened = state.total(.connectionsOpened)
        connectionsGoAway = state.total(.connectionsGoAway)
        connectionsLost = state.total(.connectionsLost)
        bytesSent = state.total(.bytesSent)
        latency = measured.latency
        service = measured.service
        lag = measured.lag
        failedLatency = measured.failed
        streamsAllowed = state.counters.map { $0[.streamsAllowed] }.max() ?? 0
        blockedSeconds = measured.blockedNs.map { Double($0) / 1e9 }
        processorSeconds = Double(measured.processorNs) / 1e9
        threadBusyShare = measured.threadBusyShareMax
        threadWaitShare = measured.threadWaitShareMax
        machineBusyShare = state.machineBusyShare
    }
}
