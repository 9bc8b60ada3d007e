internal import Campaign
internal import EventLoop
internal import HTTP2
internal import Synchronization
internal import TLS
internal import Transport

/// What a worker remembers of connections that led to no answer.
struct ConnectFailures {
    private(set) var inARow = 0
    private(set) var sinceNs: UInt64 = 0
    var nextAttemptNs: UInt64 = 0
    private var latestID: Int32 = 0

    mutating func count(_ id: Int32, nowNs: UInt64) {
        if inARow == 0 { sinceNs = nowNs }
        inARow += 1
        latestID = max(latestID, id)
    }

    /// An older connection that goes on answering does not make the next attempt more promising:
    /// only a newer one ends the row. Otherwise attempts beside a busy connection would know no
    /// backoff.
    mutating func connectionAnswered(_ id: Int32) {
        if id > latestID { inARow = 0 }
    }
}

extension ConnectionFailure {
    /// Whether trying again cannot help: somebody has to change something first.
    var isPermanent: Bool {
        switch self {
        case .tls(let error): error.isVerification
        case .noHTTP2: true
        default: false
        }
    }
}

/// The worker's pool: opened, kept at its number, replaced, closed.
extension Worker {
    /// A server that never let us in is given up after this many attempts,
    static let firstConnectAttemptsMax = 3
    /// and one that once answered after this long without an answer to any.
    static let outageNsMax: UInt64 = 60_000_000_000
    /// Requests in a row without an answer that make a connection count as dead.
    static let timeoutsInARowMax = 3

    /// Opens what is missing: one connection first, the others when that one has been answered
    /// SETTINGS.
    func keepPool() {
        guard nowNs >= connectFailures.nextAttemptNs else { return }
        var live = 0
        var hasReady = false
        for connection in pool {
            switch connection.stage {
            case .connecting: live += 1
            case .warming, .open:
                live += 1
                hasReady = true
            case .draining, .closed: break
            }
        }
        let wanted = hasReady ? connectionsWanted : min(1, connectionsWanted)
        while live < wanted, !state.isStopping {
            openConnection()
            live += 1
        }
    }

    /// The worker's share of the pool; less when only a few rows are left.
    private var connectionsWanted: Int {
        let fromChunk = chunk.map { $0.recordCount - nextRecord } ?? 0
        let rowsLeft = fromChunk + slots.usedCount - heldRowCount
        if rowsLeft == 0 && !hasQueuedInput() { return 0 }
        let share = state.plan.connections(ofWorker: index)
        return state.chunks.isReadToEnd ? min(share, max(1, rowsLeft / 100)) : share
    }

    /// Takes a chunk when there is one, so that a worker without rows opens no connection.
    private func hasQueuedInput() -> Bool {
        guard chunk == nil else { return true }
        takeChunk()
        return chunk != nil
    }

    private func openConnection() {
        nextConnectionID &+= 1
        let deadlineNs = nowNs + UInt64(state.campaign.timeouts.connectMs) * 1_000_000
        do {
            let pooled = try PooledConnection(
                id: nextConnectionID, worker: self, template: headers.template,
                needsWarmUp: state.tokens != nil, plan: state.plan, connectDeadlineNs: deadlineNs)
            pooled.connect(
                through: try Connection.connect(
                    to: state.endpoint, tls: state.tls, session: pooled.session, flusher: flusher,
                    loop: loop, delegate: pooled))
            pool.append(pooled)
        } catch let failure as ConnectionFailure {
            connectFailed(nextConnectionID, failure.description)
        } catch {
            fail(SendError(.internal, "cannot make a connection: \(error)"))
        }
    }

    private func connectFailed(_ id: Int32, _ cause: String, isPermanent: Bool = false) {
        connectFailures.count(id, nowNs: nowNs)
        let text = "\(state.endpoint): \(cause)"
        state.waitingFor = "a connection (\(text))"
        // Another worker's answers count, too: then the server is there.
        let answerNs = state.lastAnswerNs.load(ordering: .relaxed)
        let neverAnswered = answerNs == 0
        let isTooOften = neverAnswered && connectFailures.inARow >= Self.firstConnectAttemptsMax
        let sinceNs = max(connectFailures.sinceNs, answerNs)
        let isTooLong = nowNs - min(nowNs, sinceNs) > Self.outageNsMax
        if neverAnswered && isPermanent || isTooOften || isTooLong {
            fail(SendError(.stopped, text))
        } else {
            let waitNs = jitter(baseMs: 100, doublings: connectFailures.inARow)
            connectFailures.nextAttemptNs = nowNs + waitNs
            turnAgain(afterNs: waitNs)
        }
    }

    // MARK: Events

    func connectionOpened(_ connection: PooledConnection) {
        counters.add(1, to: .connectionsOpened)
    }

    func connectionBecameReady(_ connection: PooledConnection) {
        refreshClock()
        connection.usableNs = nowNs
        state.waitingFor = nil
        countOpenConnections()
    }

    func connectionIsDraining(_ connection: PooledConnection) {
        counters.add(1, to: .connectionsGoAway)
        countOpenConnections()
    }

    func connectionFlushed() {
        // The output was the limit: there is room again, so the loop must not sleep on it.
        if hasRowsToSend { turnAgain(afterNs: 0) }
    }

    func connectionClosed(
        _ connection: PooledConnection, after stage: PooledConnection.Stage,
        _ failure: ConnectionFailure?
    ) {
        refreshClock()
        pool.removeAll { $0 === connection }
        countBytesSent(of: connection)
        countOpenConnections()
        guard !state.isStopping, !hasNothingToDo else { return }
        if stage != .draining { counters.add(stage == .connecting ? 0 : 1, to: .connectionsLost) }
        if let refusal = connection.refusal {
            connectFailed(connection.id, "the server refuses every request with \(refusal)")
        } else if !connection.hasAnswered {
            connectFailed(
                connection.id, Self.text(of: failure), isPermanent: failure?.isPermanent ?? false)
        }
    }

    /// Says what to do where the failure itself has no remedy: its cause is on the server's side.
    private static func text(of failure: ConnectionFailure?) -> String {
        let remedy = "; check that this is an APNs server, and what its log says"
        guard let failure else {
            return "the server closed the connection before it answered a request" + remedy
        }
        switch failure {
        case .peerClosed, .io, .protocolError, .timedOut(.open), .timedOut(.handshaking):
            return failure.description + remedy
        case .tls(let error):
            switch error.kind {
            case .peerClosed, .socket: return failure.description + remedy
            default: return failure.description
            }
        default: return failure.description
        }
    }

    func drainDeadlineNs() -> UInt64 {
        nowNs + UInt64(state.campaign.timeouts.drainMs) * 1_000_000
    }

    private func countOpenConnections() {
        let open = pool.count { $0.stage == .open || $0.stage == .warming }
        counters.set(UInt64(open), to: .connectionsOpen)
    }

    // MARK: On every tick

    /// Gives up requests whose deadline has passed; they are in the queue in the order of their
    /// start.
    func expireRequests() {
        let requestNs = UInt64(state.campaign.timeouts.requestMs) * 1_000_000
        while inFlight.first >= 0 {
            let slot = slots[inFlight.first].pointee
            guard nowNs - min(nowNs, slot.submittedNs) >= requestNs else { return }
            guard let connection = pool.first(where: { $0.id == slot.connection }) else { return }
            connection.cancel(StreamID(rawValue: slot.stream))
            if !connection.hasAnswered || connection.timeoutsInARow >= Self.timeoutsInARowMax {
                connection.close(.timedOut(.open))
            }
        }
    }

    func checkConnectionDeadlines() {
        for connection in pool {
            switch connection.stage {
            case .connecting where nowNs >= connection.connectDeadlineNs:
                connection.close(.timedOut(connection.connection?.phase ?? .connecting))
            case .draining where nowNs >= connection.drainDeadlineNs:
                connection.close(nil)
            case .draining where connection.session.openRequestCount == 0:
                connection.close(nil)
            case .warming, .open: checkIsUsable(connection)
            default: break
            }
        }
    }

    /// Replaces a connection that has had no room for the rows that wait, as long as a request may
    /// take: a server may allow no streams at all, or never open its window again.
    private func checkIsUsable(_ connection: PooledConnection) {
        let bodyBytes = staged >= 0 ? stagedIn.payload.count : 0
        guard hasRowsToSend, !connection.isUsable(bodyBytes: bodyBytes) else {
            connection.usableNs = nowNs
            return
        }
        let waitedMs = (nowNs - min(nowNs, connection.usableNs)) / 1_000_000
        guard waitedMs >= state.campaign.timeouts.requestMs else { return }
        let session = connection.session
        connection.close(
            .local(
                """
                the server lets no request start: it allows \(session.peerStreamsMax) streams and \
                \(session.connectionWindow) bytes; check that this is an APNs server
                """))
    }

    func renewProviderToken() {
        do throws(SendError) {
            guard let value = try headers.renewToken(monotonicNs: nowNs) else { return }
            for connection in pool { connection.session.replaceAuthorization(value) }
        } catch {
            fail(error)
        }
    }
}
