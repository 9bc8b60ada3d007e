import HTTP2
import TestSupport
import Testing

/// Both sessions against each other, with the bytes cut everywhere.
@Suite struct PairTests {
    /// Submits `count` requests as fast as the session takes them, until all are answered.
    private func send(_ count: UInt32, over pair: Pair, body: String = "{\"aps\":{}}") throws {
        var next: UInt32 = 0
        while pair.clientRecorder.answers.count < Int(count) {
            while next < count,
                pair.client.submit(
                    next, path: "token\(next)", values: [next % 3 == 0 ? "" : "id-\(next)"],
                    body: body) != nil
            { next += 1 }
            guard try pair.step() || next < count else { break }
        }
        try pair.run()
    }

    private func answerAll(_ pair: Pair) {
        pair.serverRecorder.onRequest = { session, request in
            #expect(request.headerCount("apns-topic") == 1 && request.header("nothing") == nil)
            var headers = ResponseHeaders()
            if let id = request.header("apns-id") { headers.add(ResponseField("apns-id", id)) }
            session.respond(to: request.stream, status: 200, headers: headers)
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [1, 2, 3, 7, 9, 10, 100, 1_000, Int.max])
    func aThousandRequestsSurviveAnyCut(pieceBytes: Int) throws {
        let pair = try Pair()
        pair.pieceBytes = { pieceBytes }
        answerAll(pair)
        try send(1_000, over: pair)
        #expect(pair.clientRecorder.answers.map(\.request).sorted() == Array(0..<1_000))
        #expect(pair.clientRecorder.answers.allSatisfy { $0.status == 200 })
        let requests = pair.serverRecorder.requests
        #expect(requests.map(\.path) == (0..<1_000).map { "/3/device/token\($0)" })
        #expect(requests.allSatisfy { $0.body == "{\"aps\":{}}" && $0.method == "POST" })
        #expect(requests[3].fields.count == 6 && requests[4].fields.last == "apns-id: id-4")
        #expect(pair.client.openStreamCount == 0 && pair.server.openStreamCount == 0)
        #expect(pair.serverRecorder.closed.count == 1_000)
    }

    @Test(.timeLimit(.minutes(5))) func aThousandRequestsSurviveRandomCuts() throws {
        let pair = try Pair()
        var random = SeededGenerator()
        pair.pieceBytes = { Int.random(in: 1...400, using: &random) }
        answerAll(pair)
        try send(1_000, over: pair)
        #expect(pair.clientRecorder.answers.filter { $0.status == 200 }.count == 1_000)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [0, 1, 100, 65_535])
    func smallWindowsOnlySlowThingsDown(initialWindowBytes: Int) throws {
        var settings = ServerSettings()
        settings.initialWindowBytes = initialWindowBytes
        settings.streamWindowBytes = 8_192
        settings.concurrentStreamsMax = 3
        let pair = try Pair(settings: settings)
        answerAll(pair)
        let body = String(repeating: "b", count: 4_096)
        try send(200, over: pair, body: body)
        #expect(pair.clientRecorder.answers.count == 200)
        #expect(pair.serverRecorder.requests.allSatisfy { $0.body == body })
    }

    @Test func errorBodiesArriveWhole() throws {
        let pair = try Pair()
        pair.serverRecorder.onRequest = { session, request in
            session.respond(to: request.stream, 400, body: "{\"reason\":\"BadDeviceToken\"}")
        }
        try send(10, over: pair)
        #expect(pair.clientRecorder.answers.map(\.body).allSatisfy { $0.hasSuffix("Token\"}") })
    }

    @Test(.timeLimit(.minutes(5))) func aLargeAnswerWaitsForTheClientsWindow() throws {
        let pair = try Pair()
        let body = String(repeating: "s", count: 300_000)
        pair.serverRecorder.onRequest = { session, request in
            session.respond(to: request.stream, 500, body: body)
        }
        try send(3, over: pair)
        #expect(pair.clientRecorder.answers.map(\.body.utf8.count) == [4_096, 4_096, 4_096])
    }

    @Test func answersMayComeLater() throws {
        let pair = try Pair()
        for request: UInt32 in 0..<3 { pair.client.submit(request) }
        try pair.run()
        #expect(pair.clientRecorder.answers.isEmpty)
        for request in pair.serverRecorder.requests.reversed() {
            #expect(pair.server.respond(to: request.stream, 200))
            #expect(!pair.server.respond(to: request.stream, 400))
        }
        try pair.run()
        #expect(pair.clientRecorder.answers.map(\.request) == [2, 1, 0])
    }

    @Test func aServerThatLowersItsLimitIsObeyed() throws {
        let pair = try Pair()
        var settings = ServerSettings()
        settings.concurrentStreamsMax = 1
        pair.server.updateSettings(settings)
        try pair.run()
        #expect(pair.client.peerStreamsMax == 1 && pair.client.submit(1) != nil)
        #expect(pair.client.submit(2) == nil)
        settings.concurrentStreamsMax = 500
        pair.server.updateSettings(settings)
        try pair.run()
        #expect(pair.client.submit(2) != nil)
    }

    /// Requests that cross the SETTINGS that lower the limit are refused, not lost.
    @Test func requestsThatCrossALoweredLimitComeBack() throws {
        let pair = try Pair()
        answerAll(pair)
        for request: UInt32 in 0..<5 { pair.client.submit(request) }
        var settings = ServerSettings()
        settings.concurrentStreamsMax = 2
        pair.server.updateSettings(settings)
        pair.serverRecorder.onRequest = nil
        try pair.run()
        let refused = pair.clientRecorder.answers
        #expect(refused.count == 3 && refused.allSatisfy { $0.kind == .unprocessed })
        #expect(pair.serverRecorder.requests.count == 2)
    }

    @Test(arguments: [0, 64, 128, 65_536]) func anyHeaderTableSizeWorks(tableBytes: Int) throws {
        var settings = ServerSettings()
        let pair = try Pair()
        answerAll(pair)
        try send(5, over: pair)
        settings.headerTableBytes = tableBytes
        pair.server.updateSettings(settings)
        try pair.run()
        pair.clientRecorder.answers = []
        try send(20, over: pair)
        #expect(pair.clientRecorder.answers.filter { $0.status == 200 }.count == 20)
    }

    @Test func theServersGoAwayDrainsBothSides() throws {
        let pair = try Pair()
        for request: UInt32 in 0..<3 { pair.client.submit(request) }
        try pair.run()
        let second = pair.serverRecorder.requests[1].stream
        pair.server.goAway(lastStream: .max)
        try pair.run()
        #expect(pair.client.isDraining && pair.clientRecorder.answers.isEmpty)
        pair.server.goAway(lastStream: second, debugData: Array("bye".utf8))
        for request in pair.serverRecorder.requests {
            pair.server.respond(to: request.stream, 200)
        }
        try pair.run()
        let answers = pair.clientRecorder.answers.sorted { $0.request < $1.request }
        #expect(answers.map(\.kind) == [.response, .response, .unprocessed])
        #expect(pair.clientRecorder.goAways.last?.debugData == Array("bye".utf8))
        #expect(pair.client.isFinished && pair.server.isFinished)
    }

    @Test func aFullOutputMeansNotNow() throws {
        let pair = try Pair()
        var taken: UInt32 = 0
        while pair.client.submit(taken, body: String(repeating: "f", count: 1_000)) != nil {
            taken += 1
        }
        #expect(taken > 20 && pair.client.output.count <= 65_536)
        answerAll(pair)
        try pair.run()
        #expect(pair.clientRecorder.answers.count == Int(taken))
        #expect(pair.client.canSubmit(bodyBytes: 1_000))
    }
}
