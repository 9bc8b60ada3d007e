import HTTP2
import Testing

/// What RFC 9113 forbids a server, and what it costs: the connection, or one stream.
@Suite struct PeerRulesTests {
    private let server: RawServer

    init() throws {
        server = try RawServer()
        server.client.submit(7)
        _ = server.take()
    }

    private func expectConnectionError(
        _ code: HTTP2ErrorCode, _ frames: [RawFrame], _ place: SourceLocation = #_sourceLocation
    ) {
        let thrown = #expect(throws: HTTP2Error.self, sourceLocation: place) {
            try server.client.receive(frames.flatMap(\.bytes))
        }
        #expect(thrown?.code == code, sourceLocation: place)
        let goAway = server.take().last
        #expect(goAway == .goAway(0, code.rawValue), sourceLocation: place)
        #expect(server.client.isFinished, sourceLocation: place)
    }

    /// The stream is reset with the code, its request is unknown, and the connection goes on.
    private func expectStreamError(
        _ code: HTTP2ErrorCode, _ frames: [RawFrame], _ place: SourceLocation = #_sourceLocation
    ) throws {
        try server.client.receive(frames.flatMap(\.bytes))
        #expect(server.take() == [.reset(1, code.rawValue)], sourceLocation: place)
        let expected = RecordedAnswer(request: 7, kind: .unknown, errorCode: code)
        #expect(server.recorder.answers == [expected], sourceLocation: place)
        #expect(server.client.submit(8) != nil, sourceLocation: place)
    }

    // MARK: SETTINGS (6.5)

    @Test(arguments: [UInt32(0x8000_0000), UInt32.max])
    func anInitialWindowOver31BitsIsAFlowControlError(value: UInt32) {
        expectConnectionError(.flowControlError, [RawFrame.settings([(UInt16(4), value)])])
    }

    /// ENABLE_PUSH from a server, and MAX_FRAME_SIZE.
    private static let badSettings: [(UInt16, UInt32)] = [
        (2, 1), (2, 2), (5, 16_383), (5, 16_777_216),
    ]

    @Test(arguments: badSettings)
    func settingsOutOfRangeAreProtocolErrors(id: UInt16, value: UInt32) {
        expectConnectionError(.protocolError, [.settings([(id, value)])])
    }

    @Test func settingsOfAWrongLengthAreFrameSizeErrors() {
        expectConnectionError(.frameSizeError, [RawFrame(.settings, [0, 3, 0, 0, 0])])
    }

    @Test func anAcknowledgementWithValuesIsAFrameSizeError() {
        let frame = RawFrame(.settings, flags: RawFrame.ack, [0, 3, 0, 0, 0, 1])
        expectConnectionError(.frameSizeError, [frame])
    }

    @Test func everySettingsFrameIsAcknowledged() throws {
        try server.client.receive(.settings(), .settings([(3, 9)]), .settings([(3, 5)]))
        #expect(server.take() == [.settingsAck, .settingsAck, .settingsAck])
        #expect(server.client.peerStreamsMax == 5 && server.recorder.settingsCount == 2)
    }

    @Test func aServerThatDoesNotBeginWithSettingsIsRefused() throws {
        for first in [
            RawFrame(.ping, [0, 0, 0, 0, 0, 0, 0, 0]).bytes, RawFrame.settingsAck.bytes,
            Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8),
        ] {
            let client = try ClientSession(template: plainTemplate)
            let thrown = #expect(throws: HTTP2Error.self) { try client.receive(first) }
            #expect(thrown?.code == .protocolError)
            #expect(!client.isReady)
        }
    }

    // MARK: Frames at the wrong place or of the wrong size

    @Test(arguments: [
        RawFrame(.settings, stream: 1), RawFrame(.ping, stream: 1, [0, 0, 0, 0, 0, 0, 0, 0]),
        RawFrame(.goAway, stream: 1, [0, 0, 0, 0, 0, 0, 0, 0]), RawFrame.data(0, "x"),
        RawFrame.headers(0, [(":status", "200")]), RawFrame.reset(0, 8),
        RawFrame(.priority, stream: 0, [0, 0, 0, 0, 1]),
        // Streams that were never opened, of either side.
        RawFrame.data(3, "x"), RawFrame.headers(2, [(":status", "200")]), RawFrame.reset(3, 8),
        RawFrame.windowUpdate(3, 1), RawFrame.windowUpdate(0, 0),
        RawFrame(.continuation, flags: RawFrame.endHeaders, stream: 1, [0x88]),
        // Padding that is longer than the frame.
        RawFrame(.data, flags: RawFrame.padded, stream: 1, [3, 0, 0]),
        RawFrame(.headers, flags: RawFrame.padded | RawFrame.endHeaders, stream: 1, [2, 0x88]),
    ])
    func misplacedFramesAreProtocolErrors(frame: RawFrame) {
        expectConnectionError(.protocolError, [frame])
    }

    @Test(arguments: [
        RawFrame(.ping, [1, 2, 3, 4, 5, 6, 7]), RawFrame(.goAway, [0, 0, 0, 0]),
        RawFrame(.rstStream, stream: 1, [0, 0, 0]), RawFrame(.windowUpdate, [0, 0, 0, 0, 1]),
        RawFrame(.data, flags: RawFrame.padded, stream: 1),
        RawFrame(.headers, flags: 0x24, stream: 1, [0, 0, 0, 0]),
        RawFrame(type: 0xFA, flags: 0, stream: 1, payload: [UInt8](repeating: 0, count: 16_385)),
    ])
    func framesOfAWrongSizeAreFrameSizeErrors(frame: RawFrame) {
        expectConnectionError(.frameSizeError, [frame])
    }

    @Test(arguments: [
        RawFrame.data(1, "x"), RawFrame(type: 0xFA, flags: 0, stream: 1, payload: []),
        RawFrame(.continuation, flags: RawFrame.endHeaders, stream: 3, [0x88]),
        RawFrame(.ping, [0, 0, 0, 0, 0, 0, 0, 0]),
    ])
    func nothingMayComeBetweenThePartsOfABlock(frame: RawFrame) {
        server.client.submit(8)
        _ = server.take()
        expectConnectionError(.protocolError, [RawFrame(.headers, stream: 1, [0x88]), frame])
    }

    // MARK: Windows (6.9)

    @Test func aConnectionWindowThatOverflowsIsAFlowControlError() {
        let most = UInt32(0x7FFF_FFFF - 65_535)
        expectConnectionError(
            .flowControlError, [.windowUpdate(0, most), .windowUpdate(0, 3)])
    }

    @Test func aStreamWindowOf0BytesMoreIsAStreamError() throws {
        try expectStreamError(.protocolError, [.windowUpdate(1, 0)])
    }

    @Test func aStreamWindowThatOverflowsIsAStreamError() throws {
        try expectStreamError(.flowControlError, [.windowUpdate(1, 0x7FFF_FFFF)])
    }

    @Test func settingsThatMakeAStreamsWindowOverflowEndTheConnection() throws {
        try server.client.receive(.windowUpdate(1, 0x7FFF_FFFF - 65_535))
        expectConnectionError(.flowControlError, [.settings([(4, 65_538)])])
    }

    @Test func moreBytesThanOurWindowAreAFlowControlError() throws {
        // A stream that is over: nothing of it is kept, and all of it counts.
        try server.client.receive(.headers(1, [(":status", "200")], end: true))
        let part = RawFrame.data(1, String(repeating: "x", count: 16_000))
        expectConnectionError(.flowControlError, [part, part, part, part, part])
    }

    @Test func windowsAreGivenBackByHalves() throws {
        let part = RawFrame.data(1, String(repeating: "x", count: 16_000))
        try server.client.receive(.headers(1, [(":status", "400")]))
        try server.client.receive([part, part, part, part].flatMap(\.bytes))
        let updates = server.take().filter { $0.kind == .windowUpdate }
        #expect(updates.map(\.stream).sorted() == [0, 1])
        #expect(updates.allSatisfy { number($0.payload) == 64_000 })
    }

    // MARK: Responses (8.1)

    @Test(arguments: [
        [("apns-id", "1"), (":status", "200")], [(":status", "200"), (":status", "200")],
        [(":status", "20")], [(":status", "2x0")], [(":status", "099")], [(":path", "/")],
        [(":status", "200"), (":scheme", "https")], [(":status", "200"), ("Apns-Id", "1")],
        [(":status", "200"), ("", "1")], [],
    ])
    func malformedHeadersAreStreamErrors(fields: [(String, String)]) throws {
        try expectStreamError(.protocolError, [.headers(1, fields, end: true)])
    }

    @Test func anInformationalAnswerThatEndsTheStreamIsAStreamError() throws {
        try expectStreamError(.protocolError, [.headers(1, [(":status", "103")], end: true)])
    }

    @Test func aBodyBeforeTheHeadersIsAStreamError() throws {
        try expectStreamError(.protocolError, [.data(1, "x")])
    }

    @Test(arguments: [false, true])
    func badTrailersResetAnAnswerThatCounts(withStatus: Bool) throws {
        let trailers =
            withStatus
            ? RawFrame.headers(1, [(":status", "200")], end: true)
            : RawFrame.headers(1, [("checksum", "1")])
        try server.client.receive(.headers(1, [(":status", "400")]), .data(1, "{}"), trailers)
        #expect(server.take() == [.reset(1, 1)])
        #expect(
            server.recorder.answers == [
                RecordedAnswer(
                    request: 7, kind: .response, status: 400, errorCode: .protocolError, body: "{}")
            ])
    }

    /// What is indexed, and what a literal without indexing says, changes no table: such a 200 is
    /// told without being inflated, and the next block finds the table as it was.
    @Test func aPlainAcceptanceLeavesTheTableAsItIs() throws {
        for request: UInt32 in 8...12 { server.client.submit(request) }
        func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
        let insert: [UInt8] = [0x40] + text("x-a") + text("1")
        let blocks: [[UInt8]] = [
            [0x88] + insert,
            [0x88, 0x00] + text("apns-id") + text("0123") + [0x10] + text("b") + text(""),
            // Names from the static table: server (54), date (33), via (60) with nothing.
            [0x88, 0x0F, 54 - 15] + text("n") + [0x1F, 33 - 15] + text("today") + [0x80 | 60],
            [0x88, 0x80 | 62],  // What the first one has put there.
            [0x88],
            [0x80 | 62, 0x88],  // A status behind another field: malformed.
        ]
        let frames = blocks.enumerated().map { number, block in
            RawFrame(
                .headers, flags: RawFrame.endHeaders | RawFrame.endStream,
                stream: UInt32(2 * number + 1), block)
        }
        try server.client.receive(frames.flatMap(\.bytes))
        let answers = server.recorder.answers
        #expect(answers.map(\.request) == [7, 8, 9, 10, 11, 12])
        #expect(answers.map(\.status) == [200, 200, 200, 200, 200, 0])
        #expect(server.client.failure == nil)
    }

    /// A literal may be cut off, or be a pseudo-header field in disguise.
    @Test func a200WithASecondStatusIsNoAcceptance() throws {
        let status: [UInt8] = [7] + Array(":status".utf8) + [3] + Array("404".utf8)
        let block: [UInt8] = [0x88, 0x00] + status
        try expectStreamError(
            .protocolError,
            [RawFrame(.headers, flags: RawFrame.endHeaders, stream: 1, block)])
    }

    @Test(arguments: [
        [0x88, 0x00], [0x88, 0x00, 3, 0x61], [0x88, 0x0F, 54 - 15, 9, 0x61], [0x88, 0x80],
        [0x88, 0xC0],
    ])
    func aBrokenAcceptanceEndsTheConnection(block: [UInt8]) {
        expectConnectionError(
            .compressionError,
            [RawFrame(.headers, flags: RawFrame.endHeaders, stream: 1, block)])
    }

    // MARK: GOAWAY (6.8)

    /// What was handed back may have been sent elsewhere: a second, larger number takes nothing
    /// back, and a smaller one hands back more.
    @Test func aSecondGoAwayOnlyEverHandsBackMore() throws {
        for request: UInt32 in 8...10 { server.client.submit(request) }
        try server.client.receive(.goAway(5, 0), .goAway(7, 0))
        #expect(server.recorder.answers.map(\.request) == [10])
        try server.client.receive(.goAway(1, 0))
        #expect(server.recorder.answers.map(\.request) == [10, 8, 9])
        #expect(server.recorder.answers.allSatisfy { $0.kind == .unprocessed })
        #expect(server.recorder.goAways.map(\.lastStreamID) == [5, 7, 1])
        try server.client.receive(.headers(1, [(":status", "200")], end: true))
        _ = server.take()
        #expect(server.client.isFinished)
    }
}
