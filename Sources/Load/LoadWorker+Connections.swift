internal import APNS
internal import Crypto
internal import EventLoop
internal import Glibc
internal import HTTP2
internal import TLS
internal import Transport

/// What a worker remembers of connections that came to nothing.
struct ConnectAttempts {
    var failuresInARow = 0
    /// When the first of them was.
    var sinceNs: UInt64 = 0
    var nextNs: UInt64 = 0
}

/// The worker's pool: opened, kept at its number, replaced, closed.
extension LoadWorker {
    /// A server that never let this worker in is given up after so many attempts.
    static let firstAttemptsMax = 3
    static let connectNsMax: UInt64 = 10_000_000_000

    /// Opens what is missing: one connection first, the others when that one is open.
    func keepPool() {
        let nowNs = loop.nowNs
        poolNeedsCare = false
        guard !state.isStopping, nowNs >= connecting.nextNs else { return }
        var live = 0
        var hasOpen = false
        for connection in pool {
            switch connection.stage {
            case .connecting, .warming: live += 1
            case .open:
                live += 1
                hasOpen = true
            case .draining, .closed: break
            }
        }
        let share = state.options.connections(ofWorker: index)
        while live < (hasOpen ? share : 1), !state.isStopping {
            openConnection(nowNs: nowNs)
            live += 1
        }
    }

    private func openConnection(nowNs: UInt64) {
        nextConnectionID &+= 1
        let target = state.options.target
        do {
            let made = try LoadConnection(
                id: nextConnectionID, worker: self, template: template,
                streamsMax: state.options.streams, connectDeadlineNs: nowNs + Self.connectNsMax)
            made.connect(
                through: try Connection.connect(
                    to: state.options.endpoint, tls: state.tls, session: made.session,
                    flusher: flusher, loop: loop, delegate: made,
                    refusal: { target.refusal(address: $0) }))
            pool.append(made)
        } catch let failure as ConnectionFailure {
            connectFailed(failure.description, isPermanent: false)
        } catch {
            fail(LoadError(.internal, "cannot make a connection: \(error)"))
        }
    }

    private func connectFailed(_ cause: String, isPermanent: Bool) {
        let nowNs = loop.nowNs
        if connecting.failuresInARow == 0 { connecting.sinceNs = nowNs }
        connecting.failuresInARow += 1
        let isTooOften = !isReady && connecting.failuresInARow >= Self.firstAttemptsMax
        let isTooLong =
            nowNs - connecting.sinceNs > state.options.outageMsMax * 1_000_000
        if isPermanent || isTooOften || isTooLong {
            return fail(LoadError(.connection, "\(state.options.endpoint): \(cause)"))
        }
        let boundMs = UInt64(min(100 << min(connecting.failuresInARow, 6), 2000))
        connecting.nextNs = nowNs + UInt64.random(in: boundMs / 4...boundMs) * 1_000_000
    }

    // MARK: Events

    func connectionOpened() { counters.add(1, to: .connectionsOpened) }

    func connectionIsOpen() {
        connecting = ConnectAttempts()
        poolNeedsCare = true
        guard !isReady else { return }
        let open = pool.count { $0.stage == .open }
        guard open == state.options.connections(ofWorker: index) else { return }
        isReady = true
        state.workerIsReady(nowNs: loop.nowNs)
    }

    /// A connection takes no more requests, by the server's decision.
    func connectionLeaves(_ connection: LoadConnection) {
        guard connection.stage != .draining, connection.stage != .closed else { return }
        counters.add(1, to: .connectionsGoAway)
        connection.drain(deadlineNs: loop.nowNs + state.options.requestMsMax * 1_000_000)
        poolNeedsCare = true
    }

    func connectionClosed(
        _ connection: LoadConnection, after stage: LoadConnection.Stage,
        _ failure: ConnectionFailure?
    ) {
        pool.removeAll { $0 === connection }
        poolNeedsCare = true
        counters.add(connection.connection?.bytesSent ?? 0, to: .bytesSent)
        guard !state.isStopping, !isClosing else { return }
        switch stage {
        case .open: counters.add(1, to: .connectionsLost)
        case .connecting, .warming:
            let cause =
                failure?.description ?? "the server closed the connection before it answered"
            connectFailed(cause, isPermanent: failure?.isPermanent ?? false)
        case .draining, .closed: break
        }
    }

    // MARK: On every tick

    func checkConnectionDeadlines(nowNs: UInt64) {
        for connection in pool {
            switch connection.stage {
            case .connecting where nowNs >= connection.connectDeadlineNs,
                .warming where nowNs >= connection.connectDeadlineNs:
                connection.connection?.close(
                    .timedOut(connection.connection?.phase ?? .connecting))
            case .warming where connection.session.openRequestCount == 0:
                connection.needsWarmUp = true
            case .open where connection.session.isDraining:
                connection.drain(deadlineNs: nowNs + state.options.requestMsMax * 1_000_000)
            case .draining
            where nowNs >= connection.drainDeadlineNs
                || connection.session.openRequestCount == 0:
                connection.connection?.close(nil)
            default: break
            }
        }
    }

    func renewProviderToken() throws(LoadError) {
        do throws(CryptoError) {
            let (token, version) = try state.tokens.current(
                wallSeconds: Int64(time(nil)), monotonicNs: loop.nowNs)
            guard version != tokenVersion else { return }
            tokenVersion = version
            let value = "bearer \(token.text)"
            template.authorization = value
            for connection in pool { connection.session.replaceAuthorization(value) }
        } catch {
            throw LoadError(.internal, "cannot sign a provider token: \(error)")
        }
    }
}

extension ConnectionFailure {
    /// Whether trying again cannot help: somebody has to change something first.
    fileprivate var isPermanent: Bool {
        switch self {
        case .tls(let error): error.isVerification
        case .noHTTP2, .local: true
        default: false
        }
    }
}
