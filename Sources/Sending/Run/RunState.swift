internal import APNS
internal import Campaign
internal import EventLoop
internal import Synchronization
internal import TLS
internal import Transport

/// Why a run ends before its input does.
enum StopCause: Sendable {
    /// A person or a signal asked for it.
    case interrupted
    /// The instant after which nothing may be sent has come.
    case deadline(SendError)
    case failure(SendError)
}

/// What the threads of one run share: fixed values, and a few cells that are safe from any thread.
final class RunState: Sendable {
    let campaign: Campaign
    let plan: SendPlan
    let endpoint: Endpoint
    let tls: TLSContext
    let tokens: ProviderTokenSource?
    let identity: RunIdentity
    /// Moment of the first start, for relative expirations.
    let startedAt: Timestamp
    let ledger: Ledger
    /// Nil when the campaign sends duplicates.
    let duplicates: DuplicateTable?
    let chunks: ChunkQueue
    /// Ends the reader thread's waiting for a pipe.
    let reading: ReadCancellation
    let failures: AppendFile
    let retries: AppendFile
    let connections: AppendFile
    let openings: ConnectionOpenings
    let format: RecipientFormat
    let header: CSVHeader?
    /// Rows past this one are not sent.
    let rowLimit: UInt64
    let earlier: EarlierPart
    let counters: [WorkerCounters]
    /// By worker.
    let latencies: [LatencyRecorder]
    /// Nil when the campaign names no lists.
    let suppressed: SuppressionTable?

    /// Records handed out so far, and input bytes read for them; written by the reader thread.
    let rowsRead = Atomic<UInt64>(0)
    let bytesRead = Atomic<UInt64>(0)
    /// Set by the reader thread when no row of the input is left to hand out.
    let inputIsComplete = Atomic<Bool>(false)
    /// About when a server last answered any worker, monotonic; 0: never.
    let lastAnswerNs = Atomic<UInt64>(0)

    // What decides over failures: read by all workers, written by whoever meets one.
    let retryRules: RetryRules
    let laterPasses = Mutex(LaterPasses())
    let stopRules: Mutex<StopRules>
    let configurationAnswers = Mutex(ConfigurationAnswers())
    /// Whether there are any, so that a 200 need not lock to know.
    let hasConfigurationAnswers = Atomic<Bool>(false)
    /// Set before the run is stopped by one of these rules.
    let ruleHasFired = Atomic<Bool>(false)
    /// Set by the reader thread, before it hands out a row: later passes are possible.
    let canReadAgain = Atomic<Bool>(false)
    let deadline: RunDeadline?

    private let stopping = Atomic<Bool>(false)
    private let stoppingNow = Atomic<Bool>(false)
    private let cause = Mutex<StopCause?>(nil)
    private let workerWakeups = Mutex<[Wakeup]>([])
    /// What the run is waiting for, for the progress line.
    private let waiting = Mutex<String?>(nil)

    init(
        campaign: Campaign, plan: SendPlan, endpoint: Endpoint, tls: TLSContext,
        tokens: ProviderTokenSource?, identity: RunIdentity, startedAt: Timestamp, ledger: Ledger,
        duplicates: DuplicateTable?, chunks: ChunkQueue, reading: ReadCancellation,
        failures: AppendFile, retries: AppendFile, connections: AppendFile,
        format: RecipientFormat, header: CSVHeader?, rowLimit: UInt64,
        suppressed: SuppressionTable?, earlier: EarlierPart = EarlierPart()
    ) {
        self.campaign = campaign
        self.plan = plan
        self.endpoint = endpoint
        self.tls = tls
        self.tokens = tokens
        self.identity = identity
        self.startedAt = startedAt
        self.ledger = ledger
        self.duplicates = duplicates
        self.chunks = chunks
        self.reading = reading
        self.failures = failures
        self.retries = retries
        self.connections = connections
        openings = ConnectionOpenings(endpoint: endpoint)
        self.format = format
        self.header = header
        self.rowLimit = rowLimit
        self.earlier = earlier
        rowsRead.store(earlier.rows, ordering: .relaxed)
        counters = (0..<plan.threads).map { _ in WorkerCounters() }
        latencies = (0..<plan.threads).map { _ in LatencyRecorder() }
        self.suppressed = suppressed
        chunks.setWorkerCount(plan.threads)
        let retry = campaign.retry
        retryRules = RetryRules(
            attempts: retry.attempts, serverErrorDelaySeconds: retry.serverErrorDelaySeconds,
            secondPassNs: retry.secondPassMs.map { $0 * 1_000_000 }, secondNs: plan.retrySecondNs)
        stopRules = Mutex(StopRules(campaign.stopWhen))
        deadline = RunDeadline(campaign, startedAt: startedAt)
    }

    /// Whether workers must take no new rows.
    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// Whether requests in flight are not waited for either.
    var isStoppingNow: Bool { stoppingNow.load(ordering: .acquiring) }

    /// The first cause of the stop; nil when the run was not stopped.
    var stopCause: StopCause? { cause.withLock { $0 } }

    /// Asks every thread to end. The first cause is kept; a second interrupt ends the draining,
    /// too.
    func stop(_ newCause: StopCause) {
        cause.withLock { if $0 == nil { $0 = newCause } }
        if case .interrupted = newCause, isStopping {
            stoppingNow.store(true, ordering: .releasing)
        }
        stopping.store(true, ordering: .releasing)
        chunks.cancel()
        reading.cancel()
        workerWakeups.withLock { for wakeup in $0 { wakeup.send() } }
    }

    /// Keeps a cause for which the run ends early, while the rows that were handed out are still
    /// sent.
    func endEarly(because error: SendError) {
        cause.withLock { if $0 == nil { $0 = .failure(error) } }
    }

    func addWorker(_ wakeup: Wakeup) {
        workerWakeups.withLock { $0.append(wakeup) }
        chunks.addWorker(wakeup)
    }

    var waitingFor: String? {
        get { waiting.withLock { $0 } }
        set { waiting.withLock { $0 = newValue } }
    }

    func makeRowReader() throws(CampaignError) -> RowReader {
        try RowReader(campaign: campaign, format: format, header: header)
    }

    /// The share of the run's rate that belongs to a worker with `open` of all open connections;
    /// one that has none yet gets that of its first.
    func rateShare(open: UInt64) -> Double {
        let all = counters.reduce(0) { $0 + $1.value(.connectionsOpen) }
        guard all > 0 else { return plan.rate / Double(plan.threads) }
        return plan.rate * Double(max(open, 1)) / Double(max(open, 1) + all - min(open, all))
    }

    /// What has held rows back so far.
    var heldBack: HeldBack {
        counters.reduce(into: HeldBack()) { $1.add(to: &$0) }
    }

    /// Rows that this start's requests were accepted for.
    var acceptedCount: UInt64 {
        counters.reduce(0) { $0 + $1.finalCount(FinalCode.accepted.rawValue) }
    }

    /// Whether any row was accepted so far.
    var hasAccepted: Bool {
        counters.contains { $0.finalCount(FinalCode.accepted.rawValue) > 0 }
    }
}
