package import EventLoop
internal import Glibc
package import HTTP2
package import TLS

/// One HTTP/2 connection on one loop: socket, TLS and session.
///
/// It reads until the socket would block and feeds the session; what the session makes leaves once
/// per turn through the `Flusher`. Deadlines are the owner's timers: it calls
/// `close(.timedOut(phase))`.
///
/// *Ownership*: the owner keeps it and the flusher; it holds its session, and its delegate weakly.
/// One that is dropped without `close` gives its descriptor back and tells nobody. *Thread*: the
/// loop's. Any of its callbacks may call any of its methods.
package final class Connection {
    enum State { case connecting, handshaking, open, closed }

    let loop: EventLoop
    /// Weak: its lists hold connections, also when a loop is stopped in the middle of a turn.
    private(set) weak var flusher: Flusher?
    let session: any HTTP2Session
    let context: TLSContext
    let role: TLSRole
    private(set) weak var delegate: (any ConnectionDelegate)?

    var state = State.connecting
    var connector: Connector?
    /// Owned; -1 when there is none.
    var descriptor: Int32 = -1
    var watcher: DescriptorWatcher?
    var stream: TLSStream?

    /// It is in the flusher's list.
    var isDirty = false
    /// It is in the flusher's list of connections that go on in the next turn.
    var isUnfinished = false
    var isFlushing = false
    /// A write did not go through: nothing is written until the socket is ready again.
    var isBlocked = false
    /// TLS wants to write before it can read on.
    var readWantsWrite = false
    /// The way to the peer is gone: a last flush is pointless.
    var isBroken = false

    /// See `pauseReading`.
    var isReadingPaused = false
    /// See `abort`.
    var endsWithReset = false
    /// Gets the bytes that arrive in the session's place; the owner hands them on by `deliver`.
    ///
    /// *Ownership*: borrowed for the call.
    package var holdBytes: ((UnsafeRawBufferPointer) -> Void)?

    /// Depth of calls into the session: it must not be told of its end while it is at work.
    private var sessionDepth = 0
    private var isCloseRequested = false
    private var cause: ConnectionFailure?

    /// The other end, once a socket is connected.
    package private(set) var peer: SocketAddress?
    /// HTTP/2 bytes taken by TLS for sending.
    package internal(set) var bytesSent: UInt64 = 0
    /// HTTP/2 bytes that arrived.
    package internal(set) var bytesReceived: UInt64 = 0

    init(
        role: TLSRole, tls: TLSContext, session: any HTTP2Session, flusher: Flusher,
        loop: EventLoop, delegate: any ConnectionDelegate
    ) {
        self.role = role
        self.context = tls
        self.session = session
        self.flusher = flusher
        self.loop = loop
        self.delegate = delegate
    }

    deinit {
        watcher?.close()
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// Begins to connect. The host is looked up afresh; its addresses are tried in turn, from a
    /// random one on. The server's certificate must be for `endpoint.host`.
    ///
    /// `refusal` says why an address may not be connected to, nil that it may; if any address of
    /// the host may not, no packet is sent.
    package static func connect(
        to endpoint: Endpoint, tls: TLSContext, session: any HTTP2Session, flusher: Flusher,
        loop: EventLoop, delegate: any ConnectionDelegate,
        refusal: ((SocketAddress) -> String?)? = nil
    ) throws(ConnectionFailure) -> Connection {
        let connection = Connection(
            role: .client(serverName: endpoint.host), tls: tls, session: session,
            flusher: flusher, loop: loop, delegate: delegate)
        try connection.start(endpoint, refusal: refusal)
        return connection
    }

    /// Begins to serve an accepted, non-blocking socket. The descriptor is the connection's from
    /// this call on, also when it throws.
    package static func accept(
        descriptor: Int32, tls: TLSContext, session: any HTTP2Session, flusher: Flusher,
        loop: EventLoop, delegate: any ConnectionDelegate
    ) throws(ConnectionFailure) -> Connection {
        let connection = Connection(
            role: .server, tls: tls, session: session, flusher: flusher, loop: loop,
            delegate: delegate)
        try connection.adopt(descriptor, peer: Socket.peerAddress(descriptor))
        connection.watcher?.setInterest(.readable)
        return connection
    }

    /// How far it is.
    package var phase: ConnectionPhase {
        switch state {
        case .connecting: connector?.isConnecting == true ? .connecting : .resolving
        case .handshaking: .handshaking
        case .open: .open
        case .closed: .closed
        }
    }

    /// Why it ends, as far as is known: the first cause. The session's last events come after it is
    /// set and before the delegate hears of the end.
    package var endCause: ConnectionFailure? { cause }

    /// Version and cipher, e.g. "TLSv1.3 TLS_AES_128_GCM_SHA256"; empty before the connection is
    /// open and after it is closed.
    package var tlsSummary: String { state == .open ? stream?.summary ?? "" : "" }

    /// The certificate that the other side has shown, in DER; nil when it has none, or while the
    /// connection is not open.
    package var peerCertificate: [UInt8]? { state == .open ? stream?.peerCertificate : nil }

    /// Has the session's output sent at the end of this turn. For submissions outside of the
    /// session's and this connection's own callbacks, which need no call.
    package func setNeedsFlush() {
        guard state == .open, !isDirty, !isFlushing else { return }
        isDirty = true
        flusher?.add(self)
    }

    /// Sends what goes without waiting, says goodbye in TLS, closes the socket, and tells the
    /// delegate. Idempotent; the first cause stays.
    ///
    /// It is done when this returns, or, inside a callback of the session, when the session
    /// returns.
    package func close(_ cause: ConnectionFailure? = nil) {
        guard state != .closed, !isCloseRequested else { return }
        isCloseRequested = true
        self.cause = self.cause ?? cause
        if sessionDepth == 0 { finish() }
    }

    /// The delegate hears of the end next; until then nothing more is read or flushed.
    var isOpen: Bool { state == .open && !isCloseRequested }

    /// Keeps `cause` unless there is an earlier one, which is what a later `close` reports.
    func note(_ cause: ConnectionFailure) { self.cause = self.cause ?? cause }

    /// Takes a connected socket: watches it and prepares TLS.
    func adopt(_ descriptor: Int32, peer: SocketAddress?) throws(ConnectionFailure) {
        self.descriptor = descriptor
        self.peer = peer
        state = .handshaking
        do {
            watcher = try loop.watch(descriptor: descriptor) { [weak self] ready in
                self?.becameReady(ready)
            }
        } catch {
            throw .local(error.description)
        }
        do {
            stream = try TLSStream(context: context, descriptor: descriptor, role: role)
        } catch {
            throw .tls(error)
        }
    }

    /// Calls into the session, so that a `close` by one of its callbacks waits until it is done.
    func withSession(
        _ body: (any HTTP2Session) throws(HTTP2Error) -> Void
    ) throws(HTTP2Error) {
        sessionDepth += 1
        defer { sessionDepth -= 1 }
        try body(session)
    }

    /// Does the close that was asked for inside a call of the session.
    func closeIfRequested() {
        if isCloseRequested, sessionDepth == 0, state != .closed { finish() }
    }

    private func finish() {
        let wasOpen = state == .open
        state = .closed
        connector?.cancel()
        connector = nil
        if wasOpen && !isBroken { sayGoodbye() }
        watcher?.close()
        watcher = nil
        if descriptor >= 0 {
            if endsWithReset {
                Socket.closeWithReset(descriptor)
            } else {
                Socket.closePolitely(descriptor)
            }
        }
        descriptor = -1
        stream = nil
        holdBytes = nil
        session.connectionEnded()
        delegate?.connection(self, didCloseWith: cause)
    }
}

@available(*, unavailable) extension Connection: Sendable {}
