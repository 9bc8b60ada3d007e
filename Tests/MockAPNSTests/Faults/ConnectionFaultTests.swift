import EventLoop
import Glibc
import HTTP2
import TLS
import TestSupport
import Testing

@testable import MockAPNS

/// Faults that strike at connections, seen from outside over real ones.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionFaultTests {
    private let folder = TemporaryDirectory()

    private func tokens(_ count: Int) -> [String] {
        Array(repeating: SampleRequest.token, count: count)
    }

    @Test("GOAWAY at once: the request at hand is answered, later ones are unprocessed")
    func goAwayNow() throws {
        let server = try startMock(["goaway=now reason=Shutdown every=2 times=1"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        try client.submit(tokens(5))
        try client.runToEnd()
        let data = Array(#"{"reason":"Shutdown"}"#.utf8)
        #expect(
            client.goAways == [GoAway(lastStreamID: 3, errorCode: .noError, debugData: data)])
        #expect((0..<5).map { client.answers[$0]?.status } == [200, 200, 0, 0, 0])
        #expect((2..<5).allSatisfy { client.answers[$0]?.kind == .unprocessed })
        #expect(client.endError == nil)
        // What is called unprocessed was not processed.
        #expect(server.count(.accepted) == 2)
    }

    @Test("GOAWAY with a low last stream: the newest requests are unprocessed, with plain text")
    func goAwayUnprocessed() throws {
        let server = try startMock(
            ["goaway text=tired code=11 unprocessed=3 every=2 times=1"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        try client.submit(tokens(4))
        try client.runToEnd()
        #expect(
            client.goAways == [
                GoAway(
                    lastStreamID: 1, errorCode: .enhanceYourCalm, debugData: Array("tired".utf8))
            ])
        #expect(client.answers[0]?.status == 200)
        #expect((1..<4).allSatisfy { client.answers[$0]?.kind == .unprocessed })
        #expect(server.count(.accepted) == 1)
    }

    @Test("GOAWAY that waits in vain for requests to leave unprocessed comes all the same")
    func goAwayWaits() throws {
        let server = try startMock(["goaway unprocessed=100 wait=10ms"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        try client.submit(tokens(2))
        try client.runToEnd()
        #expect(client.goAways.map(\.lastStreamID) == [0])
        #expect(client.answers.values.allSatisfy { $0.kind == .unprocessed })
    }

    @Test("GOAWAY in two steps: an announcement, then the last stream")
    func goAwayGraceful() throws {
        let server = try startMock(
            ["silence every=4", "goaway=graceful reason=Shutdown wait=20ms times=1"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        // The last one is open when the second GOAWAY comes: without it nghttp2's client would have
        // nothing to read on for.
        try client.submit(tokens(4))
        try client.runToEnd()
        #expect(client.goAways.map(\.lastStreamID) == [Int32.max, 5])
        #expect(client.answers[3]?.kind == .unprocessed)
        #expect(client.goAways.last?.debugData == Array(#"{"reason":"Shutdown"}"#.utf8))
        #expect((0..<3).allSatisfy { client.answers[$0]?.status == 200 })
        #expect(client.endError == nil)
    }

    @Test("a connection's fault strikes at a time, without any request")
    func atATime() throws {
        let server = try startMock(
            ["settings streams=3 from=30ms per=connection", "goaway from=60ms per=connection"],
            in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        try client.run { client.session.peerStreamsMax == 3 }
        try client.runToEnd()
        #expect(client.goAways.map(\.lastStreamID) == [0])
    }

    @Test("a cut reaches the client as a reset")
    func cut() throws {
        let server = try startMock(["cut every=2"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        #expect(try client.statuses(2) == [200, 0])
        let error = try #require(client.endError as? TLSError)
        #expect(error.kind == .socket(ECONNRESET))
        #expect(client.answers[1]?.kind == .unknown)
        #expect(try MockClient(server).statuses(1) == [200])
    }

    @Test("a half-open connection takes bytes until the buffers are full, and answers nothing")
    func halfOpen() throws {
        let server = try startMock(["half-open every=2"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        #expect(try client.statuses(1) == [200])
        try client.submit(tokens(1))
        try client.run { true }
        var short = timeval(tv_sec: 0, tv_usec: 100_000)
        setsockopt(
            client.wire.descriptor, SOL_SOCKET, SO_SNDTIMEO, &short,
            socklen_t(MemoryLayout<timeval>.size))
        // A server that reads takes any number of these; 64 MiB are more than any buffers.
        let ping: [UInt8] = [0, 0, 8, 6, 1, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
        let block = Array(repeating: ping, count: 4_096).flatMap { $0 }
        var blocks = 0
        while try client.wire.send(block), blocks < 1_000 { blocks += 1 }
        #expect(blocks < 1_000)
        #expect(server.count(.halfOpen) == 1 && server.count(.accepted) == 1)
    }

    @Test("accept, then close: before TLS, or behind it")
    func hangUp() throws {
        let server = try startMock(["hang-up=tcp every=2", "hang-up=tls every=3"], in: folder)
        defer { server.stop() }
        #expect(try MockClient(server).statuses(1) == [200])
        #expect(throws: (any Error).self) { try TLSWire(server) }
        // The second rule has not counted the socket that the first one closed.
        let wires = try (0..<1).map { _ in try TLSWire(server) }
        wires[0].receiveToEnd()
        #expect(server.count(.hangUp) == 2)
    }

    @Test("SETTINGS change at any request, and are announced once")
    func settings() throws {
        let server = try startMock(
            ["settings streams=7 window=1000 table=0 every=2"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        #expect(client.session.peerStreamsMax == 1_000)
        #expect(try client.statuses(6) == [200, 200, 200, 200, 200, 200])
        client.session.ping()
        try client.run { client.pongs == 1 }
        #expect(client.session.peerStreamsMax == 7)
        #expect(server.count(.settings) == 3)

        let wire = try TLSWire(server)
        try wire.send(Frames.preface + Frames.push(stream: 1) + Frames.push(stream: 3))
        var bytes: [UInt8] = []
        while Frames.settings(in: bytes).count < 2, let more = try wire.receive() { bytes += more }
        // RFC 9113 section 6.5.2: 1 table size, 3 streams, 4 window.
        let announced = try #require(Frames.settings(in: bytes).last)
        #expect(announced[1] == 0 && announced[3] == 7 && announced[4] == 1_000)
    }

    @Test("without WINDOW_UPDATE a client comes to the end of its window")
    func noWindowUpdate() throws {
        let server = try startMock(["no-window-update per=connection"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        let body = #"{"aps":{},"x":""# + String(repeating: "x", count: 4_000) + "\"}"
        while client.session.canSubmit(bodyBytes: body.utf8.count) {
            try client.submit(tokens(1), body: body)
            try client.run { client.session.openStreamCount == 0 }
        }
        client.session.ping()
        try client.run { client.pongs == 1 }
        // 65,535 bytes hold 16 bodies of 4,017.
        #expect(client.answers.count == 16)
        #expect(client.session.connectionWindow == 65_535 - 16 * body.utf8.count)
    }

    @Test("a stuck connection answers 500 to its end, and its neighbours do not")
    func stuck() throws {
        let server = try startMock(["stuck=500 every=2 per=connection"], in: folder)
        defer { server.stop() }
        let clients = try (0..<2).map { _ in try MockClient(server) }
        #expect(try clients[0].statuses(3) == [200, 200, 200])
        #expect(try clients[1].statuses(3) == [500, 500, 500])
        #expect(clients[1].answers[0]?.body == #"{"reason":"InternalServerError"}"#)
    }

    @Test("a slow handshake is slow, and longer than others may take")
    func slowHandshake() throws {
        let server = try startMock(["slow-handshake=80ms"], in: folder) {
            $0.limits.handshakeMsMax = 60
        }
        defer { server.stop() }
        let start = monotonicNowNs()
        let client = try MockClient(server)
        #expect(monotonicNowNs() - start >= 80_000_000)
        #expect(try client.statuses(1) == [200])
    }

    @Test("stop does not wait for a handshake that is put off")
    func stopBeforeHandshake() throws {
        let server = try startMock(["slow-handshake=1h"], in: folder)
        let descriptor = try TLSWire.connect(port: server.port)
        defer { close(descriptor) }
        server.stop()
        var byte: UInt8 = 0
        #expect(recv(descriptor, &byte, 1, 0) <= 0)
    }

    @Test("a distance delays answers and acknowledgements, and keeps their order")
    func roundTrip() throws {
        let server = try startMock(["round-trip=50ms"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        for _ in 0..<2 {
            let start = monotonicNowNs()
            let pongs = client.pongs
            client.session.ping()
            try client.run { client.pongs > pongs }
            #expect(monotonicNowNs() - start >= 50_000_000)
        }
        let start = monotonicNowNs()
        try client.submit(tokens(100))
        try client.run { client.answers.count == 100 }
        #expect(monotonicNowNs() - start >= 50_000_000)
        #expect(server.count(.accepted) == 100 && server.count(.roundTrip) == 1)
    }

    @Test("more new connections than the rate allows are reset")
    func connectionRate() throws {
        let server = try startMock(["connection-rate=0.01"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        #expect(throws: (any Error).self) { try TLSWire(server) }
        #expect(throws: (any Error).self) { try TLSWire(server) }
        #expect(try client.statuses(1) == [200])
        #expect(server.count(.connectionRate) == 2)
    }
}
