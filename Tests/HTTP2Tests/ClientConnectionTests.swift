import HTTP2
import Testing

/// GOAWAY, the end of the connection, and connection errors: raw frames against the client.
@Suite struct ClientConnectionTests {
    private let server: RawServer

    init() throws { server = try RawServer() }

    private var answers: [RecordedAnswer] { server.recorder.answers }

    /// B03, B07, B11: what is above the last stream is unprocessed, the others are waited for.
    @Test func goAwayHandsBackWhatIsAboveItsLastStream() throws {
        for request: UInt32 in 0..<4 { server.client.submit(request) }
        _ = server.take()
        try server.client.receive(.goAway(3, 0, "{\"reason\":\"Shutdown\"}"))
        #expect(answers.map(\.request).sorted() == [2, 3])
        #expect(answers.allSatisfy { $0.kind == .unprocessed })
        #expect(server.client.isDraining && !server.client.isFinished)
        #expect(server.client.submit(9) == nil)
        let debug = Array("{\"reason\":\"Shutdown\"}".utf8)
        #expect(
            server.recorder.goAways
                == [GoAway(lastStreamID: 3, errorCode: .noError, debugData: debug)])
        try server.client.receive(
            .headers(1, [(":status", "200")], end: true),
            .headers(3, [(":status", "410")], end: true))
        #expect(answers.dropFirst(2).map(\.status) == [200, 410])
        #expect(server.client.isFinished)
    }

    @Test func aShutdownInTwoStepsIsFollowed() throws {
        for request: UInt32 in 0..<3 { server.client.submit(request) }
        _ = server.take()
        try server.client.receive(.goAway(0x7FFF_FFFF, 0))
        #expect(server.client.isDraining && answers.isEmpty)
        try server.client.receive(.goAway(1, 0))
        #expect(answers.map(\.request).sorted() == [1, 2])
        #expect(server.recorder.goAways.map(\.lastStreamID) == [Int32.max, 1])
        try server.client.receive(.headers(1, [(":status", "200")], end: true))
        #expect(server.client.isFinished)
    }

    @Test func goAwayIsToldBeforeTheAnswersThatItCauses() throws {
        server.client.submit(1)
        let recorder = server.recorder
        recorder.onAnswer = { [unowned recorder] session, _ in
            #expect(recorder.goAways.count == 1 && session.isDraining)
        }
        try server.client.receive(.goAway(0, 2))
        #expect(answers == [.init(request: 1, kind: .unprocessed, errorCode: .refusedStream)])
    }

    @Test func goAwaysDebugDataIsCutAt4KiB() throws {
        try server.client.receive(.goAway(0, 0, String(repeating: "d", count: 9_000)))
        #expect(server.recorder.goAways[0].debugData.count == 4_096)
    }

    @Test func whatNeverLeftTheSessionIsUnprocessedWhenTheConnectionEnds() throws {
        server.client.submit(1)
        _ = server.take()
        server.client.submit(2)
        let secondBytes = server.client.output.count
        server.client.submit(3)
        // One byte of the third request goes out: it is in doubt too.
        server.client.output.consume(secondBytes + 1)
        server.client.submit(4)
        server.client.connectionEnded()
        #expect(answers.map(\.request) == [1, 2, 3, 4])
        #expect(answers.map(\.kind) == [.unknown, .unknown, .unknown, .unprocessed])
        #expect(server.client.isFinished && server.client.submit(5) == nil)
    }

    @Test func nothingMoreIsTakenAfterTheEnd() throws {
        server.client.submit(1)
        server.client.connectionEnded()
        try server.client.receive(.headers(1, [(":status", "200")], end: true))
        server.client.goAway()
        server.client.ping()
        server.client.pump()
        server.client.cancel(StreamID(rawValue: 1))
        #expect(answers.count == 1)
    }

    private func expectFailure(
        _ code: HTTP2ErrorCode, _ bytes: [UInt8], _ place: SourceLocation = #_sourceLocation
    ) {
        server.client.submit(1)
        _ = server.take()
        let thrown = #expect(throws: HTTP2Error.self, sourceLocation: place) {
            try server.client.receive(bytes)
        }
        #expect(thrown?.code == code, sourceLocation: place)
        let goAway = server.take().last
        #expect(goAway?.kind == .goAway, sourceLocation: place)
        #expect(goAway?.payload[4..<8].elementsEqual(bigEndian(code.rawValue)) == true)
        #expect(server.client.isDraining && server.client.submit(2) == nil)
        server.client.connectionEnded()
        #expect(answers.map(\.request) == [1], sourceLocation: place)
        #expect(answers.map(\.kind) == [.unknown], sourceLocation: place)
    }

    @Test func responseHeadersOver16KiBEndTheConnection() throws {
        let value = String(repeating: "v", count: 4_000)
        let block = literalBlock([(":status", "200")] + (0..<5).map { ("x-\($0)", value) })
        expectFailure(
            .enhanceYourCalm,
            RawFrame(.headers, stream: 1, Array(block[..<16_000])).bytes
                + RawFrame(
                    .continuation, flags: RawFrame.endHeaders, stream: 1, Array(block[16_000...])
                ).bytes)
    }

    @Test func aPushPromiseEndsTheConnection() throws {
        // The promise counts as refused once our SETTINGS are acknowledged (RFC 9113, 8.4).
        try server.client.receive(.settingsAck)
        let block = literalBlock([(":method", "GET"), (":path", "/")])
        expectFailure(
            .protocolError,
            RawFrame(.pushPromise, flags: RawFrame.endHeaders, stream: 1, bigEndian(2) + block)
                .bytes)
    }

    @Test func aBrokenHeaderBlockEndsTheConnection() {
        // An index far outside of both tables (RFC 7541, 2.3.3).
        expectFailure(
            .compressionError,
            RawFrame(.headers, flags: RawFrame.endHeaders, stream: 1, [0xFF, 0x80, 0x7F]).bytes)
    }

    @Test func aFrameLargerThanWeAllowEndsTheConnection() {
        let payload = [UInt8](repeating: 0, count: 16_385)
        expectFailure(.frameSizeError, RawFrame(.data, stream: 1, payload).bytes)
    }

    @Test func framesOnStreamsThatWereNeverOpenedEndTheConnection() {
        expectFailure(.protocolError, RawFrame.headers(9, [(":status", "200")]).bytes)
    }

    @Test func resetsOfStreamsThatAreOverAreIgnored() throws {
        server.client.submit(1)
        try server.client.receive(.headers(1, [(":status", "200")], end: true))
        for code: UInt32 in 0..<14 { try server.client.receive(.reset(1, code)) }
        try server.client.receive(.windowUpdate(1, 100))
        #expect(server.client.submit(2) != nil && answers.count == 1)
    }

    @Test func framesOnStreamsThatAreOverAreDroppedAndCredited() throws {
        server.client.submit(1)
        _ = server.take()
        try server.client.receive(.headers(1, [(":status", "200")], end: true))
        let part = String(repeating: "x", count: 16_000)
        var credited: UInt32 = 0
        for _ in 0..<10 {
            try server.client.receive(.data(1, part))
            credited += server.take().reduce(0) {
                $0 + ($1.kind == .windowUpdate && $1.stream == 0 ? number($1.payload) : 0)
            }
        }
        #expect(credited > 160_000 - 65_535)
        #expect(answers == [.init(request: 1, kind: .response, status: 200)])
        #expect(server.client.submit(2) != nil)
    }

    /// The GOAWAY that names an error may find the output full: the session still ends, with the
    /// cause.
    @Test func anErrorWhileTheOutputIsFullIsKept() throws {
        var request: UInt32 = 0
        while server.client.submit(request, body: String(repeating: "f", count: 500)) != nil {
            request += 1
        }
        let output = server.client.output
        let filling = [UInt8](repeating: 0, count: output.free)
        #expect(filling.withUnsafeBytes { output.append($0) })
        try? server.client.receive(.headers(0, [(":status", "200")]))
        server.client.output.consume(server.client.output.count)
        server.client.pump()
        #expect(server.client.failure?.code == .protocolError && !server.client.isFinished)
        server.client.output.consume(server.client.output.count)
        #expect(server.client.isFinished)
    }

    @Test func unknownFramesAndSettingsAreIgnored() throws {
        server.client.submit(1)
        try server.client.receive(
            RawFrame(type: 0xFA, flags: 0xFF, stream: 1, payload: [1, 2, 3]),
            .settings([(0x99, 7)]), RawFrame(.priority, stream: 1, [0, 0, 0, 0, 16]),
            .headers(1, [(":status", "200")], end: true))
        #expect(answers.map(\.status) == [200])
    }
}
