internal import APNS
internal import Campaign
internal import EventLoop
internal import HTTP2
internal import Synchronization
internal import Transport

/// One thread of the run: its own loop and connections, and its rows from parse to outcome.
///
/// Everything happens in ``turn()``, once per turn of the loop: rows whose delay is over become
/// ready, the pool is kept at its number, connections with room are filled, failure lines are
/// written. Answers arrive between turns, in ``requestEnded(_:with:on:)``.
///
/// - Thread: its own; nothing in it is shared but ``RunState``.
final class Worker {
    /// Rows that may wait for a retry, beside those in flight. Full means that no new row is taken.
    static let waitingRowsMax = 8192
    /// Records judged per turn, so that a file of invalid rows does not keep answers waiting.
    static let recordsPerTurnMax = 4096
    /// How often deadlines, the provider token and the rate share are looked after.
    static let tickMs: UInt64 = 100
    /// A tick that is late by so much follows a pause of the whole process or machine.
    static let pauseNsMin: UInt64 = 1_000_000_000

    let state: RunState
    let index: Int
    let counters: WorkerCounters
    let loop: EventLoop
    let slots: RowSlots
    /// Rows that wait before they go again, because they came back unprocessed or were lost with
    /// their connection: they are free.
    let delayed: DelayQueue
    /// Rows whose retries the budget pays for.
    let retries: DelayQueue
    var budget: RetryBudget
    /// Whether no row is left to be sent for the first time, as far as it matters for the budget.
    var onlyRetriesAreLeft = false
    let journal: OutcomeJournal
    var inFlight = SlotQueue()
    /// Rows that may go again at once.
    var ready = SlotQueue()
    /// Rows whose failures can still fire a stop rule, in the order of their answers.
    var held = HeldRows()
    /// Rows whose answers concern the whole campaign, until a 200 or the fifth of them decides.
    var heldConfiguration = HeldRows()
    /// `ConfigurationAnswers.clearings` when they were held.
    var configurationClearings = 0
    /// Answers with 200 that the stop rules have not been told of.
    var acceptedUntold = 0
    /// What was last heard of the stop rules.
    var answersOfRun: UInt64 = 0
    var watchesFirst: Bool
    let watchesLast: Bool
    var nowNs: UInt64
    let latencies: LatencyRecorder

    // The input.
    /// Reads the records that come for the first time; in turn with `rowsAhead`.
    var freshRows: RowReader
    /// Has read the record `recordAhead` of the chunk, and borrows it, while that is not -1.
    var rowsAhead: RowReader
    var recordAhead = -1
    /// The keys of both readers' tokens among the duplicates, where those are looked for.
    var freshKey = DuplicateTable.Key()
    var keyAhead = DuplicateTable.Key()
    let retriedRows: RowReader
    /// Reads the tokens of rows that failed.
    let failedRows: RowReader
    var chunk: RecordChunk?
    var nextRecord = 0
    /// Which rows of the chunk are sent.
    var reading = ChunkQueue.Reading()
    /// A row that is rendered (by `stagedIn`) and waits for a connection with room.
    var staged: SlotIndex = -1
    var stagedIn: RowReader
    /// The values of ``RequestHeaders/perRequest``, for one call.
    let headerValues: UnsafeMutablePointer<UnsafeRawBufferPointer>
    let apnsIDText: UnsafeMutableRawBufferPointer

    // The pool.
    var pool: [PooledConnection] = []
    var nextConnection = 0
    var nextConnectionID: Int32 = 0
    /// This worker's share of the run's rate.
    var limiter: RateLimiter
    /// Nil unless the rate is found by looking at the answers; `paceLimiter` keeps to it.
    var pace: AdaptivePace?
    var paceLimiter: RateLimiter
    var seen = PaceObservation()
    var paceObservedNs: UInt64 = 0
    var headers: RequestHeaders
    var flusher: Flusher!  // made right after `self`, and never replaced
    var connectFailures = ConnectFailures()
    /// The latest failure to connect, for when the next is at another port.
    var failedElsewhere: (endpoint: Endpoint, cause: String)?
    var growth: PoolGrowth
    var poolIsToBeLookedAt = false

    private var tick: LoopTimer!  // as above
    private var pause: LoopTimer!
    /// When `pause` fires; 0: it is not running.
    private var pauseDueNs: UInt64 = 0
    /// When the last answer was noted for all workers.
    private var answerNotedNs: UInt64 = 0
    private var clockIsFresh = false
    private var tickedNs: UInt64
    private var tickWasLate = false
    private var stopDeadlineNs: UInt64?
    private var isFinishing = false

    init(state: RunState, index: Int) throws(SendError) {
        self.state = state
        self.index = index
        counters = state.counters[index]
        latencies = state.latencies[index]
        let connectionsMax = state.plan.connectionsMax(ofWorker: index)
        growth = PoolGrowth(addedMax: connectionsMax - state.plan.connections(ofWorker: index))
        let inFlightMax = connectionsMax * state.plan.streams
        slots = RowSlots(capacity: inFlightMax + Self.waitingRowsMax + 1)  // the one that is staged
        delayed = DelayQueue(capacity: slots.capacity)
        retries = DelayQueue(capacity: slots.capacity)
        budget = RetryBudget(
            workers: state.plan.threads, most: inFlightMax, nowNs: monotonicNowNs())
        watchesFirst = state.campaign.stopWhen.badDeviceToken != nil
        watchesLast = state.campaign.stopWhen.failures != nil
        journal = OutcomeJournal(
            ledger: state.ledger, failures: state.failures, retries: state.retries,
            identity: state.identity)
        limiter = RateLimiter(perSecond: state.plan.rate / Double(state.plan.threads))
        pace = state.plan.rampUpMs.map { AdaptivePace(rampUpMs: $0) }
        paceLimiter = RateLimiter(
            perSecond: pace?.rate ?? 0, head: AdaptivePace.headRows / state.plan.threads)
        headerValues = .allocate(capacity: RequestHeaders.perRequest.count)
        apnsIDText = .allocate(byteCount: APNSID.characters, alignment: 8)
        do {
            freshRows = try state.makeRowReader()
            rowsAhead = try state.makeRowReader()
            retriedRows = try state.makeRowReader()
            failedRows = try state.makeRowReader()
            stagedIn = freshRows
            headers = try RequestHeaders(state: state)
            loop = try EventLoop()
            nowNs = loop.nowNs
            paceObservedNs = nowNs
            tickedNs = nowNs
            loop.beforePoll { [unowned self] in turn() }
            flusher = Flusher(loop: loop)
            tick = try loop.makeTimer { [unowned self] in onTick() }
            pause = try loop.makeTimer { [unowned self] in pauseDueNs = 0 }
            state.addWorker(try loop.makeWakeup {})
        } catch let error as SendError {
            throw error
        } catch let error as CampaignError {
            throw SendError(.refused, error.description)
        } catch {
            throw SendError(.internal, "a worker cannot start: \(error)")
        }
    }

    deinit {
        headerValues.deallocate()
        apnsIDText.deallocate()
    }

    /// Works until every row has its outcome or the run stops, then returns.
    func run() {
        tick.start(afterMs: Self.tickMs, repeatMs: Self.tickMs)
        loop.run()
        loop.close()
    }

    /// The time of this turn: the clock is read once per turn in which something happens.
    func refreshClock() {
        guard !clockIsFresh else { return }
        nowNs = loop.nowNs
        clockIsFresh = true
    }

    /// Makes the loop turn again after `waitNs` at the latest, whatever else happens.
    func turnAgain(afterNs waitNs: UInt64) {
        let dueNs = nowNs + waitNs
        guard pauseDueNs == 0 || dueNs < pauseDueNs else { return }
        pauseDueNs = dueNs
        pause.start(afterMs: (waitNs + 999_999) / 1_000_000)
    }

    /// A server answers: connecting to it can be expected to work.
    func noteAnswer(on connection: PooledConnection) {
        if !connection.answersWithServerErrors {
            connectFailures.connectionAnswered(connection.id)
        }
        // A shared cell is written now and then, not for each answer.
        guard nowNs - min(nowNs, answerNotedNs) >= Self.tickMs * 1_000_000 else { return }
        answerNotedNs = nowNs
        state.lastAnswerNs.store(nowNs, ordering: .relaxed)
    }

    func fail(_ error: SendError) {
        state.stop(.failure(error))
    }

    private func turn() {
        refreshClock()
        if state.isStopping {
            stopTurn()
        } else {
            takeDueRows()
            releaseClearedRows()
            giveBackFinishedChunk()
            keepPool()
            fill()
            watchPoolLimits()
            if chunk == nil, slots.usedCount == heldRowCount { settleReading() }
        }
        flushJournal()
        finishIfDone()
        clockIsFresh = false
    }

    private func takeDueRows() {
        while let slot = delayed.popDue(nowNs: nowNs) { ready.append(slot, in: slots) }
        guard retries.count > 0 else { return }
        onlyRetriesAreLeft = chunk == nil && state.chunks.isReadToEnd
        while let dueNs = retries.firstDueNs, dueNs <= nowNs, budget.take(nowNs: nowNs) {
            guard let slot = retries.popDue(nowNs: nowNs) else { return }
            ready.append(slot, in: slots)
        }
    }

    func flushJournal() {
        do throws(SendError) { try journal.flush() } catch { fail(error) }
    }

    private func onTick() {
        refreshClock()
        if !hasJustPaused() {
            expireRequests()
            checkConnectionDeadlines()
        }
        renewProviderToken()
        adaptPace()
        countBytesSent()
        watchStopRules()
        poolIsToBeLookedAt = true
        if state.plan.rate > 0 {
            limiter.setRate(perSecond: state.rateShare(open: counters.value(.connectionsOpen)))
        }
    }

    /// Whether this tick comes late, and the one before did not: what has arrived in a pause is
    /// read before anything is given up for not having arrived.
    private func hasJustPaused() -> Bool {
        let isLate = nowNs - min(nowNs, tickedNs) >= Self.pauseNsMin
        tickedNs = nowNs
        defer { tickWasLate = isLate }
        return isLate && !tickWasLate
    }

    // MARK: The end

    /// Whether rows may come only with another reading of the input.
    var hasNothingToDo: Bool {
        chunk == nil && slots.usedCount == heldRowCount && state.chunks.isReadToEnd
    }

    /// Whether no row will come from the file any more.
    var inputIsDone: Bool { chunk == nil && state.chunks.isFinished }

    private func finishIfDone() {
        guard slots.usedCount == 0, state.isStopping || inputIsDone else { return }
        if !isFinishing {
            isFinishing = true
            for connection in pool {
                connection.session.goAway()
                connection.close(nil, because: "there were no more rows for it")
            }
        }
        if pool.isEmpty { loop.stop() }
    }

    /// A stopped run takes no more rows, waits for those in flight, and leaves the rest as the
    /// ledger has it.
    private func stopTurn() {
        if stopDeadlineNs == nil {
            stopDeadlineNs = nowNs + UInt64(state.campaign.timeouts.drainMs) * 1_000_000
            handBackWaitingRows()
        }
        if let deadline = stopDeadlineNs, state.isStoppingNow || nowNs >= deadline {
            for connection in pool { connection.close(nil, because: "the run was stopped") }
        }
    }

    private func handBackWaitingRows() {
        if staged >= 0 { slots.release(staged) }
        staged = -1
        while !ready.isEmpty { slots.release(ready.removeFirst(in: slots)) }
        while let slot = delayed.popDue(nowNs: .max) { slots.release(slot) }
        while let slot = retries.popDue(nowNs: .max) { slots.release(slot) }
        handBackHeldRows()
        if let chunk { state.chunks.giveBack(chunk) }
        chunk = nil
    }
}
