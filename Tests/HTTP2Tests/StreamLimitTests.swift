import HTTP2
import Testing

/// The server's limit of concurrent streams against a client made of raw frames.
@Suite struct StreamLimitTests {
    private let server: ServerSession
    private let recorder = ServerRecorder()
    private let head = [
        (":method", "POST"), (":scheme", "https"), (":authority", "a"), (":path", "/3/device/0f"),
    ]

    init() throws {
        server = try ServerSession(settings: ServerSettings())
        server.delegate = recorder
        try server.receive(RawFrame.clientPreface + RawFrame.settings().bytes)
        _ = take()
        try server.receive(.settingsAck)
    }

    private func take() -> [RawFrame] {
        var bytes = server.takeOutput()
        return RawFrame.takeAll(from: &bytes)
    }

    @Test func aNewLimitIsAnnouncedByItself() {
        server.setConcurrentStreamsMax(1)
        server.pump()
        #expect(take() == [.settings([(3, 1)])])
        server.setConcurrentStreamsMax(1)
        server.pump()
        #expect(take() == [])
    }

    @Test func aLimitThatIsChangedBeforeTheFirstSettingsIsTheFirstOne() throws {
        let server = try ServerSession(settings: ServerSettings())
        server.setConcurrentStreamsMax(7)
        server.pump()
        var bytes = server.takeOutput()
        let frames = RawFrame.takeAll(from: &bytes)
        #expect(frames == [.settings([(1, 4_096), (3, 7), (4, 65_535), (5, 16_384), (6, 8_000)])])
    }

    @Test(arguments: [false, true])
    func aLoweredLimitRefusesBeforeAndAfterItsAcknowledgement(isAcknowledged: Bool) throws {
        server.setConcurrentStreamsMax(1)
        server.pump()
        _ = take()
        if isAcknowledged { try server.receive(.settingsAck) }
        try server.receive(
            .headers(1, head), .headers(3, head), .data(3, "x", end: true), .headers(5, head))
        #expect(take() == [.reset(3, 7), .reset(5, 7)])
        #expect(server.openStreamCount == 1 && recorder.requests.isEmpty)
        // The connection goes on.
        recorder.onRequest = { session, request in session.respond(to: request.stream, 200) }
        try server.receive(.data(1, "{}", end: true))
        #expect(take().map(\.kind) == [.headers])
        try server.receive(.headers(7, head, end: true))
        #expect(recorder.requests.map(\.stream.rawValue) == [1, 7])
    }

    /// A client may use a raised limit as soon as it sees it, whenever its acknowledgement leaves.
    @Test func aRaisedLimitHoldsBeforeItsAcknowledgement() throws {
        server.setConcurrentStreamsMax(1)
        server.pump()
        try server.receive(.settingsAck)
        server.setConcurrentStreamsMax(1000)
        for stream: UInt32 in [1, 3, 5] { try server.receive(.headers(stream, head)) }
        #expect(server.openStreamCount == 3)
    }

    @Test func limitsOfAClientThatAcknowledgesNothingAreSummedUp() throws {
        for count in 1...100 { server.setConcurrentStreamsMax(count) }
        server.pump()
        let announced = take().count
        #expect(announced == 16)
        try server.receive(.settingsAck)
        #expect(take() == [.settings([(3, 100)])])
    }

    @Test func refusalsThatNobodyReadsEndTheConnection() throws {
        server.setConcurrentStreamsMax(0)
        var stream: UInt32 = 1
        let error = #expect(throws: HTTP2Error.self) {
            // 13 bytes a refusal: the output of 64 KiB is full long before the limit of refusals.
            while stream < 50_000 {
                try server.receive(.headers(stream, head))
                stream += 2
            }
        }
        #expect(error?.code == .enhanceYourCalm)
    }
}
