internal import Glibc
internal import HTTP2

/// What a server's side of a connection sends, written down once: a client session that sends the
/// same requests in the same batches can then be fed with it, at no cost but its own.
final class CannedServer {
    static let batchRequests = 200
    static let batchCount = 50
    static let requests = batchRequests * batchCount
    static let template = RequestTemplate(
        authority: "api.push.apple.com", pathPrefix: "/3/device/",
        headers: [
            ("apns-topic", "com.example.app"), ("apns-push-type", "alert"), ("apns-priority", "10"),
            ("apns-expiration", "0"),
        ],
        authorization: "bearer " + String(repeating: "eyJhbGciOiJFUzI1NiJ9", count: 10))

    /// SETTINGS and the like, which come before the first request.
    private(set) var opening: [UInt8] = []
    /// The answers to each batch.
    private(set) var answers: [[UInt8]] = []

    init(bodyBytes: Int = 227) throws {
        var settings = ServerSettings()
        settings.initialWindowBytes = 1 << 20
        settings.connectionWindowBytes = 1 << 24
        let server = try ServerSession(settings: settings)
        let answering = Answering()
        server.delegate = answering
        let driver = try SessionDriver()
        let tokens = Tokens(count: Self.requests)
        let body = [UInt8](repeating: 0x61, count: bodyBytes)
        opening = try exchange(driver, server)
        try feed(opening, to: driver)
        for batch in 0..<Self.batchCount {
            try body.withUnsafeBytes { body in
                for index in batch * Self.batchRequests..<(batch + 1) * Self.batchRequests {
                    try driver.submit(UInt32(index), tokens[index], body) {
                        try self.drain(driver, server)
                    }
                }
            }
            answers.append(try exchange(driver, server))
            try feed(answers[batch], to: driver)
        }
        guard driver.answered == Self.requests else {
            throw Failure("the canned server answered \(driver.answered) of \(Self.requests)")
        }
    }

    private func feed(_ bytes: [UInt8], to driver: SessionDriver) throws {
        try bytes.withUnsafeBytes { try driver.session.receive($0) }
    }

    /// Hands on what the client wrote, and returns all that the server says to it.
    private func exchange(_ driver: SessionDriver, _ server: ServerSession) throws -> [UInt8] {
        try drain(driver, server)
        var said: [UInt8] = []
        repeat {
            server.pump()
            said += server.output.readable
            server.output.consume(server.output.count)
            server.pump()
        } while server.output.count > 0
        return said
    }

    private func drain(_ driver: SessionDriver, _ server: ServerSession) throws {
        driver.session.pump()
        while driver.session.output.count > 0 {
            try server.receive(driver.session.output.readable)
            driver.session.output.consume(driver.session.output.count)
            driver.session.pump()
        }
    }
}

/// Answers every request with a 200 and an `apns-id`, as APNs does.
private final class Answering: ServerSessionDelegate {
    private let identifier = Array("eabeae54-14a8-11e5-b60b-1697f925ec7b".utf8)

    func session(_ session: ServerSession, received request: ServerRequest) {
        identifier.withUnsafeBytes { identifier in
            var headers = ResponseHeaders()
            headers.add(ResponseField("apns-id", identifier))
            session.respond(to: request.stream, status: 200, headers: headers)
        }
    }

    func session(
        _ session: ServerSession, streamClosed stream: StreamID, errorCode: HTTP2ErrorCode
    ) {}
}

/// A client session and its delegate, which counts answers, and takes them to `onAnswer`.
final class SessionDriver: ClientSessionDelegate {
    let session: ClientSession
    private(set) var answered = 0
    private let onAnswer: ((UInt32) -> Void)?

    init(onAnswer: ((UInt32) -> Void)? = nil) throws {
        session = try ClientSession(template: CannedServer.template)
        self.onAnswer = onAnswer
        session.delegate = self
    }

    /// Submits a request; when the output is full, `makeRoom` empties it.
    @inline(__always)
    func submit(
        _ request: UInt32, _ token: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer,
        makeRoom: () throws -> Void
    ) throws {
        let none = UnsafeBufferPointer<UnsafeRawBufferPointer>(start: nil, count: 0)
        for _ in 0..<2 {
            if session.submit(request: request, path: token, values: none, body: body) != nil {
                return
            }
            try makeRoom()
        }
        throw Failure("the session does not take a request")
    }

    func session(_ session: ClientSession, request: UInt32, endedWith answer: borrowing Answer) {
        guard answer.kind == .response, answer.status == 200 else { return }
        answered += 1
        onAnswer?(request)
    }

    func sessionSettingsChanged(_ session: ClientSession) {}
    func session(_ session: ClientSession, didReceiveGoAway goAway: GoAway) {}
    func sessionDidReceivePong(_ session: ClientSession) {}
}
