import HTTP2
import Testing

/// The server's side against a client made of raw frames.
@Suite struct ServerSessionTests {
    private final class RawClient {
        let server: ServerSession
        let recorder = ServerRecorder()
        private var unread: [UInt8] = []

        init(_ settings: ServerSettings = ServerSettings()) throws {
            server = try ServerSession(settings: settings)
            server.delegate = recorder
            try server.receive(RawFrame.clientPreface + RawFrame.settings().bytes)
        }

        func take() -> [RawFrame] {
            unread += server.takeOutput()
            return RawFrame.takeAll(from: &unread)
        }
    }

    private let head = [
        (":method", "POST"), (":scheme", "https"), (":authority", "a"), (":path", "/3/device/0f"),
    ]

    @Test func announcesItsSettings() throws {
        var settings = ServerSettings()
        settings.connectionWindowBytes = 100_000
        let client = try RawClient(settings)
        let frames = client.take()
        #expect(
            frames[0]
                == .settings([(1, 4_096), (3, 1_000), (4, 65_535), (5, 16_384), (6, 8_000)]))
        #expect(frames.contains(.windowUpdate(0, 100_000 - 65_535)))
        #expect(frames.contains(.settingsAck))
    }

    @Test func tellsAWholeRequest() throws {
        let client = try RawClient()
        try client.server.receive(
            .headers(1, head + [("apns-id", "1"), ("cookie", "a"), ("cookie", "b")]),
            .data(1, "{\"a\""))
        #expect(client.recorder.requests.isEmpty)
        client.recorder.onRequest = { _, request in
            #expect(request.headerCount("cookie") == 2 && request.headerCount("apns") == 0)
            #expect(request.header("apns-id").map { text($0) } == "1")
        }
        try client.server.receive(.data(1, ":1}", end: true))
        let request = client.recorder.requests[0]
        #expect(request.path == "/3/device/0f" && request.body == "{\"a\":1}")
        #expect(request.bodyBytes == 7 && request.fields.count == 7)
    }

    @Test func trailersEndARequestAndAreDropped() throws {
        let client = try RawClient()
        try client.server.receive(
            .headers(1, head), .data(1, "x"), .headers(1, [("apns-id", "late")], end: true))
        #expect(client.recorder.requests.map(\.fields.count) == [4])
    }

    @Test func writesItsAnswer() throws {
        let client = try RawClient()
        client.recorder.onRequest = { session, request in
            var headers = ResponseHeaders()
            headers.add(ResponseField("content-type", "application/json"))
            session.respond(to: request.stream, status: 400, headers: headers, body: request.body)
        }
        try client.server.receive(.headers(1, head), .data(1, "{}", end: true))
        let answer = client.take().suffix(2)
        #expect(answer.map(\.kind) == [.headers, .data])
        #expect(answer.last == .data(1, "{}", end: true))
        #expect(client.recorder.closed.map(\.code) == [.noError])
    }

    @Test(.timeLimit(.minutes(5))) func aLargeBodyIsCountedAndItsWindowReturned() throws {
        let client = try RawClient()
        client.recorder.onRequest = { $0.respond(to: $1.stream, 413) }
        try client.server.receive(.headers(1, head))
        let part = String(repeating: "p", count: 16_000)
        var granted = 0
        for _ in 0..<50 {
            try client.server.receive(.data(1, part))
            let updates = client.take().filter { $0.kind == .windowUpdate && $0.stream == 1 }
            granted += updates.reduce(0) { $0 + Int(number($1.payload)) }
        }
        try client.server.receive(.data(1, "", end: true))
        #expect(client.recorder.requests[0].bodyBytes == 800_000)
        #expect(client.recorder.requests[0].body.utf8.count == 8_192)
        #expect(granted > 800_000 - 65_535 && client.take().last?.kind == .headers)
    }

    /// RFC 9113, sections 8.1 and 6.5.2; RFC 6585, section 5.
    @Test func tooLargeHeadersAreAnsweredWith431AndTheRestIsNotWanted() throws {
        var settings = ServerSettings()
        settings.headerListBytesMax = 300
        let client = try RawClient(settings)
        _ = client.take()
        // The four fields of the head count 7+4, 7+5, 10+1 and 5+12 bytes and 32 each: 179.
        let most = ("x", String(repeating: "y", count: 300 - 179 - 33))
        try client.server.receive(.headers(1, head + [most], end: true))
        #expect(client.recorder.requests.count == 1)
        try client.server.receive(.headers(3, head + [("x", most.1 + "y")]))
        let frames = client.take()
        #expect(frames.map(\.kind) == [.headers, .rstStream])
        #expect(frames[0].flags & RawFrame.endStream != 0 && frames.last == .reset(3, 0))
        #expect(client.recorder.requests.count == 1)
        #expect(client.recorder.closed.map(\.stream.rawValue) == [3])
    }

    @Test func moreFieldsThanThereIsMemoryForAreAnsweredWith431() throws {
        var settings = ServerSettings()
        settings.headerListBytesMax = 1_000_000
        let client = try RawClient(settings)
        _ = client.take()
        let fields = (0..<125).map { _ in ("x", "y") }
        try client.server.receive(.headers(1, head + fields, end: true))
        let large = ("x", String(repeating: "y", count: 9_000))
        let block = literalBlock(head + [large, large])
        try client.server.receive(
            RawFrame(.headers, flags: RawFrame.endStream, stream: 3, Array(block[..<9_000])),
            RawFrame(.continuation, flags: RawFrame.endHeaders, stream: 3, Array(block[9_000...])))
        #expect(client.take().map(\.kind) == [.headers, .headers])
        #expect(client.recorder.requests.isEmpty && client.server.openStreamCount == 0)
    }

    @Test func refusesStreamsOverItsLimit() throws {
        var settings = ServerSettings()
        settings.concurrentStreamsMax = 2
        let client = try RawClient(settings)
        for stream: UInt32 in [1, 3, 5] { try client.server.receive(.headers(stream, head)) }
        #expect(client.take().last == .reset(5, 7))
        #expect(client.server.openStreamCount == 2)
    }

    @Test func resetsAStream() throws {
        let client = try RawClient()
        try client.server.receive(.headers(1, head))
        client.server.reset(StreamID(rawValue: 1), .refusedStream)
        client.server.reset(StreamID(rawValue: 9), .refusedStream)
        #expect(client.take().last == .reset(1, 7))
        #expect(client.recorder.closed.map(\.code) == [.refusedStream])
        try client.server.receive(.data(1, "late", end: true))
        #expect(client.recorder.requests.isEmpty)
    }

    @Test func aResetByTheClientIsTold() throws {
        let client = try RawClient()
        try client.server.receive(.headers(1, head), .reset(1, 8))
        #expect(client.recorder.closed.map(\.code) == [.cancel])
        #expect(!client.server.respond(to: StreamID(rawValue: 1), 200))
    }

    /// Lesson B09: some clients name a stream of their own in GOAWAY, or the largest number.
    @Test(arguments: [0, 1, 2, 3, 0x7FFF_FFFF, 0xFFFF_FFFF] as [UInt32])
    func aClientsGoAwayIsAClosingThatKeepsPendingAnswers(last: UInt32) throws {
        let client = try RawClient()
        try client.server.receive(.headers(1, head), .goAway(last, 0, "tired"))
        #expect(client.server.openStreamCount == 1)
        _ = client.take()
        client.recorder.onRequest = { $0.respond(to: $1.stream, 200) }
        try client.server.receive(.goAway(last, 0), .data(1, "{}", end: true))
        #expect(client.take().map(\.kind) == [.headers])
        #expect(client.server.isFinished && client.server.failure == nil)
        #expect(client.recorder.closed.map(\.code) == [.noError])
    }

    @Test func aClientsGoAwayMayArriveInAnyTwoPieces() throws {
        let frames: [RawFrame] = [
            .settings(), .headers(1, head), .goAway(1, 0, "x"), .goAway(1, 0),
            .data(1, "{}", end: true),
        ]
        let bytes = RawFrame.clientPreface + frames.flatMap(\.bytes)
        for cut in 0...bytes.count {
            let server = try ServerSession(settings: ServerSettings())
            let recorder = ServerRecorder()
            server.delegate = recorder
            recorder.onRequest = { $0.respond(to: $1.stream, 200) }
            try server.receive(Array(bytes[..<cut]))
            try server.receive(Array(bytes[cut...]))
            _ = server.takeOutput()
            #expect(server.isFinished && recorder.closed.map(\.code) == [.noError], "\(cut)")
        }
    }

    @Test func aGoAwayThatIsTooShortIsStillRefused() throws {
        let client = try RawClient()
        #expect(throws: HTTP2Error.self) {
            try client.server.receive(RawFrame(.goAway, [0, 0, 1]))
            _ = client.take()
            try client.server.receive(.settings())
        }
        #expect(client.server.failure?.code == .frameSizeError)
    }

    @Test func anOwnGoAwayWithAnErrorIsNoFailure() throws {
        let client = try RawClient()
        try client.server.receive(.headers(1, head))
        client.server.goAway(.enhanceYourCalm, debugData: Array("slow".utf8))
        #expect(client.take().last == .goAway(1, 11, "slow"))
        try client.server.receive(.data(1, "x", end: true))
        #expect(client.recorder.requests.count == 1)
        client.server.goAwayRefusingAll(.internalError)
        #expect(client.take().last == .goAway(0, 2))
    }

    @Test func theEndOfTheConnectionClosesEveryStreamOnce() throws {
        let client = try RawClient()
        for stream: UInt32 in [1, 3, 5] { try client.server.receive(.headers(stream, head)) }
        client.server.connectionEnded()
        client.server.connectionEnded()
        #expect(client.recorder.closed.map(\.stream.rawValue).sorted() == [1, 3, 5])
        #expect(client.server.isFinished && client.server.openStreamCount == 0)
    }

    @Test func whatIsNoHTTP2IsRefused() throws {
        let server = try ServerSession(settings: ServerSettings())
        #expect(throws: HTTP2Error.self) {
            try server.receive(Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
        }
    }

    @Test(.timeLimit(.minutes(5))) func aFloodOfPingsEndsTheConnection() throws {
        let client = try RawClient()
        let ping = RawFrame(.ping, [0, 0, 0, 0, 0, 0, 0, 0]).bytes
        #expect(throws: HTTP2Error.self) {
            for _ in 0..<200_000 { try client.server.receive(ping) }
        }
    }

    @Test(.timeLimit(.minutes(5))) func aFloodOfResetsEndsTheConnection() throws {
        let client = try RawClient()
        #expect(throws: HTTP2Error.self) {
            for stream in stride(from: UInt32(1), to: 200_001, by: 2) {
                try client.server.receive(.headers(stream, head), .reset(stream, 8))
                _ = client.take()
            }
        }
    }
}
