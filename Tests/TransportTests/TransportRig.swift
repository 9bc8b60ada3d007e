import Crypto
import EventLoop
import Glibc
import HTTP2
import TLS
import TestSupport
import Testing
import Transport

/// A session of bare bytes: what it receives goes to a closure, what it has to send comes from one.
final class ByteSession: HTTP2Session {
    let output: OutputBuffer
    var isFinished = false
    var failure: HTTP2Error?
    /// In use until a test says otherwise.
    var openStreamCount = 1
    /// All bytes received, unless `onReceive` takes them.
    var received: [UInt8] = []
    var endedCount = 0
    var onReceive: ((ByteSession, UnsafeRawBufferPointer) throws(HTTP2Error) -> Void)?
    var onPump: ((ByteSession) -> Void)?
    var onEnd: (() -> Void)?

    init(outputBytes: Int = 65_536) { output = OutputBuffer(capacityBytes: outputBytes) }

    func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        if let onReceive { try onReceive(self, bytes) } else { received += bytes }
    }

    func pump() { onPump?(self) }

    func connectionEnded() {
        endedCount += 1
        onEnd?()
    }

    func forget() {
        onReceive = nil
        onPump = nil
        onEnd = nil
    }

    func send(_ bytes: some Sequence<UInt8>) {
        let taken = Array(bytes).withUnsafeBytes { output.append($0) }
        #expect(taken)
    }
}

/// Notes what a connection tells, and lets a test act on it.
final class Recorder: ConnectionDelegate {
    var openCount = 0
    var closeCauses: [ConnectionFailure?] = []
    var onOpen: ((Connection) -> Void)?
    var onFlush: ((Connection) -> Void)?
    var onClose: ((ConnectionFailure?) -> Void)?

    func connectionDidOpen(_ connection: Connection) {
        openCount += 1
        onOpen?(connection)
    }

    func connectionDidFlush(_ connection: Connection) { onFlush?(connection) }

    func connection(_ connection: Connection, didCloseWith cause: ConnectionFailure?) {
        #expect(connection.phase == .closed)
        closeCauses.append(cause)
        onClose?(cause)
    }
}

/// One loop with a listening server and as many clients as a test wants.
final class TransportRig {
    let loop: EventLoop
    let flusher: Flusher
    let clientTLS: TLSContext
    let serverTLS: TLSContext
    private(set) var listener: Listener?
    /// Made for each accepted connection; by default one that collects its bytes.
    var makeServerSession: () -> ByteSession = { ByteSession() }
    private(set) var serverConnections: [Connection] = []
    private(set) var serverSessions: [ByteSession] = []
    let serverRecorder = Recorder()
    private var guardTimer: LoopTimer?

    init() throws {
        loop = try EventLoop()
        flusher = Flusher(loop: loop)
        let pki = TestPKI.shared
        clientTLS = try .client(caFile: pki.caFile)
        serverTLS = try .server(
            certificatePEM: pki.server.certificatePEM, keyPEM: pki.server.keyPEM)
    }

    /// Starts the server on a free port.
    func listen() throws -> Endpoint {
        let address = try #require(SocketAddress.parse(numericHost: "127.0.0.1", port: 0))
        let listener = try Listener(address: address, loop: loop) { [unowned self] descriptor in
            let session = makeServerSession()
            serverSessions.append(session)
            do {
                serverConnections.append(
                    try Connection.accept(
                        descriptor: descriptor, tls: serverTLS, session: session,
                        flusher: flusher, loop: loop, delegate: serverRecorder))
            } catch { Issue.record(error) }
        }
        self.listener = listener
        return Endpoint(host: "127.0.0.1", port: listener.address.port)
    }

    func connect(
        to endpoint: Endpoint, session: ByteSession, recorder: Recorder
    ) throws -> Connection {
        try Connection.connect(
            to: endpoint, tls: clientTLS, session: session, flusher: flusher, loop: loop,
            delegate: recorder)
    }

    /// Runs the loop until a body calls `loop.stop()`; a test that never does fails after 20 s.
    func run() throws {
        guardTimer = try loop.makeTimer { [unowned self] in
            Issue.record("nothing happened for 20 seconds")
            loop.stop()
        }
        guardTimer?.start(afterMs: 20_000)
        loop.run()
        end()
    }

    /// Lets go of what tests tie together in circles, so that a leak that is found is a real one.
    private func end() {
        guardTimer = nil
        makeServerSession = { ByteSession() }
        serverRecorder.onOpen = nil
        serverRecorder.onClose = nil
        listener?.close()
        listener = nil
        for session in serverSessions { session.forget() }
    }

    func dropServerConnections() { serverConnections = [] }
}

/// A bare TCP socket that listens on a free loopback port, for peers that speak nothing.
final class BareListener {
    let descriptor: Int32
    let port: UInt16

    init(backlog: Int32 = 16) throws {
        let opened = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let any = try #require(SocketAddress.parse(numericHost: "127.0.0.1", port: 0))
        let bound = any.withSockaddr {
            bind(opened, $0.assumingMemoryBound(to: sockaddr.self), $1)
        }
        try #require(bound == 0 && Glibc.listen(opened, backlog) == 0)
        let address = SocketAddress {
            getsockname(opened, $0.assumingMemoryBound(to: sockaddr.self), $1)
        }
        port = try #require(address).port
        descriptor = opened
    }

    deinit { close(descriptor) }

    var endpoint: Endpoint { Endpoint(host: "127.0.0.1", port: port) }
}
