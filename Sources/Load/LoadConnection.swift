internal import HTTP2
internal import Transport

/// One connection of a load test.
///
/// connecting → warming (one request beside the schedule, as Apple asks with token authentication)
/// → open → draining → closed.
///
/// *Thread*: its worker's.
final class LoadConnection: ClientSessionDelegate, ConnectionDelegate {
    enum Stage { case connecting, warming, open, draining, closed }

    /// The number by which the session knows the warm-up request; slots have others.
    static let warmUpRequest = UInt32.max

    let id: Int32
    let session: ClientSession
    private(set) var connection: Connection?
    private(set) var stage = Stage.connecting
    /// When the way from the name look-up to the end of the warm-up must be done.
    let connectDeadlineNs: UInt64
    /// Until when open requests are waited for, once draining.
    private(set) var drainDeadlineNs = UInt64.max
    /// A warm-up request has to be sent.
    var needsWarmUp = false
    /// Requests in a row that were not answered in time.
    var timeoutsInARow = 0
    /// Whether a request is being given up for lack of an answer.
    private(set) var isCancelling = false
    private unowned let worker: LoadWorker
    private let streamsMax: Int

    init(
        id: Int32, worker: LoadWorker, template: RequestTemplate, streamsMax: Int,
        connectDeadlineNs: UInt64
    ) throws(HTTP2Error) {
        self.id = id
        self.worker = worker
        self.streamsMax = streamsMax
        self.connectDeadlineNs = connectDeadlineNs
        session = try ClientSession(template: template)
        session.delegate = self
    }

    func connect(through connection: Connection) { self.connection = connection }

    /// Whether a request with a body of this size may start now.
    func hasRoom(bodyBytes: Int) -> Bool {
        stage == .open && session.openStreamCount < streamsMax
            && session.canSubmit(bodyBytes: bodyBytes)
    }

    /// How many requests may be in flight.
    var streamsAllowed: Int { min(streamsMax, session.peerStreamsMax) }

    /// What keeps a request with such a body from starting.
    func obstacle(bodyBytes: Int) -> Obstacle {
        guard stage == .open else { return .connection }
        if session.openStreamCount >= streamsAllowed { return .streams }
        if session.connectionWindow < bodyBytes || session.windowBlockedBytes > 0 { return .window }
        return .socket
    }

    /// The warm-up was answered: requests may start.
    func open() {
        if stage == .warming { stage = .open }
    }

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
    }

    /// Whether the socket is gone.
    var hasEnded: Bool { connection?.phase == .closed }

    // MARK: Events

    func session(
        _ session: ClientSession, request: UInt32, endedWith answer: borrowing Answer
    ) {
        if request == Self.warmUpRequest {
            worker.warmUpEnded(with: answer, on: self)
        } else {
            worker.requestEnded(SlotIndex(bitPattern: request), with: answer, on: self)
        }
    }

    func sessionSettingsChanged(_ session: ClientSession) {
        guard stage == .connecting else { return }
        stage = .warming
        needsWarmUp = true
    }

    func session(_ session: ClientSession, didReceiveGoAway goAway: GoAway) {
        worker.connectionLeaves(self)
    }

    func sessionDidReceivePong(_ session: ClientSession) {}

    func connectionDidOpen(_ connection: Connection) { worker.connectionOpened() }

    func connectionDidFlush(_ connection: Connection) { worker.connectionFlushed() }

    func connection(_ connection: Connection, didCloseWith failure: ConnectionFailure?) {
        let last = stage
        stage = .closed
        worker.connectionClosed(self, after: last, failure)
    }
}
