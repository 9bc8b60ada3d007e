import HTTP2
import TestSupport
import Testing

/// A body of lines that a test adds one by one.
private final class Lines: StreamedBody {
    var waiting: [UInt8] = []
    var isComplete = false
    var asksForReceipts: ((UInt32) -> Void)?
    private(set) var givenBytes = 0
    private(set) var receipts: [UInt32] = []
    private(set) var endCount = 0
    private var mark: UInt32 = 0

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamedPart {
        #expect(!buffer.isEmpty)
        let part = waiting.prefix(buffer.count)
        guard !part.isEmpty else { return isComplete ? .end : .later }
        buffer.copyBytes(from: part)
        waiting.removeFirst(part.count)
        givenBytes += part.count
        mark += 1
        asksForReceipts?(mark)
        return .bytes(part.count)
    }

    func received(upTo mark: UInt32) { receipts.append(mark) }

    func streamEnded() { endCount += 1 }
}

/// Writes down what a request session tells.
private final class RequestRecorder: RequestSessionDelegate {
    var statuses: [UInt16] = []
    var body = ""
    var ends: [HTTP2ErrorCode] = []

    func session(_: RequestSession, stream: StreamID, answeredWith status: UInt16) {
        statuses.append(status)
    }

    func session(_: RequestSession, stream: StreamID, received bytes: UnsafeRawBufferPointer) {
        body += text(bytes)
    }

    func session(
        _: RequestSession, streamEnded stream: StreamID, errorCode: HTTP2ErrorCode
    ) {
        ends.append(errorCode)
    }
}

/// Streamed answers, and the client's session that reads them.
@Suite struct StreamedBodyTests {
    private let client: RequestSession
    private let server: ServerSession
    private let answers = RequestRecorder()
    private let requests = ServerRecorder()
    private let lines = Lines()

    init() throws {
        client = try RequestSession()
        server = try ServerSession(settings: ServerSettings())
        client.delegate = answers
        server.delegate = requests
        let lines = lines
        requests.onRequest = { session, request in
            session.respond(
                to: request.stream, status: 200, headers: ResponseHeaders(), streaming: lines)
        }
    }

    /// Moves bytes until neither side has any.
    private func run() throws {
        while try move(from: client, to: server) || move(from: server, to: client) {}
    }

    private func move(from: any HTTP2Session, to: any HTTP2Session) throws -> Bool {
        let bytes = from.takeOutput()
        try to.receive(bytes)
        return !bytes.isEmpty
    }

    private func open() throws -> StreamID {
        let stream = try #require(
            client.submit(method: "GET", authority: "localhost", path: "/mock/devices"))
        try run()
        return stream
    }

    @Test func aBodyArrivesAsItIsMade() throws {
        let stream = try open()
        #expect(answers.statuses == [200])
        #expect(answers.body == "" && answers.ends == [])
        for line in ["one\n", "two\n", "three\n"] {
            lines.waiting += line.utf8
            try run()
            #expect(!answers.body.hasSuffix(line))  // Nobody has said that there is more.
            server.resume(stream)
            try run()
            #expect(answers.body.hasSuffix(line))
        }
        #expect(answers.body == "one\ntwo\nthree\n")
        #expect(lines.endCount == 0)

        lines.isComplete = true
        server.resume(stream)
        try run()
        #expect(answers.ends == [.noError])
        #expect(lines.endCount == 1)
        #expect(server.openStreamCount == 0)
        server.resume(stream)  // Too late, and harmless.
        try run()
    }

    @Test func aBodyIsNotAskedForMoreThanTheClientHasRoomFor() throws {
        let stream = try open()
        lines.waiting = [UInt8](repeating: 0x61, count: 1_000_000)
        server.resume(stream)
        var taken: [UInt8] = []
        while case let bytes = server.takeOutput(), !bytes.isEmpty { taken += bytes }
        #expect(lines.givenBytes == 65_535)  // RFC 9113, section 6.9.2: the initial window.

        try client.receive(taken)
        try run()
        #expect(answers.body.utf8.count == 1_000_000)
    }

    @Test func aReceiptComesWhenTheClientHasTheBytesAndNotBefore() throws {
        let stream = try open()
        let server = server
        lines.asksForReceipts = { server.requestReceipt(for: stream, mark: $0) }
        lines.waiting += "first\n".utf8
        server.resume(stream)
        let bytes = server.takeOutput()
        try server.receive(client.takeOutput())
        #expect(lines.receipts == [])

        try client.receive(bytes)
        #expect(answers.body == "first\n")
        try server.receive(client.takeOutput())
        #expect(lines.receipts == [1])
    }

    @Test func aReceiptForAStreamThatIsOverIsNoMatter() throws {
        let stream = try open()
        lines.isComplete = true
        server.resume(stream)
        server.requestReceipt(for: stream, mark: 7)
        try run()
        server.requestReceipt(for: stream, mark: 8)
        try run()
        #expect(lines.receipts == [] || lines.receipts == [7])
        #expect(answers.ends == [.noError])
    }

    @Test func aPongThatNobodyAskedForIsNoMatter() throws {
        _ = try open()
        let payload: [UInt8] = [0x80, 0, 0, 1, 0, 0, 0, 9]
        for number in [payload, [0, 0, 0, 5, 0, 0, 0, 1], [UInt8](repeating: 0, count: 8)] {
            try server.receive([0, 0, 8, 6, 1, 0, 0, 0, 0] + number)
        }
        #expect(lines.receipts == [])
    }

    @Test func theEndOfAConnectionEndsTheBodyOnce() throws {
        let stream = try open()
        server.connectionEnded()
        server.connectionEnded()
        client.connectionEnded()
        #expect(lines.endCount == 1)
        #expect(answers.ends == [.cancel])
        server.resume(stream)
    }

    @Test func aResetByTheServerEndsTheBodyOnce() throws {
        server.reset(try open(), .enhanceYourCalm)
        try run()
        #expect(lines.endCount == 1)
        #expect(answers.ends == [.enhanceYourCalm])
    }

    @Test func aStreamThatIsAnsweredTakesNoOtherBody() throws {
        let stream = try open()
        let other = Lines()
        #expect(
            !server.respond(
                to: stream, status: 200, headers: ResponseHeaders(), streaming: other))
        #expect(other.endCount == 0)
    }

    @Test func aRequestBringsItsMethodHeadersAndBody() throws {
        requests.onRequest = { session, request in session.respond(to: request.stream, 201) }
        let body = [UInt8](repeating: 0x62, count: RequestSession.bodyBytesMax)
        let stream = client.submit(
            method: "POST", authority: "localhost:2197", path: "/mock/devices",
            headers: [("Content-Type", "application/json")], body: body)
        try run()
        let request = try #require(requests.requests.first)
        #expect(request.stream == stream)
        #expect(request.method == "POST" && request.path == "/mock/devices")
        #expect(request.bodyBytes == body.count)
        #expect(request.fields.contains("content-type: application/json"))
        #expect(request.fields.contains(":authority: localhost:2197"))
        #expect(answers.statuses == [201] && answers.ends == [.noError])
    }

    @Test func requestsBeyondTheServersLimitWaitTheirTurn() throws {
        var settings = ServerSettings()
        settings.concurrentStreamsMax = 1
        let server = try ServerSession(settings: settings)
        server.delegate = requests
        requests.onRequest = { session, request in session.respond(to: request.stream, 200) }
        // Before the server's SETTINGS are here, a client knows of no limit (RFC 9113, section
        // 5.1.2).
        while try move(from: client, to: server) || move(from: server, to: client) {}
        for number in 0..<RequestSession.streamsMax {
            #expect(client.submit(method: "GET", authority: "a", path: "/\(number)") != nil)
        }
        #expect(client.submit(method: "GET", authority: "a", path: "/more") == nil)
        while try move(from: client, to: server) || move(from: server, to: client) {}
        #expect(answers.statuses == [UInt16](repeating: 200, count: RequestSession.streamsMax))
    }

    @Test func aPingIsOutUntilItsAnswerCame() throws {
        try run()
        client.ping()
        client.ping()  // One at a time.
        #expect(client.isPingOut)
        try server.receive(client.takeOutput())
        #expect(client.isPingOut)
        try client.receive(server.takeOutput())
        #expect(!client.isPingOut)
    }

    @Test func whatIsNoHTTP2EndsARequestSession() throws {
        #expect(throws: HTTP2Error.self) {
            try client.receive(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
        }
        #expect(client.failure != nil)
        #expect(client.submit(method: "GET", authority: "a", path: "/") == nil)
    }
}
