internal import APNS
internal import HTTP2
internal import Transport

/// One connection of a worker: how far it has come, and what may be asked of it.
///
/// connecting → warming (one request, as Apple asks with token authentication) → open → draining →
/// closed.
///
/// - Thread: the worker's.
final class PooledConnection: ClientSessionDelegate, ConnectionDelegate {
    enum Stage { case connecting, warming, open, draining, closed }

    let id: Int32
    let session: ClientSession
    private(set) var connection: Connection?
    /// Its bytes that the worker has counted.
    var countedBytes: UInt64 = 0
    private(set) var stage = Stage.connecting
    private(set) var goAway: GoAway?
    /// When the whole way from the name lookup to the first SETTINGS must be done.
    let connectDeadlineNs: UInt64
    /// Requests in a row that were not answered in time.
    var timeoutsInARow = 0
    /// Until when open streams are waited for, once draining.
    private(set) var drainDeadlineNs = UInt64.max
    var limiter: RateLimiter
    /// Whether a response has ever arrived that says something about a row or the campaign.
    private(set) var hasAnswered = false
    /// When the connection could last be used, or was: an allowance of no streams must not be for
    /// ever.
    var usableNs: UInt64 = 0
    /// Times in a row that requests were refused without having been looked at, and the latest of
    /// them.
    private var refusalsInARow = 0
    private var refusedNs: UInt64 = 0
    /// What the connection was given up for, when it refused too often.
    private(set) var refusal: String?
    private static let refusalsMax = 5
    /// Whether a request is being given up for lack of an answer, by ``cancel(_:)``.
    private(set) var isCancelling = false
    private unowned let worker: Worker
    private let needsWarmUp: Bool
    private let streamsMax: Int

    init(
        id: Int32, worker: Worker, template: RequestTemplate, needsWarmUp: Bool, plan: SendPlan,
        connectDeadlineNs: UInt64
    ) throws(HTTP2Error) {
        self.id = id
        self.worker = worker
        self.needsWarmUp = needsWarmUp
        self.connectDeadlineNs = connectDeadlineNs
        streamsMax = plan.streams
        limiter = RateLimiter(perSecond: plan.connectionRate)
        session = try ClientSession(template: template)
        session.delegate = self
    }

    func connect(through connection: Connection) { self.connection = connection }

    /// Whether a request with a body of this size may start now.
    func hasRoom(bodyBytes: Int, nowNs: UInt64) -> Bool {
        guard session.openStreamCount < currentStreamsMax else { return false }
        return limiter.allows(nowNs: nowNs) && session.canSubmit(bodyBytes: bodyBytes)
    }

    private var currentStreamsMax: Int {
        switch stage {
        case .warming: 1
        case .open: streamsMax
        case .connecting, .draining, .closed: 0
        }
    }

    /// Called for each response about a row or the campaign. The warm-up ends with the first that
    /// shows that the provider token is good: a 200, or a final answer about the row.
    func wasAnswered(endsWarmUp: Bool) {
        hasAnswered = true
        refusalsInARow = 0
        if stage == .warming && endsWarmUp { stage = .open }
    }

    /// Counts a request that came back unprocessed; after five in a row, which is no accident any
    /// more, the connection is given up. What was in flight together counts once: a server that
    /// lowers its limit may refuse hundreds.
    func wasRefused(
        _ reason: @autoclosure () -> String, submittedNs: UInt64, nowNs: UInt64,
        drainDeadlineNs: UInt64
    ) {
        guard submittedNs >= refusedNs else { return }
        refusedNs = nowNs
        refusalsInARow += 1
        guard refusalsInARow >= Self.refusalsMax else { return }
        refusal = reason()
        drain(deadlineNs: drainDeadlineNs)
    }

    /// Whether requests are in flight, or one with such a body could start.
    func isUsable(bodyBytes: Int) -> Bool {
        session.openRequestCount > 0 || session.canSubmit(bodyBytes: bodyBytes)
    }

    /// Whether nothing but its own rate may hold it back.
    var waitsForRate: Bool { currentStreamsMax > session.openStreamCount }

    /// Whether it takes no more requests, by either side's decision.
    var isLeaving: Bool { stage == .draining || stage == .closed || hasEnded }

    /// Whether the socket is gone.
    var hasEnded: Bool { connection?.phase == .closed }

    /// Gives up a request whose deadline has passed; its terminal event comes before this returns.
    func cancel(_ stream: StreamID) {
        timeoutsInARow += 1
        isCancelling = true
        session.cancel(stream)
        isCancelling = false
        connection?.setNeedsFlush()
    }

    /// Takes no more requests; closes when the open ones are answered, or at the deadline.
    func drain(deadlineNs: UInt64) {
        guard stage != .draining, stage != .closed else { return }
        stage = .draining
        drainDeadlineNs = deadlineNs
        session.goAway()
        connection?.setNeedsFlush()
    }

    /// Ends the connection now; requests that are open get their terminal event.
    func close(_ cause: ConnectionFailure?) {
        connection?.close(cause)
    }

    // MARK: Events

    func session(
        _ session: ClientSession, request: UInt32, endedWith answer: borrowing Answer
    ) {
        worker.requestEnded(SlotIndex(bitPattern: request), with: answer, on: self)
    }

    func sessionSettingsChanged(_ session: ClientSession) {
        guard stage == .connecting else { return }
        stage = needsWarmUp ? .warming : .open
        worker.connectionBecameReady(self)
    }

    func session(_ session: ClientSession, didReceiveGoAway goAway: GoAway) {
        self.goAway = goAway
        guard stage != .draining, stage != .closed else { return }
        stage = .draining
        drainDeadlineNs = worker.drainDeadlineNs()
        worker.connectionIsDraining(self)
    }

    func sessionDidReceivePong(_ session: ClientSession) {}

    func connectionDidOpen(_ connection: Connection) {
        worker.connectionOpened(self)
    }

    func connectionDidFlush(_ connection: Connection) {
        worker.connectionFlushed()
    }

    func connection(_ connection: Connection, didCloseWith failure: ConnectionFailure?) {
        let last = stage
        stage = .closed
        worker.connectionClosed(self, after: last, failure)
    }
}
