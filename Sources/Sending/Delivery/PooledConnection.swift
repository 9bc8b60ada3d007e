internal import APNS
internal import Campaign
internal import EventLoop
internal import HTTP2
internal import Transport

/// One connection of a worker: how far it has come, and what may be asked of it.
///
/// connecting → warming (one request, as Apple asks with token authentication) → open → draining →
/// closed.
///
/// - Thread: the worker's.
final class PooledConnection {
    enum Stage { case connecting, warming, open, draining, closed }

    /// What keeps a request from starting.
    enum Obstacle { case none, streams, window, other }

    /// Refused requests in a row after which the connection is given up.
    private static let refusalsMax = 5
    /// Answers in a row, all of them 500, after which it is given up: connections to APNs were seen
    /// that answered nothing else until they were opened anew. 503 is the service's trouble.
    private static let serverErrorsMax = 20

    let id: Int32
    /// Where it goes: the server has more than one port, perhaps.
    let endpoint: Endpoint
    let session: ClientSession
    private(set) var connection: Connection?
    /// Its bytes that the worker has counted.
    var countedBytes: UInt64 = 0
    private(set) var stage = Stage.connecting
    /// When the whole way from the name lookup to the first SETTINGS must be done.
    let connectDeadlineNs: UInt64
    /// Requests in a row that were not answered in time.
    private(set) var timeoutsInARow = 0
    /// Until when open streams are waited for, once draining.
    private(set) var drainDeadlineNs = UInt64.max
    var limiter: RateLimiter
    var liveness: LivenessWatch
    /// Whether a response has ever arrived that says something about a row or the campaign.
    private(set) var hasAnswered = false
    /// When the connection could last be used, or was: an allowance of no streams must not be for
    /// ever.
    var usableNs: UInt64
    /// Times in a row that requests were refused without having been looked at, and the latest of
    /// them.
    private var refusalsInARow = 0
    private var refusedNs: UInt64 = 0
    private var serverErrorsInARow = 0
    /// Whether the worker decided that more requests would be in vain, and knows of it.
    private(set) var isGivenUp = false
    /// Whether a request is being given up for lack of an answer, by ``cancel(_:)``.
    private(set) var isCancelling = false
    /// What its session and its socket know it by.
    private(set) var events: ConnectionEvents!  // made right after `self`, and never replaced
    private unowned let worker: Worker
    private let needsWarmUp: Bool
    private let streamsMax: Int

    // What is told of it at its end.
    private let openedAt = Timestamp.now()
    private let openedNs: UInt64
    private var answeredCount = 0
    private var streamSent: Int32 = 0
    private var streamAnswered: Int32 = 0
    private var goAway: GoAway?
    /// Why it leaves, where that is known before its end.
    private var leaving: String?
    private var knownEnd: String?

    init(
        id: Int32, worker: Worker, endpoint: Endpoint, template: RequestTemplate, nowNs: UInt64
    ) throws(HTTP2Error) {
        self.id = id
        self.worker = worker
        self.endpoint = endpoint
        let timeouts = worker.state.campaign.timeouts
        needsWarmUp = worker.state.tokens != nil
        connectDeadlineNs = nowNs + UInt64(timeouts.connectMs) * 1_000_000
        openedNs = nowNs
        usableNs = nowNs
        streamsMax = worker.state.plan.streams
        limiter = RateLimiter(perSecond: worker.state.plan.connectionRate)
        liveness = LivenessWatch(requestNs: UInt64(timeouts.requestMs) * 1_000_000, nowNs: nowNs)
        session = try ClientSession(template: template)
        events = ConnectionEvents(owner: self)
        session.delegate = events
    }

    func connect(through connection: Connection) { self.connection = connection }

    // MARK: Room

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

    /// Why a request with such a body cannot start now.
    func obstacle(bodyBytes: Int) -> Obstacle {
        guard stage == .open else { return .other }
        if session.openStreamCount >= min(session.peerStreamsMax, streamsMax) {
            // What the user allows is no limit of the server's.
            return session.peerStreamsMax <= streamsMax ? .streams : .other
        }
        if session.windowBlockedBytes > 0 || session.connectionWindow < bodyBytes { return .window }
        return session.canSubmit(bodyBytes: bodyBytes) ? .none : .other
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

    // MARK: Requests

    /// Called for each request that starts here.
    func noteSubmitted(_ stream: StreamID, nowNs: UInt64) {
        streamSent = stream.rawValue
        limiter.take(nowNs: nowNs)
        connection?.setNeedsFlush()
    }

    /// Called for each response, whatever it says. A connection that answers everything with server
    /// errors has lost its way to what stands behind it; another one may find it.
    func noteResponse(stream: Int32, status: UInt16, nowNs: UInt64) {
        timeoutsInARow = 0
        answeredCount += 1
        streamAnswered = max(streamAnswered, stream)
        guard status == 500 else {
            serverErrorsInARow = 0
            return
        }
        serverErrorsInARow += 1
        guard serverErrorsInARow == Self.serverErrorsMax else { return }
        giveUp(.serverErrors, "the server answers every request with \(status)")
    }

    /// Whether its latest answers say that the server is in trouble.
    var answersWithServerErrors: Bool { serverErrorsInARow > 0 }

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
    func wasRefused(_ reason: @autoclosure () -> String, submittedNs: UInt64, nowNs: UInt64) {
        guard submittedNs >= refusedNs else { return }
        refusedNs = nowNs
        refusalsInARow += 1
        guard refusalsInARow >= Self.refusalsMax else { return }
        giveUp(.refused, "the server refuses every request with \(reason())")
    }

    /// Gives up a request whose deadline has passed; its terminal event comes before this returns.
    func cancel(_ stream: StreamID) {
        timeoutsInARow += 1
        liveness.requestTimedOut()
        isCancelling = true
        session.cancel(stream)
        isCancelling = false
        connection?.setNeedsFlush()
    }

    // MARK: The end

    /// Takes no more requests; closes when the open ones are answered, or at the deadline.
    func drain(because reason: String) {
        guard stage != .draining, stage != .closed else { return }
        stage = .draining
        leaving = leaving ?? reason
        drainDeadlineNs = worker.drainDeadlineNs()
        session.goAway()
        connection?.setNeedsFlush()
    }

    private func giveUp(_ kind: ConnectFailures.Kind, _ reason: String) {
        guard !isLeaving else { return }
        isGivenUp = true
        drain(because: reason)
        worker.connectionGivenUp(self, kind, reason)
    }

    /// Ends the connection now; requests that are open get their terminal event.
    ///
    /// - Parameter reason: why, when it is nobody's failure.
    func close(_ cause: ConnectionFailure?, because reason: String? = nil) {
        leaving = leaving ?? reason
        connection?.close(cause)
    }

    /// Why it ended, or leaves: its first cause, and what followed from it.
    var end: String {
        if let knownEnd { return knownEnd }
        let failure = connection?.endCause?.description
        let text =
            switch (leaving, failure) {
            case (let first?, let then?): "\(first); then: \(then)"
            case (let only?, nil), (nil, let only?): only
            case (nil, nil): "the server closed it while no request was open"
            }
        if hasEnded { knownEnd = text }
        return text
    }

    /// What the server said when it left; nil: it said nothing.
    var goAwayText: String? { goAway?.text }

    /// Why this side let it go, where it was this side; nil: the server did, or something failed.
    var ownReason: String? { leaving == goAway?.text ? nil : leaving }

    func record(nowNs: UInt64) -> ConnectionRecord {
        ConnectionRecord(
            opened: openedAt, seconds: Double(nowNs - min(nowNs, openedNs)) / 1e9,
            address: connection?.peer,
            // A client's streams are the odd numbers (RFC 9113, section 5.1.1).
            requests: Int(streamSent + 1) / 2, answered: answeredCount, streamSent: streamSent,
            streamAnswered: streamAnswered, bytesSent: connection?.bytesSent ?? 0,
            bytesReceived: connection?.bytesReceived ?? 0, end: end, goAway: goAway)
    }

    // MARK: Events

    func requestEnded(_ request: UInt32, with answer: borrowing Answer) {
        worker.requestEnded(SlotIndex(bitPattern: request), with: answer, on: self)
    }

    func settingsChanged() {
        guard stage == .connecting else { return }
        stage = needsWarmUp ? .warming : .open
        worker.connectionBecameReady(self)
    }

    func didReceiveGoAway(_ goAway: GoAway) {
        noteGoAway(goAway)
        guard stage != .draining, stage != .closed else { return }
        stage = .draining
        drainDeadlineNs = worker.drainDeadlineNs()
        worker.connectionIsDraining(self)
    }

    /// A server may announce its end first and give the reason with a second frame, or the other
    /// way round.
    private func noteGoAway(_ latest: GoAway) {
        let isFirst = leaving == nil || leaving == goAway?.text
        let saidMore = goAway.map { latest.reason.isEmpty && !$0.reason.isEmpty } ?? false
        let debugData = saidMore ? goAway?.debugData ?? [] : latest.debugData
        goAway = GoAway(
            lastStreamID: latest.lastStreamID, errorCode: latest.errorCode, debugData: debugData)
        if isFirst { leaving = goAway?.text }
    }

    func didOpen() { worker.connectionOpened(self) }

    func didFlush() { worker.connectionFlushed() }

    func didClose(_ failure: ConnectionFailure?) {
        let last = stage
        stage = .closed
        worker.connectionClosed(self, after: last, failure)
    }
}
