import EventLoop
import Glibc
import HTTP2
import TestSupport
import Testing

@testable import MockAPNS

/// Faults that strike at requests, seen from outside over a real connection.
@Suite(.timeLimit(.minutes(5)))
struct RequestFaultTests {
    private let folder = TemporaryDirectory()

    @Test(
        "any status and reason",
        arguments: [
            ("status=503 reason=Shutdown", 503, #"{"reason":"Shutdown"}"#),
            ("reason=IdleTimeout", 400, #"{"reason":"IdleTimeout"}"#),
            ("status=500", 500, #"{"reason":"InternalServerError"}"#),
            ("status=503", 503, #"{"reason":"ServiceUnavailable"}"#),
            ("status=418", 418, ""),
            ("status=599 reason=Strange", 599, #"{"reason":"Strange"}"#),
            (
                "status=410 timestamp=1700000000123", 410,
                #"{"reason":"Unregistered","timestamp":1700000000123}"#
            ),
        ] as [(String, UInt16, String)])
    func status(spec: String, status: UInt16, body: String) throws {
        let server = try startMock([spec], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        #expect(try client.statuses(1) == [status])
        try client.run { client.answers[0]?.body.count == body.utf8.count }
        #expect(client.answers[0]?.body == body)
        #expect(server.count(.status) == 1 && server.count(.accepted) == 0)
        #expect(server.count(.requests) == 1)
    }

    @Test("a 410 without a timestamp has the time of now in milliseconds")
    func timestamp() throws {
        let server = try startMock(["reason=Unregistered"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        let before = wallClockSeconds()
        #expect(try client.statuses(1) == [410])
        let body = try #require(client.answers[0]?.body)
        let match = try #require(body.firstMatch(of: /"timestamp":([0-9]+)/))
        let time = try #require(Int64(match.1))
        #expect((before * 1_000...(wallClockSeconds() + 1) * 1_000).contains(time))
    }

    private func pattern(_ specs: [String], count: Int, seed: UInt64 = 1) throws -> [UInt16] {
        let server = try startMock(specs, in: folder, seed: seed)
        defer { server.stop() }
        return try MockClient(server).statuses(count)
    }

    @Test("every n-th, at most so often")
    func everyAndTimes() throws {
        #expect(
            try pattern(["status=500 every=3 times=2"], count: 12)
                == [200, 200, 500, 200, 200, 500, 200, 200, 200, 200, 200, 200])
    }

    @Test("by the token's first digits, in either case")
    func prefix() throws {
        let server = try startMock(["status=500 token=aB"], in: folder)
        defer { server.stop() }
        let tokens = ["ab", "AB", "ba", "Ab", "a0"].map { $0 + SampleRequest.token.dropFirst(2) }
        #expect(try MockClient(server).statuses(tokens) == [500, 500, 200, 500, 200])
    }

    @Test("only inside the window of time")
    func window() throws {
        #expect(try pattern(["status=500 from=1h"], count: 2) == [200, 200])
        #expect(try pattern(["status=500 to=1h"], count: 2) == [500, 500])
    }

    @Test("by probability: the same seed strikes at the same requests, another at others")
    func probability() throws {
        let first = try pattern(["status=500 p=0.3"], count: 200, seed: 5)
        #expect(try pattern(["status=500 p=0.3"], count: 200, seed: 5) == first)
        #expect(try pattern(["status=500 p=0.3"], count: 200, seed: 6) != first)
        // Another fault does not move the first one's strikes.
        let beside = try pattern(["status=500 p=0.3", "latency=0ms p=0.5"], count: 200, seed: 5)
        #expect(beside == first)
        // Four standard deviations around 60 of 200.
        #expect((34...86).contains(first.filter { $0 == 500 }.count))
    }

    /// So the second rule has seen one request less than the first when the third request comes.
    @Test("the first fault that decides a request is the only one that is asked")
    func order() throws {
        #expect(
            try pattern(["status=500 every=2", "status=503 every=2", "status=418"], count: 4)
                == [418, 500, 503, 500])
    }

    @Test(
        "an answer waits as long as it should",
        arguments: [("latency=40ms", 40), ("latency=30ms..60ms", 30)])
    func latency(spec: String, atLeastMs: UInt64) throws {
        let server = try startMock([spec], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        let start = monotonicNowNs()
        try client.submit(Array(repeating: SampleRequest.token, count: 20))
        try client.run { client.answers.count == 20 }
        // All wait at the same time, so 20 of them take no longer than the slowest.
        let tookMs = (monotonicNowNs() - start) / 1_000_000
        #expect((atLeastMs...10_000).contains(tookMs))
        #expect(client.answers.values.allSatisfy { $0.status == 200 })
        #expect(server.count(.accepted) == 20 && server.count(.latency) == 20)
        #expect(server.shared.latencies[0].maxNs >= atLeastMs * 1_000_000)
    }

    @Test("a delayed answer to a client that has gone harms nobody")
    func delayedToNobody() throws {
        let server = try startMock(["latency=20ms"], in: folder)
        defer { server.stop() }
        do {
            let client = try MockClient(server)
            try client.submit(Array(repeating: SampleRequest.token, count: 50))
            try client.run { true }
        }
        #expect(try MockClient(server).statuses(1) == [200])
    }

    @Test("more delayed answers than there is room for are given at once")
    func fullQueue() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let queue = try DelayQueue(loop: loop)
        var due = 0
        for number in 0..<DelayQueue.countMax {
            #expect(queue.add(atNs: loop.nowNs + UInt64(number % 7) * 1_000) { due += 1 })
        }
        #expect(!queue.add(atNs: 0) { Issue.record("a refused entry was called") })
        loop.run()
        #expect(due == DelayQueue.countMax && queue.count == 0)
    }

    @Test("what waits is done in the order of its time, equal times in the order of adding")
    func queueOrder() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let queue = try DelayQueue(loop: loop)
        var random = SeededGenerator()
        let start = loop.nowNs
        let times = (0..<500).map { _ in UInt64.random(in: 0..<20, using: &random) }
        var order: [Int] = []
        for (number, time) in times.enumerated() {
            #expect(queue.add(atNs: start + time * 100_000) { order.append(number) })
        }
        loop.run()
        #expect(order == times.indices.sorted { (times[$0], $0) < (times[$1], $1) })
    }

    @Test(
        "a stream is reset with any code",
        arguments: [
            ("REFUSED_STREAM", 7, .unprocessed), ("cancel", 8, .unknown),
            ("ENHANCE_YOUR_CALM", 11, .unknown), ("4242", 4_242, .unknown),
        ] as [(String, UInt32, AnswerKind)])
    func reset(name: String, code: UInt32, kind: AnswerKind) throws {
        let server = try startMock(["reset=\(name) every=2"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        #expect(try client.statuses(3) == [200, 0, 200])
        #expect(client.answers[1]?.kind == kind)
        #expect(client.answers[1]?.code.rawValue == code)
        #expect(server.count(.accepted) == 2 && server.count(.reset) == 1)
    }

    @Test("a stream is never answered, and the others are")
    func silence() throws {
        let server = try startMock(["silence every=2"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        try client.submit(Array(repeating: SampleRequest.token, count: 3))
        client.session.ping()
        try client.run { client.pongs == 1 && client.answers.count == 2 }
        #expect(client.answers[1] == nil && client.session.openStreamCount == 1)
        #expect(server.count(.accepted) == 2)
    }

    @Test("429 for a device token above its rate, and for no other")
    func tokenRate() throws {
        let server = try startMock(["token-rate=0.01"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        let other = "00" + SampleRequest.token.dropFirst(2)
        #expect(
            try client.statuses([SampleRequest.token, SampleRequest.token, other, other])
                == [200, 429, 200, 429])
        #expect(client.answers[1]?.body == #"{"reason":"TooManyRequests"}"#)
    }
}
