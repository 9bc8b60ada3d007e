internal import APNS
internal import EventLoop
internal import HTTP2
internal import Measure
internal import Synchronization
internal import Transport

/// One thread of a load test: its own loop and connections, and every n-th request of the schedule.
///
/// Requests are sent in ``turn()``, once per turn of the loop, when their time has come; answers
/// arrive between turns. A request that is due and finds no room waits, and the next ones with it:
/// what waits is no queue but the numbers from ``nextNumber`` on.
///
/// *Thread*: its own; nothing in it is shared but ``LoadState``.
final class LoadWorker {
    /// Requests that may start per turn, so that answers are not kept waiting.
    static let sendsPerTurnMax = 256
    /// How often deadlines, the provider token and the counters are looked after.
    static let tickMs: UInt64 = 100
    /// Shorter waits are not worth a system call: then two requests start together.
    static let pauseNsMin: UInt64 = 20_000
    /// What is due and not sent so long after the schedule's end is not sent any more.
    static let graceNs: UInt64 = 1_000_000_000
    /// How long answers are waited for after an interrupt.
    static let stoppingNsMax: UInt64 = 5_000_000_000
    /// Requests that wait to be sent again, beside those in flight.
    static let againMax = 4096

    let state: LoadState
    let index: Int
    let counters: LoadCounters
    let loop: EventLoop
    let slots: RequestSlots
    /// In the order of their submission.
    var inFlight = SlotList()
    /// Those that came back unprocessed.
    var again = SlotList()
    let body: [UInt8]
    let tokens: SyntheticTokens
    let tokenText: UnsafeMutableRawBufferPointer  // owned

    // The schedule: this worker's are the numbers `index`, `index + threads`, ….
    let schedule: LoadSchedule
    let stride: UInt64
    let numberEnd: UInt64
    var nextNumber: UInt64
    /// On the loop's clock; `.max`: not known yet, or no more.
    var nextPlannedNs = UInt64.max
    /// 0: not yet.
    var startNs: UInt64 = 0

    // The pool.
    var pool: [LoadConnection] = []
    var nextConnection = 0
    var nextConnectionID: Int32 = 0
    var connecting = ConnectAttempts()
    var isReady = false
    var poolNeedsCare = true
    var template: RequestTemplate
    var tokenVersion = -1
    var flusher: Flusher!  // made right after `self`, and never replaced

    // Measured.
    let latency = HistogramRecorder(LoadState.scale)
    let service = HistogramRecorder(LoadState.scale)
    let lag = HistogramRecorder(LoadState.scale)
    let failed = HistogramRecorder(LoadState.scale)
    let recent = HistogramRecorder(LoadState.coarseScale)
    private var blockedBy: Obstacle?
    private var blockedSinceNs: UInt64 = 0
    private let blockedNs: UnsafeMutablePointer<UInt64>  // owned
    var lastSentNs: UInt64 = 0
    /// See ``LoadMeasurements``; on the loop's clock, `.max` for none.
    var firstLateNs = UInt64.max
    private var timeAtStart: ThreadTime?
    /// When the last request had gone out, or was given up.
    private var end: (ns: UInt64, time: ThreadTime)?

    private var tick: LoopTimer!  // as above
    private var timer: PreciseTimer!
    /// When `timer` fires; 0: it is not running.
    private var timerDueNs: UInt64 = 0
    private var drainDeadlineNs = UInt64.max
    private var waitNs = UInt64.max
    /// Nothing is sent any more.
    private(set) var isDraining = false
    /// Answers are not waited for any more.
    private(set) var isClosing = false

    init(state: LoadState, index: Int) throws(LoadError) {
        let options = state.options
        self.state = state
        self.index = index
        counters = state.counters[index]
        slots = RequestSlots(
            capacity: options.connections(ofWorker: index) * options.streams + Self.againMax)
        body = SyntheticPayload.make(byteCount: options.payloadBytes)
        tokens = SyntheticTokens(count: options.tokenCount)
        tokenText = .allocate(byteCount: SyntheticTokens.characters, alignment: 8)
        schedule = options.schedule
        stride = UInt64(options.threadCount)
        numberEnd = schedule.requestCount
        nextNumber = UInt64(index)
        blockedNs = .allocate(capacity: Obstacle.allCases.count)
        blockedNs.initialize(repeating: 0, count: Obstacle.allCases.count)
        template = RequestTemplate(
            authority: options.endpoint.authority, pathPrefix: APNSHost.pathPrefix,
            headers: [
                ("apns-topic", options.topic), ("apns-push-type", "alert"), ("apns-priority", "10"),
            ])
        do {
            loop = try EventLoop()
            loop.beforePoll { [unowned self] in turn() }
            flusher = Flusher(loop: loop)
            tick = try loop.makeTimer { [unowned self] in onTick() }
            timer = try loop.makePreciseTimer { [unowned self] in timerDueNs = 0 }
            state.addWorker(try loop.makeWakeup {})
        } catch {
            throw LoadError(.internal, "a thread cannot start: \(error)")
        }
        try renewProviderToken()
    }

    deinit {
        tokenText.deallocate()
        blockedNs.deallocate()
    }

    /// Works until the schedule is done or the test stops, then returns.
    func run() {
        tick.start(afterMs: Self.tickMs, repeatMs: Self.tickMs)
        loop.run()
        handOver()
        timer.close()
        loop.close()
    }

    func fail(_ error: LoadError) { state.stop(.failure(error), nowNs: loop.nowNs) }

    private func turn() {
        if startNs == 0 { start() }
        if poolNeedsCare { keepPool() }
        for connection in pool where connection.needsWarmUp { warmUp(connection) }
        if startNs > 0 && !isDraining { sendDue() }
        finishIfDone()
    }

    /// Takes up the schedule when all workers are ready.
    private func start() {
        let ns = state.startNs.load(ordering: .acquiring)
        guard ns > 0 else { return }
        startNs = ns
        timeAtStart = ThreadTime.now()
        planNext()
    }

    /// Works out when the next request is due.
    func planNext() {
        nextPlannedNs =
            nextNumber < numberEnd ? startNs + schedule.plannedNs(nextNumber) : .max
    }

    /// Makes the loop turn again at a time, whatever else happens.
    func wake(atNs ns: UInt64, nowNs: UInt64) {
        let dueNs = max(ns, nowNs + Self.pauseNsMin)
        guard timerDueNs == 0 || dueNs < timerDueNs else { return }
        timerDueNs = dueNs
        timer.start(atNs: dueNs)
    }

    private func onTick() {
        let nowNs = loop.nowNs
        poolNeedsCare = true
        expireRequests(nowNs: nowNs)
        checkConnectionDeadlines(nowNs: nowNs)
        do throws(LoadError) { try renewProviderToken() } catch { fail(error) }
        if recent.count > 0 {
            state.addRecent(recent)
            recent.reset()
        }
        counters.set(dueCount(nowNs: nowNs), to: .behind)
    }

    /// Requests whose time came a while ago and that are not sent.
    private func dueCount(nowNs: UInt64) -> UInt64 {
        let lateNs = startNs + LoadSummary.latenessNs
        guard startNs > 0, nowNs > lateNs, !isDraining else { return 0 }
        let due = schedule.count(untilNs: nowNs - lateNs)
        return due > nextNumber ? (due - nextNumber) / stride : 0
    }

    // MARK: Obstacles

    /// Notes that requests are due and cannot start, or (nil) that nothing is in their way.
    func note(_ obstacle: Obstacle?, nowNs: UInt64) {
        guard obstacle != blockedBy else { return }
        if let blockedBy { blockedNs[blockedBy.rawValue] += nowNs - blockedSinceNs }
        blockedBy = obstacle
        blockedSinceNs = nowNs
    }

    func connectionFlushed() {
        // The output was the limit: there is room again, so the loop must not sleep on it.
        if blockedBy == .socket { wake(atNs: 0, nowNs: loop.nowNs) }
    }

    // MARK: The end

    private func finishIfDone() {
        if isClosing {
            if pool.isEmpty { loop.stop() }
            return
        }
        let isAllDone =
            startNs > 0 && nextPlannedNs == .max && again.isEmpty && inFlight.isEmpty
        if !isDraining, isAllDone || state.isStopping || isPastGrace { drain() }
        guard isDraining else { return }
        if state.isStopping { wait(ns: Self.stoppingNsMax, nowNs: loop.nowNs) }
        let isAnswered = inFlight.isEmpty
        guard isAnswered || state.isStoppingNow || loop.nowNs >= drainDeadlineNs else { return }
        isClosing = true
        for connection in pool {
            connection.session.goAway()
            connection.connection?.close(nil)
        }
        if pool.isEmpty { loop.stop() }
    }

    private var isPastGrace: Bool {
        startNs > 0 && loop.nowNs >= startNs + schedule.durationNs + Self.graceNs
    }

    /// Nothing more is sent; what is in flight is waited for.
    private func drain() {
        let nowNs = loop.nowNs
        isDraining = true
        end = (nowNs, ThreadTime.now())
        note(nil, nowNs: nowNs)
        wait(ns: state.options.requestMsMax * 1_000_000, nowNs: nowNs)
        while again.first >= 0 {
            let slot = again.first
            again.remove(slot, in: slots)
            finish(slot, status: 0, code: LoadCounters.refused)
        }
        counters.set(0, to: .behind)
    }

    /// Waits no longer than so long for the answers. Called again, it does not begin anew.
    private func wait(ns: UInt64, nowNs: UInt64) {
        if waitNs <= ns { return }
        waitNs = ns
        drainDeadlineNs = min(drainDeadlineNs, nowNs + ns)
    }

    private func handOver() {
        state.add { measured in
            measured.latency.add(latency)
            measured.service.add(service)
            measured.lag.add(lag)
            measured.failed.add(failed)
            for obstacle in Obstacle.allCases {
                measured.blockedNs[obstacle.rawValue] += blockedNs[obstacle.rawValue]
            }
            guard let timeAtStart, let end else { return }
            let elapsedNs = max(end.ns, startNs + 1) - startNs
            if firstLateNs < .max {
                measured.firstLateNs = min(measured.firstLateNs ?? .max, firstLateNs - startNs)
            }
            let ranNs = end.time.ranNs - timeAtStart.ranNs
            let waitedNs = end.time.waitedNs - min(end.time.waitedNs, timeAtStart.waitedNs)
            measured.processorNs += ranNs
            measured.threadBusyShareMax = max(
                measured.threadBusyShareMax, Double(ranNs) / Double(elapsedNs))
            measured.threadWaitShareMax = max(
                measured.threadWaitShareMax, Double(waitedNs) / Double(elapsedNs))
            measured.lastSentNs = max(measured.lastSentNs, lastSentNs - min(lastSentNs, startNs))
        }
    }
}

@available(*, unavailable) extension LoadWorker: Sendable {}
