internal import EventLoop
internal import Glibc
internal import HTTP2
internal import Transport

/// One thread of the local APNs: a loop, the connections that were handed to it, and their gateway.
/// The first worker also accepts the sockets and deals them out in turn.
///
/// *Thread:* everything on its own, but for what goes through its mailbox.
final class MockWorker {
    let shared: MockShared
    let counters: MockCounters
    let endpoints: MockEndpoints
    let devicePages: DevicePages
    let deviceStreams = DeviceStreams()
    let gateway: Gateway
    let loop: EventLoop
    let flusher: Flusher

    let board: ConnectionBoard
    let latency: ServiceLatency
    let delays: DelayQueue
    /// Nil: the service behaves.
    let faults: WorkerFaults?
    /// Nil: no log is kept.
    let log: LogLines?
    var places: ConnectionPlaces

    private var connections: [ObjectIdentifier: MockConnection] = [:]
    private var listener: Listener?
    /// Whose turn the next socket is: 0 for this worker, then the others in order.
    private var nextTurnIndex = 0
    private var handshakeTimer: LoopTimer?
    private var isHandshakeTimerOn = false
    private(set) var mailbox: MockMailbox!  // Set once by `init`, which needs `self` for it.

    init(shared: MockShared, index: Int) throws(EventLoopError) {
        self.shared = shared
        counters = shared.counters[index]
        endpoints = shared.endpoints
        devicePages = DevicePages(registry: shared.devices)
        gateway = Gateway(
            registry: shared.registry, counters: counters,
            acceptedRequests: shared.acceptedRequests, devices: shared.devices)
        loop = try EventLoop()
        flusher = Flusher(loop: loop)
        board = shared.boards[index]
        latency = shared.latencies[index]
        places = ConnectionPlaces(board: board, worker: index, workers: shared.counters.count)
        delays = try DelayQueue(loop: loop)
        faults = WorkerFaults(shared: shared.faults, worker: index, counters: counters)
        log = shared.log.map { LogLines(log: $0) }
        if let log { loop.beforePoll { log.flush() } }
        mailbox = MockMailbox(
            wakeup: try loop.makeWakeup { [unowned self] in readMailbox() })
        handshakeTimer = try loop.makeTimer { [unowned self] in closeStuckHandshakes() }
    }

    /// Listens, and deals the sockets out to `others` and itself in turn.
    ///
    /// Returns the address with the port that the system chose for port 0.
    func listen(
        on address: SocketAddress, sharingWith others: [MockMailbox]
    ) throws(ConnectionFailure) -> SocketAddress {
        let turns: [MockMailbox?] = [nil] + others
        let listener = try Listener(address: address, loop: loop) { [unowned self] descriptor in
            if let other = turns[nextTurnIndex] {
                other.post(.adopt(descriptor: descriptor))
            } else {
                adopt(descriptor)
            }
            nextTurnIndex = (nextTurnIndex + 1) % turns.count
        }
        self.listener = listener
        return listener.address
    }

    /// Serves until a stop message, then closes everything.
    func run() {
        loop.run()
        close()
    }

    /// The end, also of a worker that never ran.
    func close() {
        mailbox.close()
        loop.close()
        log?.flush()
    }

    /// Forgets a connection that has closed.
    func remove(_ connection: MockConnection) {
        if connections.removeValue(forKey: ObjectIdentifier(connection)) != nil {
            places.giveBack(connection.place)
        }
    }

    private func readMailbox() {
        for message in mailbox.takeAll() {
            switch message {
            case .adopt(let descriptor): adopt(descriptor)
            case .deliver(let link): deviceStreams.deliver(link)
            case .stop: stop()
            }
        }
    }

    private func adopt(_ descriptor: Int32) {
        guard connections.count < shared.limits.connectionsMax else {
            counters.add(to: .connectionsRefused)
            Glibc.close(descriptor)
            return
        }
        var socketFaults = AcceptFaults()
        if let faults {
            socketFaults = faults.judgeSocket(nowNs: loop.nowNs)
            if socketFaults.isReset { return Connection.reset(descriptor: descriptor) }
            if socketFaults.isClosed {
                Glibc.close(descriptor)
                return
            }
        }
        let connection: MockConnection
        do {
            connection = try MockConnection(
                worker: self, settings: shared.settings, nowNs: loop.nowNs,
                faults: socketFaults)
        } catch {
            Glibc.close(descriptor)
            return
        }
        connections[ObjectIdentifier(connection)] = connection
        do {
            try connection.start(descriptor: descriptor)
        } catch {
            remove(connection)
            return
        }
        startHandshakeTimer()
    }

    private func stop() {
        listener?.close()
        for connection in Array(connections.values) { connection.shutDown() }
        loop.stop()
    }
}

/// Handshakes that never finish.
extension MockWorker {
    private func startHandshakeTimer() {
        guard !isHandshakeTimerOn else { return }
        isHandshakeTimerOn = true
        let intervalMs = max(1, shared.limits.handshakeMsMax / 10)
        handshakeTimer?.start(afterMs: intervalMs, repeatMs: intervalMs)
    }

    /// Ten times in the time that a handshake may take, while one is going on: one timer for all.
    private func closeStuckHandshakes() {
        let nowNs = loop.nowNs
        let unfinished = connections.values.filter { !$0.isOpen }
        for connection in unfinished
        where nowNs > connection.acceptedAtNs + shared.limits.handshakeMsMax * 1_000_000 {
            connection.close()
        }
        if unfinished.isEmpty {
            isHandshakeTimerOn = false
            handshakeTimer?.stop()
        }
    }
}

@available(*, unavailable)
extension MockWorker: Sendable {}
