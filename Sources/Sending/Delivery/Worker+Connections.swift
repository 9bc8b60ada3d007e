internal import Campaign
internal import EventLoop
internal import HTTP2
internal import Synchronization
internal import TLS
internal import Transport

/// What happens to the worker's connections, and what is looked after on every tick.
extension Worker {
    /// Requests in a row without an answer that make a connection count as dead.
    static let timeoutsInARowMax = 3

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

    /// More requests on it would be in vain: its replacement comes after a while.
    func connectionGivenUp(
        _ connection: PooledConnection, _ kind: ConnectFailures.Kind, _ reason: String
    ) {
        countOpenConnections()
        connectFailed(connection.id, kind, reason, at: connection.endpoint)
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
        do throws(SendError) {
            try state.connections.append(connection.record(nowNs: nowNs).line)
        } catch {
            fail(error)
        }
        guard !state.isStopping, !hasNothingToDo else { return }
        if stage != .draining { counters.add(stage == .connecting ? 0 : 1, to: .connectionsLost) }
        if !connection.isGivenUp, !connection.hasAnswered {
            ledToNothing(connection, after: stage, failure)
        }
    }

    private func ledToNothing(
        _ connection: PooledConnection, after stage: PooledConnection.Stage,
        _ failure: ConnectionFailure?
    ) {
        var isHopeless = failure?.isPermanent ?? false
        // Before anything was ever answered, a firewall may be in the way of this port.
        if stage == .connecting, failure?.isAboutPort == true,
            state.lastAnswerNs.load(ordering: .relaxed) == 0,
            state.openings.switchPort(from: connection.endpoint)
        {
            isHopeless = false
        }
        connectFailed(
            connection.id, isHopeless ? .hopeless : .noAnswer,
            connection.ownReason ?? Self.text(of: failure, goAway: connection.goAwayText),
            at: connection.endpoint)
    }

    /// Says what to do where the failure itself has no remedy: its cause is on the server's side.
    private static func text(of failure: ConnectionFailure?, goAway: String?) -> String {
        let said = goAway.map { " (\($0))" } ?? ""
        let remedy =
            said
            + (said.contains("BadCertificate")
                ? "; APNs does not take the certificate: peal auth says what it is for"
                : "; check that this is an APNs server, and what its log says")
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

    /// Gives up requests whose deadline has passed. The queue is in the order of their start,
    /// whatever connection they are on: each is appended when it starts, at a time that never
    /// steps back.
    func expireRequests() {
        let requestNs = UInt64(state.campaign.timeouts.requestMs) * 1_000_000
        while inFlight.first >= 0 {
            let index = inFlight.first
            let slot = slots[index].pointee
            guard nowNs - min(nowNs, slot.submittedNs) >= requestNs else { return }
            guard let connection = pool.first(where: { $0.id == slot.connection }) else {
                return fail(
                    SendError(.internal, "row \(slot.row) is in flight on no connection"))
            }
            connection.cancel(StreamID(rawValue: slot.stream))
            // A session that does not end what is cancelled ends it with the connection.
            let isOver = slots[index].pointee.stream != slot.stream
            if !isOver || !connection.hasAnswered
                || connection.timeoutsInARow >= Self.timeoutsInARowMax
            {
                connection.close(.timedOut(.open))
            }
            guard slots[index].pointee.stream != slot.stream else {
                return fail(SendError(.internal, "the request of row \(slot.row) does not end"))
            }
        }
    }

    func checkConnectionDeadlines() {
        for connection in pool {
            switch connection.stage {
            case .connecting:
                if nowNs >= connection.connectDeadlineNs {
                    connection.close(.timedOut(connection.connection?.phase ?? .connecting))
                }
            case .draining: checkDraining(connection)
            case .warming, .open:
                checkIsUsable(connection)
                checkIsAlive(connection)
                // Nobody asked for it: the stream numbers have run out.
                if connection.session.isDraining {
                    connection.drain(because: "its stream numbers ran out")
                }
            case .closed: break
            }
        }
    }

    private func checkDraining(_ connection: PooledConnection) {
        if connection.session.openRequestCount == 0 {
            connection.close(nil)
        } else if nowNs >= connection.drainDeadlineNs {
            connection.close(.local("not all requests were answered before the drain deadline"))
        } else {
            checkIsAlive(connection)
        }
    }

    /// A half-open connection, or a server that hangs, is noticed before each of its requests has
    /// run into its own deadline.
    private func checkIsAlive(_ connection: PooledConnection) {
        let step = connection.liveness.look(
            bytesReceived: connection.connection?.bytesReceived ?? 0,
            requestsInFlight: connection.session.openRequestCount, nowNs: nowNs)
        switch step {
        case .nothing: break
        case .ping:
            connection.session.ping()
            connection.connection?.setNeedsFlush()
        case .dead:
            let seconds = Double(connection.liveness.pongNs / 1_000_000) / 1000
            connection.close(
                .local(
                    "nothing came from the server, not even the answer to a PING in \(seconds) s"))
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
            // In a copy: the property itself would be checked for exclusive use at every row.
            var renewed = headers
            guard let value = try renewed.renewToken(monotonicNs: nowNs) else { return }
            headers = renewed
            for connection in pool { connection.session.replaceAuthorization(value) }
        } catch {
            fail(error)
        }
    }
}

extension ConnectionFailure {
    /// Whether another port of the same server may do better: neither the name nor this machine is
    /// to blame.
    fileprivate var isAboutPort: Bool {
        switch self {
        case .resolve, .local, .protocolError: false
        case .connect, .tls, .noHTTP2, .timedOut, .peerClosed, .io: true
        }
    }
}
