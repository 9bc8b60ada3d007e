internal import Campaign
internal import EventLoop
internal import HTTP2
internal import Synchronization
internal import Transport

/// The worker's pool: opened, kept at its number, grown.
extension Worker {
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
        while live < wanted, !state.isStopping, nowNs >= connectFailures.nextAttemptNs {
            let waitNs = state.openings.waitNs(nowNs: nowNs)
            guard waitNs == 0 else {
                connectFailures.wait(untilNs: nowNs + waitNs)
                return turnAgain(afterNs: waitNs)
            }
            openConnection()
            live += 1
        }
    }

    /// The worker's share of the pool; less when only a few rows are left.
    private var connectionsWanted: Int {
        let fromChunk = chunk.map { $0.recordCount - nextRecord } ?? 0
        let rowsLeft = fromChunk + slots.usedCount - heldRowCount
        if rowsLeft == 0 && !hasQueuedInput() { return 0 }
        let share = state.plan.connections(ofWorker: index) + growth.added
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
        let endpoint = state.openings.target
        var template = headers.template
        template.authority = endpoint.authority
        do {
            let pooled = try PooledConnection(
                id: nextConnectionID, worker: self, endpoint: endpoint, template: template,
                nowNs: nowNs)
            pooled.connect(
                through: try Connection.connect(
                    to: endpoint, tls: state.tls, session: pooled.session, flusher: flusher,
                    loop: loop, delegate: pooled.events))
            pool.append(pooled)
        } catch let failure as ConnectionFailure {
            connectFailed(nextConnectionID, .noAnswer, failure.description, at: endpoint)
        } catch {
            fail(SendError(.internal, "cannot make a connection: \(error)"))
        }
    }

    /// Decides what follows from a connection that led to nothing: another attempt, or the end.
    func connectFailed(
        _ id: Int32, _ kind: ConnectFailures.Kind, _ cause: String, at endpoint: Endpoint
    ) {
        var generator = SystemRandomNumberGenerator()
        let verdict = connectFailures.count(
            id, kind, nowNs: nowNs, lastAnswerNs: state.lastAnswerNs.load(ordering: .relaxed),
            using: &generator)
        let text = "\(endpoint): \(cause)"
        switch verdict {
        case .again(let waitNs):
            let hasReady = pool.contains { $0.stage == .open || $0.stage == .warming }
            if !hasReady { state.waitingFor = "a connection (\(text))" }
            turnAgain(afterNs: waitNs)
        case .giveUp(let sinceNs):
            var told = text
            if let sinceNs { told = outageText(sinceNs: sinceNs) + text }
            if let other = failedElsewhere, other.endpoint != endpoint {
                told += "; before that, \(other.endpoint): \(other.cause)"
            }
            fail(SendError(.stopped, told))
        }
        failedElsewhere = (endpoint, cause)
    }

    private func outageText(sinceNs: UInt64) -> String {
        let quietMs = Int64((nowNs - min(nowNs, sinceNs)) / 1_000_000)
        let since = Timestamp(milliseconds: Timestamp.now().milliseconds - quietMs)
        return "no answer since \(since.rfc3339), \(quietMs / 60_000) minutes ago; the last cause: "
    }

    // MARK: Growth

    /// Once per tick, right after the connections were filled: finds out what holds rows back, and
    /// adds a connection to a pool that is too small for the server's limits.
    func watchPoolLimits() {
        guard poolIsToBeLookedAt else { return }
        poolIsToBeLookedAt = false
        let limit = currentLimit
        switch limit {
        case .window: counters.add(1, to: .heldBackByWindow)
        case .streams: counters.add(1, to: .heldBackByStreams)
        case .rate: counters.add(1, to: .heldBackByRate)
        case .input: counters.add(1, to: .heldBackByInput)
        case .other: break
        }
        let hasGrown = growth.observe(
            limit, answers: counters.value(.attempts), connections: pool.count, nowNs: nowNs)
        if hasGrown { turnAgain(afterNs: 0) }
    }

    private var currentLimit: PoolGrowth.Limit {
        guard hasRowsToSend else { return .input }
        guard paceLimiter.allows(nowNs: nowNs), limiter.allows(nowNs: nowNs) else { return .rate }
        let bodyBytes = staged >= 0 ? stagedIn.payload.count : 0
        var limit = PoolGrowth.Limit.other
        for connection in pool where connection.stage != .draining {
            switch connection.obstacle(bodyBytes: bodyBytes) {
            case .window: limit = .window
            case .streams: if limit == .other { limit = .streams }
            // Rows wait for a connection that is not ready, or for a moment; not for more of them.
            case .none, .other: return .other
            }
        }
        return limit
    }
}
