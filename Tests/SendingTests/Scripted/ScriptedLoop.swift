import Crypto
import Dispatch
import EventLoop
import Glibc
import HTTP2
import Synchronization
import TLS
import Testing
import Transport

/// The scripted server on its thread.
final class ScriptedLoop {
    let shared: ScriptedServer.Shared
    let loop: EventLoop
    let flusher: Flusher
    let tls: TLSContext
    private var listener: Listener?
    private(set) var connections: [ScriptedConnection] = []
    private var sockets: [Int32] = []

    init(_ shared: ScriptedServer.Shared) throws {
        self.shared = shared
        loop = try EventLoop()
        flusher = Flusher(loop: loop)
        let pair = ScriptedPKI.shared.server
        tls = try .server(certificatePEM: pair.certificatePEM, keyPEM: pair.keyPEM)
    }

    func run() throws {
        let address = try #require(SocketAddress.parse(numericHost: "127.0.0.1", port: 0))
        let listener = try Listener(address: address, loop: loop) { [unowned self] descriptor in
            accept(descriptor)
        }
        self.listener = listener
        let wakeup = try loop.makeWakeup { [unowned self] in look() }
        shared.ready.withLock { $0 = (listener.address.port, wakeup) }
        shared.started.signal()
        loop.run()
        listener.close()
        for connection in connections { connection.close() }
        for descriptor in sockets { Glibc.close(descriptor) }
        loop.close()
    }

    func remove(_ connection: ScriptedConnection) {
        connections.removeAll { $0 === connection }
    }

    private func look() {
        let announced = shared.announcement.withLock { settings in
            defer { settings = nil }
            return settings
        }
        if let announced { for connection in connections { connection.announce(announced) } }
        if shared.isReleasing.load(ordering: .acquiring) {
            for connection in connections { connection.releaseHeld() }
        }
        if shared.isStopping.load(ordering: .acquiring) { loop.stop() }
    }

    private func accept(_ descriptor: Int32) {
        let number = shared.log.withLock { log in
            log.connectionCount += 1
            return log.connectionCount - 1
        }
        let opening = shared.opening(number)
        switch opening {
        case .close: Glibc.close(descriptor)
        case .silence: sockets.append(descriptor)
        case .serve, .goAway:
            do {
                let connection = try ScriptedConnection(
                    server: self, number: number, saysGoAway: opening == .goAway)
                connections.append(connection)
                try connection.serve(descriptor)
            } catch {
                Issue.record(error)
            }
        }
    }
}

/// One client of the scripted server.
final class ScriptedConnection: ConnectionDelegate, ServerSessionDelegate {
    private unowned let server: ScriptedLoop
    private let number: Int
    private let saysGoAway: Bool
    private let session: ServerSession
    private var connection: Connection?
    private var requestCount = 0
    private var open: Set<Int32> = []
    private var held: [(StreamID, String)] = []
    private var timers: [LoopTimer] = []
    /// Requests from this stream on are left out.
    private var refusedFrom = Int32.max

    init(server: ScriptedLoop, number: Int, saysGoAway: Bool) throws {
        self.server = server
        self.number = number
        self.saysGoAway = saysGoAway
        session = try ServerSession(settings: server.shared.settings)
        session.delegate = self
    }

    func serve(_ descriptor: Int32) throws {
        connection = try Connection.accept(
            descriptor: descriptor, tls: server.tls, session: session, flusher: server.flusher,
            loop: server.loop, delegate: self)
    }

    func close() { connection?.close() }

    func releaseHeld() {
        let held = held
        self.held = []
        for (stream, token) in held { accept(stream, token) }
        connection?.setNeedsFlush()
    }

    func announce(_ settings: ServerSettings) {
        session.updateSettings(settings)
        connection?.setNeedsFlush()
    }

    // MARK: Events

    func connectionDidOpen(_ connection: Connection) {
        if saysGoAway { session.goAwayRefusingAll(.noError) }
    }

    func connectionDidFlush(_ connection: Connection) {}

    func connection(_ connection: Connection, didCloseWith cause: ConnectionFailure?) {
        server.remove(self)
    }

    func session(_ session: ServerSession, received request: ServerRequest) {
        guard request.stream.rawValue < refusedFrom else { return }
        open.insert(request.stream.rawValue)
        var seen = ScriptedRequest()
        let token = request.path.dropFirst("/3/device/".utf8.count)
        seen.token = String(decoding: token, as: UTF8.self)
        seen.apnsID = text(request.header("apns-id"))
        seen.authorization = text(request.header("authorization"))
        seen.connection = number
        seen.index = requestCount
        seen.openCount = open.count
        requestCount += 1
        server.shared.log.withLock { log in
            log.attempts[seen.token, default: 0] += 1
            seen.attempt = log.attempts[seen.token] ?? 0
            log.requests.append(seen)
        }
        act(server.shared.script(seen), on: request.stream, token: seen.token)
        server.shared.arrivals.signal()
    }

    func session(
        _ session: ServerSession, streamClosed stream: StreamID, errorCode: HTTP2ErrorCode
    ) {
        open.remove(stream.rawValue)
    }

    // MARK: Actions

    private func act(_ action: ScriptedAction, on stream: StreamID, token: String) {
        switch action {
        case .accept: accept(stream, token)
        case .refuse(let status, let reason, let timestampMs):
            let time = timestampMs.map { ",\"timestamp\":\($0)" } ?? ""
            let body = Array("{\"reason\":\"\(reason)\"\(time)}".utf8)
            _ = body.withUnsafeBytes { session.respond(to: stream, status: status, body: $0) }
        case .refuseFor(let seconds, let status, let reason):
            refuse(stream, status, reason, afterSeconds: seconds)
        case .reset(let code): session.reset(stream, code)
        case .silence: break
        case .hold:
            held.append((stream, token))
            if server.shared.isReleasing.load(ordering: .acquiring) { releaseHeld() }
        case .acceptLater: acceptLater(stream, token)
        case .goAwayBefore:
            refusedFrom = stream.rawValue
            if stream.rawValue == 1 {
                session.goAwayRefusingAll(.noError)
            } else {
                session.goAway(lastStream: StreamID(rawValue: stream.rawValue - 2))
            }
        case .goAway(let frames, let thenCut):
            for frame in frames {
                session.goAway(
                    lastStream: frame.last == .max ? .max : stream, frame.code,
                    debugData: Array(frame.text.utf8))
            }
            if !thenCut { accept(stream, token) }
            if thenCut { connection?.close() }
        case .freeze: connection?.pauseReading()
        case .abort: connection?.abort()
        case .cut: connection?.close()
        case .acceptAndClose:
            accept(stream, token)
            connection?.close()
        case .announce(let settings):
            session.updateSettings(settings)
            accept(stream, token)
        }
    }

    private func accept(_ stream: StreamID, _ token: String) {
        guard session.respond(to: stream, status: 200) else { return }
        server.shared.log.withLock { $0.accepted[token, default: 0] += 1 }
    }

    private func refuse(
        _ stream: StreamID, _ status: UInt16, _ reason: String, afterSeconds seconds: Int
    ) {
        let body = Array("{\"reason\":\"\(reason)\"}".utf8)
        Array(String(seconds).utf8).withUnsafeBytes { value in
            var headers = ResponseHeaders()
            headers.add(ResponseField("retry-after", value))
            _ = body.withUnsafeBytes {
                session.respond(to: stream, status: status, headers: headers, body: $0)
            }
        }
    }

    private func acceptLater(_ stream: StreamID, _ token: String) {
        do {
            let timer = try server.loop.makeTimer { [weak self] in
                self?.accept(stream, token)
                self?.connection?.setNeedsFlush()
            }
            timer.start(afterMs: 10)
            timers.append(timer)
        } catch {
            Issue.record(error)
        }
    }

    private func text(_ bytes: UnsafeRawBufferPointer?) -> String {
        bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
