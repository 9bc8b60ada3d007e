package import EventLoop
internal import HTTP2
internal import JSON
package import TLS
package import Transport

/// A simulated phone: registers one app with a local APNs, keeps one connection open, and tells of
/// each notification that arrives. When the connection is lost it comes back by itself.
///
/// *Thread:* its loop's. *Ownership:* whoever made it holds it for as long as it shall run.
/// *Limits:* one connection, one request at a time, 64 KiB of a notification.
package final class SimulatedDevice {
    /// Who it is.
    package struct Identity: Sendable {
        package var topic: String
        package var name: String
        /// The token of an earlier registration, as 64 hexadecimal digits.
        package var token: String?

        package init(topic: String, name: String, token: String?) {
            self.topic = topic
            self.name = name
            self.token = token
        }
    }

    /// What happens to the phone.
    package enum Event: Sendable, Equatable {
        /// It has this token from now on.
        case registered(token: String)
        /// What comes now arrives at once.
        case connected
        /// One JSON object, without a line break.
        case notification([UInt8])
        /// It has no connection, and tries again by itself.
        case disconnected(why: String, retryAfterMs: UInt64)
        /// It is over: the local APNs does not know the device any more. After `unregister`.
        case unregistered
        /// It is over: trying again would not help.
        case failed(why: String)
    }

    /// What it does once it is connected.
    package enum Purpose: Sendable { case receive, unregister }

    private enum Step {
        case connecting
        case registering
        case listening
        case unregistering
    }

    private static let lineBytesMax = 65_536
    private static let answerBytesMax = 4_096
    /// From the first try to an open stream; a local APNs answers in milliseconds.
    private static let connectMsMax: UInt64 = 10_000
    private static let retryMsMin: UInt64 = 100
    private static let retryMsMax: UInt64 = 5_000

    /// How often it asks an open connection for a sign of life; the answer has as long to come. A
    /// service that hangs closes nothing, and a phone would wait for ever.
    package var keepAliveMs: UInt64 = 15_000

    private let endpoint: Endpoint
    private let tls: TLSContext
    private let purpose: Purpose
    private let loop: EventLoop
    private let flusher: Flusher
    private let onEvent: (Event) -> Void

    private var identity: Identity
    /// The local APNs has confirmed the token since this object exists.
    private var isRegistered = false
    private var session: RequestSession?
    private var connection: Connection?
    private var step = Step.connecting
    private var status: UInt16 = 0
    /// What has come of an answer, or of a line.
    private var buffer: [UInt8] = []
    private var failuresInRow = 0
    /// The stream of notifications came to its end, as when the device is unregistered elsewhere:
    /// the next connection shows why.
    private var streamIsOver = false
    private var isOver = false
    private var deadline: LoopTimer?
    private var retry: LoopTimer?
    private var keepAlive: LoopTimer?

    package init(
        _ identity: Identity, at endpoint: Endpoint, tls: TLSContext, purpose: Purpose = .receive,
        loop: EventLoop, onEvent: @escaping (Event) -> Void
    ) throws(EventLoopError) {
        self.identity = identity
        self.endpoint = endpoint
        self.tls = tls
        self.purpose = purpose
        self.loop = loop
        self.onEvent = onEvent
        flusher = Flusher(loop: loop)
        deadline = try loop.makeTimer { [weak self] in
            self?.connection?.close(.timedOut(self?.connection?.phase ?? .open))
        }
        retry = try loop.makeTimer { [weak self] in self?.connect() }
        keepAlive = try loop.makeTimer { [weak self] in self?.askForLife() }
    }

    /// Begins to connect; events come from the loop.
    package func start() { retry?.start(afterMs: 0) }

    /// Ends for good, with a goodbye; no event follows.
    package func stop() {
        isOver = true
        retry?.stop()
        deadline?.stop()
        keepAlive?.stop()
        session?.goAway()
        connection?.close()
    }

    private func connect() {
        guard !isOver else { return }
        step = .connecting
        deadline?.start(afterMs: Self.connectMsMax)
        do {
            let session = try RequestSession()
            session.delegate = self
            self.session = session
            connection = try Connection.connect(
                to: endpoint, tls: tls, session: session, flusher: flusher, loop: loop,
                delegate: self)
        } catch {
            lost("\(error)")
        }
    }

    /// The connection is gone or did not come about.
    private func lost(_ why: String) {
        deadline?.stop()
        keepAlive?.stop()
        connection = nil
        session = nil
        guard !isOver else { return }
        let longest = min(Self.retryMsMin << UInt64(min(failuresInRow, 16)), Self.retryMsMax)
        failuresInRow += 1
        // Not all phones at once, where many have lost the same server.
        let retryMs = UInt64.random(in: longest / 2...longest)
        retry?.start(afterMs: retryMs)
        if streamIsOver {
            streamIsOver = false
        } else {
            onEvent(.disconnected(why: why, retryAfterMs: retryMs))
        }
    }

    private func askForLife() {
        guard let session, !session.isPingOut else {
            connection?.close(.timedOut(.open))
            return
        }
        session.ping()
        connection?.setNeedsFlush()
    }

    private func end(with event: Event) {
        guard !isOver else { return }
        stop()
        onEvent(event)
    }
}

extension SimulatedDevice: ConnectionDelegate {
    /// TLS is up: the first question goes out.
    package func connectionDidOpen(_: Connection) { askNext() }

    /// Nothing to do: requests are few and small.
    package func connectionDidFlush(_: Connection) {}

    /// Gives up, or comes back later, by the cause.
    package func connection(_: Connection, didCloseWith cause: ConnectionFailure?) {
        switch cause {
        case .tls(let error) where error.isVerification:
            end(with: .failed(why: "\(error); give its authority with --ca-file"))
        case .noHTTP2: end(with: .failed(why: "\(cause!)"))  // Not nil: it is a case of it.
        default: lost(cause.map { "\($0)" } ?? "the local APNs closed the connection")
        }
    }
}

/// The conversation.
extension SimulatedDevice {
    private func askNext() {
        if purpose == .unregister {
            ask(.unregistering, "DELETE", path: "/mock/devices/" + (identity.token ?? ""))
        } else if isRegistered, let token = identity.token {
            ask(.listening, "GET", path: "/mock/devices/\(token)/notifications")
        } else {
            ask(.registering, "POST", path: "/mock/devices", body: registration())
        }
    }

    private func ask(_ step: Step, _ method: String, path: String, body: [UInt8] = []) {
        self.step = step
        status = 0
        buffer = []
        let stream = session?.submit(
            method: method, authority: endpoint.authority, path: path,
            headers: body.isEmpty ? [] : [("content-type", "application/json")], body: body)
        guard stream != nil else {
            connection?.close(.local("the connection takes no more requests"))
            return
        }
        connection?.setNeedsFlush()
    }

    private func registration() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("topic")
        writer.string(identity.topic)
        writer.key("name")
        writer.string(identity.name)
        if let token = identity.token {
            writer.key("token")
            writer.string(token)
        }
        writer.endObject()
        return writer.bytes
    }

    /// An answer is complete.
    private func answered(_ answer: JSONNode?) {
        switch (step, status) {
        case (.registering, 201):
            guard let token = answer?["token"]?.asString else {
                return end(with: .failed(why: "\(endpoint) is no local APNs of Peal"))
            }
            identity.token = token
            isRegistered = true
            onEvent(.registered(token: token))
            if !isOver { askNext() }
        case (.unregistering, 200), (.unregistering, 404), (.listening, 410):
            end(with: .unregistered)
        case (.listening, 404):
            // It was started anew, and knows nobody.
            isRegistered = false
            askNext()
        case (.listening, 200):
            streamIsOver = true
            connection?.close()
        case (_, 500...): connection?.close(.local(words(answer)))
        default: end(with: .failed(why: words(answer)))
        }
    }

    private func words(_ answer: JSONNode?) -> String {
        let text = answer?["error"]?.asString ?? "it is no local APNs of Peal"
        return "\(endpoint) answered \(status): \(text)"
    }

    /// Cuts what has come into lines.
    private func takeLines() {
        while !isOver, let end = buffer.firstIndex(of: 0x0A) {
            let line = Array(buffer[..<end])
            buffer.removeSubrange(...end)
            onEvent(.notification(line))
        }
    }
}

extension SimulatedDevice: RequestSessionDelegate {
    func session(
        _: RequestSession, stream: StreamID, answeredWith status: UInt16
    ) {
        self.status = status
        guard step == .listening, status == 200 else { return }
        deadline?.stop()
        keepAlive?.start(afterMs: keepAliveMs, repeatMs: keepAliveMs)
        failuresInRow = 0
        onEvent(.connected)
    }

    func session(
        _: RequestSession, stream: StreamID, received bytes: UnsafeRawBufferPointer
    ) {
        let isLines = step == .listening && status == 200
        guard buffer.count + bytes.count <= (isLines ? 2 * Self.lineBytesMax : Self.answerBytesMax)
        else {
            connection?.close(.local("the local APNs sent more than a notification can be"))
            return
        }
        buffer += bytes
        if isLines { takeLines() }
    }

    func session(
        _ session: RequestSession, streamEnded stream: StreamID, errorCode: HTTP2ErrorCode
    ) {
        guard session === self.session, errorCode == .noError, !isOver else {
            connection?.close()
            return
        }
        answered(try? JSONDocument.parse(buffer, dialect: .strict))
    }
}

@available(*, unavailable) extension SimulatedDevice: Sendable {}
