import HTTP2
import Testing

/// A server that makes work without end: the output never grows beyond its memory, and the
/// connection ends when nobody reads what it holds.
@Suite(.timeLimit(.minutes(5))) struct FloodTests {
    private let server: RawServer

    init() throws {
        server = try RawServer()
        server.client.submit(7)
        _ = server.take()
    }

    private func expectCalm(_ frame: RawFrame, _ place: SourceLocation = #_sourceLocation) {
        let thrown = #expect(throws: HTTP2Error.self, sourceLocation: place) {
            for _ in 0..<20_000 { try server.client.receive(frame) }
        }
        #expect(thrown?.code == .enhanceYourCalm, sourceLocation: place)
        #expect(server.client.output.count <= server.client.output.capacityBytes)
        server.client.connectionEnded()
        #expect(server.recorder.answers.map(\.request) == [7], sourceLocation: place)
    }

    @Test func pingsWhoseAnswersNobodyReads() {
        expectCalm(RawFrame(.ping, [0, 0, 0, 0, 0, 0, 0, 0]))
    }

    @Test func settingsWhoseAcknowledgementsNobodyReads() {
        expectCalm(.settings([(3, 100)]))
    }

    @Test(arguments: [
        RawFrame.data(1, ""), RawFrame(.priority, stream: 1, [0, 0, 0, 0, 1]),
        RawFrame(type: 0xFA, flags: 0, stream: 0, payload: []),
    ])
    func framesThatSayNothing(frame: RawFrame) {
        expectCalm(frame)
    }

    @Test func resetsOfStreamsThatAreOver() throws {
        try server.client.receive(.headers(1, [(":status", "200")], end: true))
        let thrown = #expect(throws: HTTP2Error.self) {
            for _ in 0..<20_000 { try server.client.receive(.reset(1, 8)) }
        }
        #expect(thrown?.code == .enhanceYourCalm)
    }

    @Test func aHeaderBlockInPiecesWithoutEnd() {
        let begin = RawFrame(.headers, stream: 1, [0x88])
        let thrown = #expect(throws: HTTP2Error.self) {
            try server.client.receive(begin)
            for _ in 0..<20_000 {
                try server.client.receive(RawFrame(.continuation, stream: 1, []))
            }
        }
        #expect(thrown?.code == .enhanceYourCalm)
    }

    /// As many pings as one likes, as long as their answers are read.
    @Test func pingsThatAreReadAreAnsweredForEver() throws {
        for number: UInt8 in 0..<200 {
            let payload = [UInt8](repeating: number, count: 8)
            let pings = [RawFrame](repeating: RawFrame(.ping, payload), count: 100)
            try server.client.receive(pings.flatMap(\.bytes))
            let pongs = server.take()
            #expect(pongs.count == 100)
            #expect(pongs.allSatisfy { $0 == RawFrame(.ping, flags: RawFrame.ack, payload) })
        }
    }

    @Test func aPongThatNobodyAskedForIsNoSign() throws {
        try server.client.receive(
            RawFrame(.ping, flags: RawFrame.ack, [0, 0, 0, 0, 0, 0, 0, 0]))
        server.client.ping()
        let ping = try #require(server.take().first)
        try server.client.receive(
            RawFrame(.ping, flags: RawFrame.ack, ping.payload.map { $0 ^ 0xFF }))
        #expect(server.recorder.pongCount == 0)
        try server.client.receive(RawFrame(.ping, flags: RawFrame.ack, ping.payload))
        #expect(server.recorder.pongCount == 1)
    }

    /// A server that has stopped to read: every request is given up, and the resets wait for room.
    @Test func resetsThatFindNoRoomLeaveLater() throws {
        let server = try RawServer(streamsMax: 1_500)
        var streams: [StreamID] = []
        while let stream = server.client.submit(UInt32(streams.count), body: "") {
            streams.append(stream)
        }
        let filling = [UInt8](repeating: 0, count: server.client.output.free)
        let requestBytes = server.client.output.count
        #expect(filling.withUnsafeBytes { server.client.output.append($0) })
        for stream in streams { server.client.cancel(stream) }
        #expect(server.recorder.answers.count == streams.count)
        server.client.pump()
        #expect(server.client.openStreamCount == streams.count)
        #expect(server.client.submit(1) == nil)

        server.client.output.consume(requestBytes + filling.count)
        var resets: [RawFrame] = []
        while case var bytes = server.client.takeOutput(), !bytes.isEmpty {
            resets += RawFrame.takeAll(from: &bytes)
        }
        #expect(resets == streams.map { .reset(UInt32($0.rawValue), 8) })
        #expect(server.client.openStreamCount == 0 && server.client.submit(1) != nil)
    }
}

/// The peer's limit on the size of a request's headers.
@Suite struct HeaderListLimitTests {
    @Test func aLimitBelowTheConstantsEndsTheConnection() throws {
        let client = try ClientSession(template: plainTemplate)
        let thrown = #expect(throws: HTTP2Error.self) {
            try client.receive(.settings([(6, 100)]))
        }
        #expect(thrown?.message.contains("100 bytes") == true)
        #expect(client.submit(1) == nil && client.isDraining)
    }

    /// RFC 9113, section 6.5.2: names, values and 32 bytes a field.
    @Test func aRequestThatIsOneByteTooLargeEndsTheConnection() throws {
        let lists: [(String, String)] = [
            (":method", "POST"), (":scheme", "https"), (":authority", "localhost:2197"),
            (":path", "/3/device/00ff"), ("apns-topic", "com.example.app"),
            ("authorization", "bearer abc"), ("apns-id", "1234"),
        ]
        let size = lists.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 }
        let enough = try RawServer(settings: [(6, UInt32(size))])
        #expect(enough.client.submit(1, values: ["1234"]) != nil)

        let server = try RawServer(settings: [(6, UInt32(size - 1))])
        #expect(server.client.submit(1, values: [""]) != nil)
        #expect(server.client.submit(2, values: ["1234"]) == nil)
        #expect(server.client.failure?.message.contains("\(size)") == true)
        #expect(server.take().last?.kind == .goAway)
        #expect(server.client.openRequestCount == 1 && server.client.isFinished)
    }
}
