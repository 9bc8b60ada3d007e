internal import APNS
internal import EventLoop
internal import Glibc
internal import HTTP2
internal import TLS
internal import Transport

/// One client of the local APNs: its connection, its HTTP/2 session, and the way from a request to
/// its answer.
///
/// *Thread:* its worker's. *Ownership:* the worker holds it until the connection has closed.
final class MockConnection {
    /// When its socket was accepted, by the loop's clock: the handshake's deadline counts from
    /// here.
    let acceptedAtNs: UInt64
    /// Whether TLS is done.
    private(set) var isOpen = false

    unowned let worker: MockWorker  // Ends after all its connections.
    let session: ServerSession
    /// What the gateway remembers of this client.
    let state: GatewayConnection
    private(set) var connection: Connection?
    // The worker's, at hand without the detour over an unowned reference at each request.
    let loop: EventLoop
    let gateway: Gateway
    let clock: MockClock
    let devices: DeviceRegistry?
    let board: ConnectionBoard
    let latency: ServiceLatency
    let log: LogLines?
    let workerFaults: WorkerFaults?
    /// Its place on the worker's board.
    let place: Int
    var faults = ConnectionFaults()
    var heldBytes: HeldBytes?
    var underWay = RequestUnderWay(stream: .max, startNs: 0)
    /// A socket whose handshake a fault puts off; -1 when there is none. Owned.
    private var waitingDescriptor: Int32 = -1

    init(
        worker: MockWorker, settings: ServerSettings, nowNs: UInt64, faults: AcceptFaults
    ) throws(HTTP2Error) {
        self.worker = worker
        acceptedAtNs = nowNs + faults.handshakeDelayNs
        var settings = settings
        settings.windowStepBytes = worker.gateway.inferences.windowStepBytes
        session = try ServerSession(settings: settings)
        state = worker.gateway.makeConnection(limitMoves: worker.shared.streamLimitMoves)
        loop = worker.loop
        gateway = worker.gateway
        clock = worker.shared.clock
        devices = worker.devicePages.registry
        board = worker.board
        latency = worker.latency
        log = worker.log
        workerFaults = worker.faults
        place = worker.places.take()
        self.faults.closesAfterTLS = faults.closesAfterTLS
        self.faults.roundTripNs = faults.roundTripNs
        session.delegate = self
    }

    deinit {
        if waitingDescriptor >= 0 { Glibc.close(waitingDescriptor) }
    }

    /// Takes over an accepted socket, at once or when a fault lets the handshake begin.
    func start(descriptor: Int32) throws(ConnectionFailure) {
        if acceptedAtNs > loop.nowNs {
            waitingDescriptor = descriptor
            let isKept = worker.delays.add(atNs: acceptedAtNs) { [weak self] in self?.serveLate() }
            if isKept { return }
            waitingDescriptor = -1
        }
        try serve(descriptor: descriptor)
    }

    private func serveLate() {
        let descriptor = waitingDescriptor
        waitingDescriptor = -1
        do { try serve(descriptor: descriptor) } catch { worker.remove(self) }
    }

    /// Takes over an accepted socket.
    func serve(descriptor: Int32) throws(ConnectionFailure) {
        connection = try Connection.accept(
            descriptor: descriptor, tls: worker.shared.tls, session: session,
            flusher: worker.flusher, loop: worker.loop, delegate: self)
    }

    func close() { connection?.close() }

    /// Looks at the client's certificate, if it has shown one, before the first SETTINGS leave. A
    /// bad one is told as users of the real service report it: a GOAWAY that says that nothing was
    /// processed, with the reason as JSON, and the end of the connection.
    ///
    /// Returns whether the connection goes on.
    private func authenticate() -> Bool {
        if let certificate = connection?.peerCertificate {
            let fault = worker.gateway.authenticate(
                state, certificate: certificate, wallSeconds: worker.shared.clock.wallSeconds())
            if let fault {
                let text = "{\"reason\":\"\(fault.name)\"}"
                session.goAwayRefusingAll(.noError, debugData: Array(text.utf8))
                close()
                return false
            }
        }
        session.setConcurrentStreamsMax(state.streamsMax)
        return true
    }

    /// Closes because the server stops: a client with an open session is told so in a GOAWAY, in
    /// the form in which Apple gives reasons there (Apple: Sending notification requests to APNs).
    func shutDown() {
        if isOpen { session.goAway(.noError, debugData: Array(#"{"reason":"Shutdown"}"#.utf8)) }
        close()
    }
}

extension MockConnection: ConnectionDelegate {
    func connectionDidOpen(_: Connection) {
        isOpen = true
        worker.counters.add(to: .connectionsOpened)
        guard authenticate() else { return }
        applyConnectionFaults()
    }

    func connectionDidFlush(_: Connection) { publish() }

    func connection(_: Connection, didCloseWith: ConnectionFailure?) {
        publish()
        worker.counters.add(to: isOpen ? .connectionsClosed : .handshakesFailed)
        worker.remove(self)
    }
}

extension MockConnection: ServerSessionDelegate {
    func session(_: ServerSession, received request: ServerRequest) {
        let isPage = request.path.starts(with: "/mock")
        if isPage, DevicePages.owns(path: request.path) { return answerDevice(request) }
        if isPage, MockEndpoints.owns(path: request.path) {
            let (status, json) = worker.endpoints.answer(
                method: request.method, path: request.path, body: request.body,
                bodyBytes: request.bodyBytes)
            json.withUnsafeBytes { respond(to: request.stream, status, body: $0) }
            return
        }
        begin(request.stream)
        let view = GatewayRequest(request)
        guard passesFaults(view, on: request.stream) else { return }
        let wallSeconds = clock.wallSeconds()
        let answer = gateway.answer(view, on: state, wallSeconds: wallSeconds)
        deliver(answer, to: view)
        if answer.status == 200, let devices {
            devices.route(view, messageID: answer.messageID, nowSeconds: wallSeconds)
        }
    }

    func session(_: ServerSession, streamClosed: StreamID, errorCode: HTTP2ErrorCode) {
        if errorCode != .noError { board.add(.resets, of: place) }
    }

    /// Sends an answer of the provider API, and what it means for the stream limit.
    func send(_ answer: Gateway.Answer, on stream: StreamID) {
        respond(
            to: stream, answer.status, messageID: answer.messageID, uniqueID: answer.uniqueID,
            body: answer.body)
        session.setConcurrentStreamsMax(state.streamsMax)
    }

    func respond(
        to stream: StreamID, _ status: UInt16, messageID: UnsafeRawBufferPointer? = nil,
        uniqueID: UnsafeRawBufferPointer? = nil, body: UnsafeRawBufferPointer
    ) {
        var headers = ResponseHeaders()
        if let messageID { headers.add(ResponseField(APNSHeader.id, messageID)) }
        if let uniqueID { headers.add(ResponseField(APNSHeader.uniqueID, uniqueID)) }
        if !body.isEmpty { headers.add(ResponseField("content-type", "application/json")) }
        session.respond(to: stream, status: status, headers: headers, body: body)
    }
}

extension GatewayRequest {
    /// A view of what a client sent, valid as long as `request` is.
    init(_ request: ServerRequest) {
        self.init(
            method: request.method, path: request.path, body: request.body,
            bodyBytes: request.bodyBytes)
        for index in 0..<request.fieldCount {
            let name = request.name(at: index)
            // The length leaves one name, or two, to compare with.
            switch name.count {
            case 7 where name.equals(APNSHeader.id): messageID.add(request.value(at: index))
            case 10 where name.equals(APNSHeader.topic): topic.add(request.value(at: index))
            case 13 where name.equals(APNSHeader.priority): priority.add(request.value(at: index))
            case 13 where name.equals(APNSHeader.authorization):
                authorization.add(request.value(at: index))
            case 14 where name.equals(APNSHeader.pushType): pushType.add(request.value(at: index))
            case 15 where name.equals(APNSHeader.expiration):
                expiration.add(request.value(at: index))
            case 16 where name.equals(APNSHeader.collapseID):
                collapseID.add(request.value(at: index))
            default: break
            }
        }
    }
}
