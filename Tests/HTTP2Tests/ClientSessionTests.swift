import HTTP2
import Testing

/// The client's side against a server made of raw frames: what it sends, and when it may.
@Suite struct ClientSessionTests {
    @Test func opensWithThePrefaceAndSettingsThatRefusePush() throws {
        let client = try ClientSession(template: plainTemplate)
        var bytes = client.takeOutput()
        #expect(bytes.starts(with: RawFrame.clientPreface))
        bytes.removeFirst(RawFrame.clientPreface.count)
        // ENABLE_PUSH (2) is 0, MAX_HEADER_LIST_SIZE (6) is 16 KiB.
        #expect(RawFrame.takeAll(from: &bytes) == [.settings([(2, 0), (6, 16_384)])])
    }

    /// B38: nothing is sent on the assumption of a limit of 100.
    @Test func waitsForTheFirstSettings() throws {
        let client = try ClientSession(template: plainTemplate)
        let recorder = ClientRecorder()
        client.delegate = recorder
        #expect(!client.isReady && client.submit(1) == nil)
        try client.receive(.settings([(3, 2)]))
        #expect(client.isReady && client.peerStreamsMax == 2 && recorder.settingsCount == 1)
        #expect(client.submit(1) == StreamID(rawValue: 1))
    }

    @Test func theDelegateMaySubmitWhenSettingsArrive() throws {
        let client = try ClientSession(template: plainTemplate)
        let recorder = ClientRecorder()
        client.delegate = recorder
        recorder.onSettings = { session in
            #expect(session.submit(1) != nil && session.submit(2) == nil)
        }
        try client.receive(.settings([(3, 1)]))
        #expect(client.openStreamCount == 1 && recorder.settingsCount == 1)
    }

    @Test func sendsHeadersAndBodyAtOnce() throws {
        let server = try RawServer()
        #expect(server.client.submit(7, body: "{\"aps\":{}}") == StreamID(rawValue: 1))
        let frames = server.take()
        #expect(frames.map(\.kind) == [.headers, .data])
        #expect(frames.allSatisfy { $0.stream == 1 })
        #expect(frames[0].flags == RawFrame.endHeaders)
        #expect(frames[1] == .data(1, "{\"aps\":{}}", end: true))
    }

    @Test func anEmptyBodyEndsTheStreamWithItsHeaders() throws {
        let server = try RawServer()
        server.client.submit(7, body: "")
        #expect(server.take().map(\.flags) == [RawFrame.endHeaders | RawFrame.endStream])
    }

    /// B87, and Apple's page: path and authorization are never put into the header table, constants
    /// are put there once, a request's own values never.
    @Test func onlyConstantHeadersAreIndexed() throws {
        let server = try RawServer()
        server.client.submit(1, values: ["11111111"])
        server.client.submit(2, values: ["22222222"])
        let blocks = server.take().filter { $0.kind == .headers }.map(\.payload)
        func isLiteral(_ field: Representation) -> Bool {
            switch field {
            case .unindexed, .neverIndexed: true
            default: false
            }
        }
        // :method POST (3) and :scheme https (7) are in the static table; then :authority, :path
        // (4), apns-topic, authorization (23), apns-id. RFC 7541, appendix A.
        let first = Representation.list(blocks[0])
        #expect(first.count == 7 && first[0] == .indexed(3) && first[1] == .indexed(7))
        #expect(first[2] == .incremental(nameIndex: 1) && isLiteral(first[3]))
        #expect(first[4] == .incremental(nameIndex: 0))
        #expect(isLiteral(first[5]) && isLiteral(first[6]))
        let second = Representation.list(blocks[1])
        #expect(second[2] == .indexed(63) && second[4] == .indexed(62))
        #expect([3, 5, 6].allSatisfy { isLiteral(second[$0]) })
    }

    @Test func keepsToThePeersStreamLimit() throws {
        let server = try RawServer(settings: [(3, 2)])
        #expect(server.client.submit(1) != nil && server.client.submit(2) != nil)
        #expect(!server.client.canSubmit(bodyBytes: 2) && server.client.submit(3) == nil)
        try server.client.receive(.headers(1, [(":status", "200")], end: true))
        #expect(server.client.submit(3) != nil)
    }

    /// B35, B90: the limit falls below what is in flight, and the session only stops opening.
    @Test func aLimitLoweredInFlightStopsOpeningAndLosesNothing() throws {
        let server = try RawServer(settings: [(3, 500)])
        for request: UInt32 in 0..<4 { server.client.submit(request) }
        try server.client.receive(.settings([(3, 1)]))
        #expect(server.recorder.settingsCount == 2 && server.client.openStreamCount == 4)
        for stream: UInt32 in [1, 3, 5] {
            try server.client.receive(.headers(stream, [(":status", "200")], end: true))
            #expect(!server.client.canSubmit(bodyBytes: 2))
        }
        try server.client.receive(.headers(7, [(":status", "200")], end: true))
        #expect(server.client.canSubmit(bodyBytes: 2))
        try server.client.receive(.settings([(3, 0)]))
        #expect(!server.client.canSubmit(bodyBytes: 2))
        #expect(server.recorder.answers.map(\.status) == [200, 200, 200, 200])
    }

    @Test func keepsToItsOwnStreamLimitAndUsesItsSlotsAgain() throws {
        let server = try RawServer(streamsMax: 3)
        var next: UInt32 = 0
        for _ in 0..<50 {
            while server.client.submit(next) != nil { next += 1 }
            #expect(server.client.openStreamCount == 3)
            let first = server.take().first { $0.kind == .headers }!.stream
            try server.client.receive(
                .headers(first, [(":status", "200")], end: true),
                .headers(first + 2, [(":status", "410")], end: true),
                .reset(first + 4, 7))
        }
        #expect(server.recorder.answers.map(\.request) == Array(0..<150))
        #expect(server.client.openStreamCount == 0 && server.client.openRequestCount == 0)
    }

    /// B89: a request starts only when the connection window takes its whole body.
    @Test func waitsForTheConnectionWindow() throws {
        let server = try RawServer(settings: [(4, 1_000_000)])
        let body = String(repeating: "x", count: 16_000)
        var sent = 0
        for request: UInt32 in 0..<4 {
            #expect(server.client.submit(request, body: body) != nil)
            sent += server.take().reduce(0) { $0 + ($1.kind == .data ? $1.payload.count : 0) }
        }
        #expect(sent == 64_000 && server.client.connectionWindow == 65_535 - 64_000)
        #expect(!server.client.canSubmit(bodyBytes: 1_536))
        #expect(server.client.canSubmit(bodyBytes: 1_535))
        try server.client.receive(.windowUpdate(0, 1))
        #expect(server.client.canSubmit(bodyBytes: 1_536))
    }

    /// nginx announces an initial window of 0 and opens it stream by stream.
    @Test func aStreamWindowOfZeroHoldsOneBodyBack() throws {
        let server = try RawServer(settings: [(4, 0)])
        let body = (0..<3_000).map { String($0 % 10) }.joined()
        #expect(server.client.submit(1, body: body) != nil)
        #expect(server.take().map(\.kind) == [.headers])
        #expect(server.client.windowBlockedBytes == 3_000)
        #expect(server.client.submit(2) == nil)
        try server.client.receive(.windowUpdate(1, 1_000))
        try server.client.receive(.windowUpdate(1, 5_000))
        let frames = server.take()
        #expect(frames.map(\.payload.count) == [1_000, 2_000])
        #expect(frames.flatMap(\.payload) == Array(body.utf8))
        #expect(frames[1].flags == RawFrame.endStream)
        #expect(server.client.windowBlockedBytes == 0 && server.client.submit(2) != nil)
    }

    @Test func aChangedInitialWindowMovesOpenStreams() throws {
        let server = try RawServer(settings: [(4, 10)])
        #expect(server.client.submit(1, body: "0123456789abcdef") != nil)
        #expect(server.take().last?.payload == Array("0123456789".utf8))
        try server.client.receive(.settings([(4, 5)]))  // The stream's window is now -5.
        try server.client.receive(.windowUpdate(1, 5))
        #expect(!server.take().contains { $0.kind == .data })
        try server.client.receive(.settings([(4, 11)]))
        #expect(server.take().contains(.data(1, "abcdef", end: true)))
    }

    @Test func anAnswerBeforeTheBodyIsSentDecidesAndFreesTheSession() throws {
        let server = try RawServer(settings: [(4, 0)])
        let stream = server.client.submit(1, body: "0123456789")
        try server.client.receive(.headers(1, [(":status", "413")], end: true))
        #expect(server.recorder.answers.map(\.status) == [413])
        #expect(stream != nil && server.take().last == .reset(1, 8))
        #expect(server.client.openStreamCount == 0 && server.client.canSubmit(bodyBytes: 10))
    }

    /// nginx again: the answer and RST_STREAM(NO_ERROR) come in one piece, before the body could be
    /// sent.
    @Test(arguments: [UInt32(0), 7]) func aResetFreesTheBodyThatWaits(code: UInt32) throws {
        let server = try RawServer(settings: [(4, 0)])
        server.client.submit(1, body: "0123456789")
        _ = server.take()
        if code == 0 {
            try server.client.receive(.headers(1, [(":status", "200")], end: true), .reset(1, 0))
        } else {
            try server.client.receive(.reset(1, code))
        }
        #expect(server.recorder.answers.map(\.kind) == [code == 0 ? .response : .unprocessed])
        #expect(server.client.windowBlockedBytes == 0 && server.client.submit(2) != nil)
        #expect(server.take().map(\.kind) == [.headers])
    }

    @Test func cancellingFreesTheBodyThatWaits() throws {
        let server = try RawServer(settings: [(4, 0)])
        let stream = try #require(server.client.submit(1, body: "0123456789"))
        server.client.cancel(stream)
        #expect(server.take().last == .reset(1, 8))
        #expect(server.client.submit(2, body: "0123456789") != nil)
        try server.client.receive(.windowUpdate(3, 100))
        #expect(server.take().last == .data(3, "0123456789", end: true))
    }

    @Test func newAuthorizationCountsFromTheNextRequest() throws {
        let pair = try Pair()
        pair.client.submit(1)
        pair.client.replaceAuthorization("bearer xyz")
        pair.client.submit(2)
        try pair.run()
        let sent = pair.serverRecorder.requests.map { $0.fields.filter { $0.hasPrefix("auth") } }
        #expect(sent == [["authorization: bearer abc"], ["authorization: bearer xyz"]])
    }

    @Test func aPingIsAnsweredAndCountedOnce() throws {
        let server = try RawServer()
        server.client.ping()
        server.client.ping()
        let pings = server.take().filter { $0.kind == .ping }
        #expect(pings.count == 1)
        try server.client.receive(RawFrame(.ping, flags: RawFrame.ack, pings[0].payload))
        #expect(server.recorder.pongCount == 1)
        try server.client.receive(RawFrame(.ping, [1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(server.take() == [RawFrame(.ping, flags: RawFrame.ack, [1, 2, 3, 4, 5, 6, 7, 8])])
    }

    /// B09: the client's GOAWAY names stream 0, never a stream of its own.
    @Test func endsPolitelyWithLastStreamZero() throws {
        let server = try RawServer()
        server.client.submit(1)
        server.client.goAway()
        #expect(server.take().last == .goAway(0, 0))
        #expect(server.client.isDraining && server.client.submit(2) == nil)
        #expect(!server.client.isFinished)
        try server.client.receive(.headers(1, [(":status", "200")], end: true))
        #expect(server.client.isFinished && server.recorder.answers.count == 1)
    }

    @Test func drainsByItselfBeforeStreamNumbersRunOut() throws {
        let server = try RawServer()
        server.client.skipStreamNumbers(to: Int32.max - 66)
        #expect(server.client.submit(1) == StreamID(rawValue: Int32.max - 66))
        #expect(server.client.submit(2) != nil && server.client.isDraining)
        #expect(server.client.submit(3) == nil)
        #expect(server.take().last == .goAway(0, 0))
        try server.client.receive(.headers(UInt32(Int32.max - 66), [(":status", "200")], end: true))
        #expect(server.recorder.answers.map(\.request) == [1])
    }
}
