import HTTP2
import TestSupport
import Testing

/// One terminal event for every request, whatever the server does: raw frames against the client.
@Suite struct ClientAnswerTests {
    private let server: RawServer

    init() throws {
        server = try RawServer()
        server.client.submit(7)
        _ = server.take()
    }

    private func expect(_ answer: RecordedAnswer, _ place: SourceLocation = #_sourceLocation) {
        server.client.connectionEnded()
        server.client.connectionEnded()
        #expect(server.recorder.answers == [answer], sourceLocation: place)
        #expect(server.client.openRequestCount == 0, sourceLocation: place)
    }

    private let accepted = RecordedAnswer(request: 7, kind: .response, status: 200)

    @Test func a200CountsAtItsHeaders() throws {
        try server.client.receive(.headers(1, [(":status", "200")]))
        #expect(server.recorder.answers == [accepted])
        #expect(server.client.openStreamCount == 1)
        try server.client.receive(.data(1, "ignored", end: true))
        #expect(server.client.openStreamCount == 0)
        expect(accepted)
    }

    @Test(arguments: [UInt32(0), 2, 7, 8]) func aResetAfterA200ChangesNothing(code: UInt32) throws {
        try server.client.receive(.headers(1, [(":status", "200")]), .reset(1, code))
        expect(accepted)
    }

    @Test func aCutAfterA200ChangesNothing() throws {
        try server.client.receive(.headers(1, [(":status", "200")]))
        expect(accepted)
    }

    /// nginx: the answer comes before the body is read, then RST_STREAM(NO_ERROR), for every
    /// request.
    @Test func aNoErrorResetAfterAnAnswerIsFine() throws {
        try server.client.receive(.headers(1, [(":status", "200")], end: true), .reset(1, 0))
        expect(accepted)
    }

    @Test func otherStatusesWaitForTheirBody() throws {
        try server.client.receive(
            .headers(1, [(":status", "429"), ("retry-after", "17")]), .data(1, "{\"reason\":"))
        #expect(server.recorder.answers.isEmpty)
        try server.client.receive(.data(1, "\"TooManyRequests\"}", end: true))
        expect(
            RecordedAnswer(
                request: 7, kind: .response, status: 429, body: "{\"reason\":\"TooManyRequests\"}",
                retryAfterSeconds: 17))
    }

    @Test(arguments: ["Wed, 21 Oct 2026 07:28:00 GMT", "", "-1", "9999999999"])
    func aRetryAfterThatIsNoPlainNumberIsNone(value: String) throws {
        try server.client.receive(
            .headers(1, [(":status", "503"), ("retry-after", value)], end: true))
        expect(RecordedAnswer(request: 7, kind: .response, status: 503))
    }

    @Test func aResetDecidesWithTheStatusAndWhatArrived() throws {
        try server.client.receive(
            .headers(1, [(":status", "400")]), .data(1, "{\"rea"), .reset(1, 2))
        expect(
            RecordedAnswer(
                request: 7, kind: .response, status: 400, errorCode: .internalError, body: "{\"rea")
        )
    }

    @Test func aCutDecidesWithTheStatusAndWhatArrived() throws {
        try server.client.receive(.headers(1, [(":status", "410")]), .data(1, "{"))
        expect(RecordedAnswer(request: 7, kind: .response, status: 410, body: "{"))
    }

    @Test func ofALongBodyTheFirst4KiBAreKept() throws {
        let part = String(repeating: "x", count: 3_000)
        try server.client.receive(
            .headers(1, [(":status", "500")]), .data(1, part), .data(1, part, end: true))
        let kept = String(repeating: "x", count: 4_096)
        expect(RecordedAnswer(request: 7, kind: .response, status: 500, body: kept))
    }

    /// B36, B41: safe to send again.
    @Test func aRefusedStreamIsUnprocessed() throws {
        try server.client.receive(.reset(1, 7))
        expect(RecordedAnswer(request: 7, kind: .unprocessed, errorCode: .refusedStream))
    }

    /// B31: every other code leaves it open whether the server acted.
    @Test(arguments: [UInt32(0), 1, 2, 8, 11, 99])
    func anyOtherResetWithoutAStatusIsUnknown(code: UInt32) throws {
        try server.client.receive(.reset(1, code))
        expect(
            RecordedAnswer(request: 7, kind: .unknown, errorCode: HTTP2ErrorCode(rawValue: code)))
    }

    @Test func informationalAnswersAreSkipped() throws {
        try server.client.receive(
            .headers(1, [(":status", "100")]), .headers(1, [(":status", "103"), ("link", "x")]))
        #expect(server.recorder.answers.isEmpty)
        try server.client.receive(.headers(1, [(":status", "200")], end: true))
        expect(accepted)
    }

    @Test func anInformationalAnswerAloneIsNoStatus() throws {
        try server.client.receive(.headers(1, [(":status", "100")]))
        expect(RecordedAnswer(request: 7, kind: .unknown))
    }

    @Test func trailersEndAnAnswer() throws {
        try server.client.receive(
            .headers(1, [(":status", "400")]), .data(1, "{}"),
            .headers(1, [("checksum", "1")], end: true))
        expect(RecordedAnswer(request: 7, kind: .response, status: 400, body: "{}"))
    }

    @Test func headersMayComeInContinuations() throws {
        let block = literalBlock([(":status", "400"), ("apns-id", "1234"), ("retry-after", "5")])
        try server.client.receive(
            RawFrame(.headers, flags: RawFrame.endStream, stream: 1, Array(block[..<3])),
            RawFrame(.continuation, stream: 1, Array(block[3..<20])),
            RawFrame(.continuation, flags: RawFrame.endHeaders, stream: 1, Array(block[20...])))
        expect(
            RecordedAnswer(request: 7, kind: .response, status: 400, retryAfterSeconds: 5))
    }

    @Test func paddingIsTakenOffAndCredited() throws {
        let block = literalBlock([(":status", "400")])
        try server.client.receive(
            RawFrame(
                .headers, flags: RawFrame.endHeaders | RawFrame.padded, stream: 1,
                [4] + block + [0, 0, 0, 0]))
        // 200 frames of 2 bytes and 254 of padding: 51,200 bytes of window, over half of it.
        for _ in 0..<200 {
            let padding = [UInt8](repeating: 0, count: 253)
            try server.client.receive(
                RawFrame(.data, flags: RawFrame.padded, stream: 1, [253, 0x41, 0x42] + padding))
        }
        let updates = server.take().filter { $0.kind == .windowUpdate && $0.stream == 0 }
        #expect(updates.reduce(0) { $0 + number($1.payload) } >= 32_768)
        try server.client.receive(.data(1, "", end: true))
        #expect(server.recorder.answers[0].body == String(repeating: "AB", count: 200))
    }

    @Test func anAnswerWithoutAStatusIsUnknown() throws {
        try server.client.receive(.headers(1, [("apns-id", "1")], end: true))
        expect(RecordedAnswer(request: 7, kind: .unknown, errorCode: .protocolError))
    }

    @Test func cancellingEndsAtOnceAsUnknown() throws {
        server.client.cancel(StreamID(rawValue: 1))
        let cancelled = RecordedAnswer(request: 7, kind: .unknown, errorCode: .cancel)
        #expect(server.recorder.answers == [cancelled])
        #expect(server.take() == [.reset(1, 8)])
        try server.client.receive(
            .headers(1, [(":status", "200")]), .data(1, "late", end: true), .reset(1, 0))
        #expect(server.client.openStreamCount == 0)
        server.client.cancel(StreamID(rawValue: 1))
        expect(cancelled)
    }

    @Test func aLateAnswerNeverReachesTheNextRequestInTheSlot() throws {
        server.client.cancel(StreamID(rawValue: 1))
        _ = server.take()
        server.client.submit(8)
        try server.client.receive(.headers(1, [(":status", "410")], end: true))
        #expect(server.recorder.answers.map(\.request) == [7])
        try server.client.receive(.headers(3, [(":status", "200")], end: true))
        #expect(server.recorder.answers.map(\.request) == [7, 8])
    }

    @Test func theHeaderTableSurvivesAnswersToCancelledRequests() throws {
        server.client.cancel(StreamID(rawValue: 1))
        _ = server.take()
        server.client.submit(8)
        // Literal with incremental indexing of ":status: 404" style, new name x-a (RFC 7541,
        // 6.2.1).
        let insert: [UInt8] = [0x40, 3] + Array("x-a".utf8) + [1] + Array("1".utf8)
        try server.client.receive(
            RawFrame(.headers, flags: RawFrame.endHeaders, stream: 1, [0x88] + insert),
            RawFrame(
                .headers, flags: RawFrame.endHeaders | RawFrame.endStream, stream: 3,
                [0x88, 0x80 | 62]))
        #expect(server.recorder.answers.map(\.status) == [0, 200])
    }

    @Test func theDelegateMaySubmitFromInsideAnAnswer() throws {
        let server = try RawServer(settings: [(3, 1)], streamsMax: 1)
        server.recorder.onAnswer = { session, answer in
            if answer.request < 20 { #expect(session.submit(answer.request + 1) != nil) }
        }
        server.client.submit(0)
        for stream in stride(from: UInt32(1), through: 41, by: 2) {
            try server.client.receive(.headers(stream, [(":status", "200")], end: true))
        }
        #expect(server.recorder.answers.map(\.request) == Array(0...20))
    }

    /// nginx and haproxy put something into the table with every answer. What was put there last is
    /// read back with the next one.
    @Test(.timeLimit(.minutes(5))) func aTableThatChangesWithEveryAnswerIsRead() throws {
        var random = SeededGenerator()
        server.client.cancel(StreamID(rawValue: 1))
        var expected: [Int] = []
        for round: UInt32 in 0..<1_000 {
            server.client.submit(2 * round)
            server.client.submit(2 * round + 1)
            _ = server.take()
            let fillerBytes = [0, 20, 300, 3_000, 9_000].randomElement(using: &random)!
            let seconds = Int.random(in: 0...99_999, using: &random)
            expected.append(seconds)
            // Literals with incremental indexing (RFC 7541, section 6.2.1), :status by its index 8.
            var block: [UInt8] = [0x48, 3] + Array("429".utf8)
            for (name, value) in [
                ("x-filler", String(repeating: "f", count: fillerBytes)),
                ("retry-after", String(seconds)),
            ] {
                block += [0x40] + integer(name.utf8.count, prefixBits: 7) + Array(name.utf8)
                block += integer(value.utf8.count, prefixBits: 7) + Array(value.utf8)
            }
            // 418 is in neither table, 62 is the entry that was inserted last.
            let second: [UInt8] = [0x08, 3] + Array("418".utf8) + [0x80 | 62]
            let flags = RawFrame.endHeaders | RawFrame.endStream
            try server.client.receive(
                RawFrame(.headers, flags: flags, stream: 4 * round + 3, block),
                RawFrame(.headers, flags: flags, stream: 4 * round + 5, second))
        }
        let answers = server.recorder.answers.dropFirst()
        #expect(answers.filter { $0.status == 429 }.map(\.retryAfterSeconds) == expected)
        #expect(answers.filter { $0.status == 418 }.map(\.retryAfterSeconds) == expected)
    }

    @Test func theDelegateMayEndTheSessionFromInsideAnAnswer() throws {
        server.client.submit(8)
        server.client.submit(9)
        server.recorder.onAnswer = { session, answer in
            if answer.request == 7 { session.connectionEnded() }
        }
        try server.client.receive(
            .headers(1, [(":status", "200")], end: true),
            .headers(3, [(":status", "200")], end: true))
        #expect(server.recorder.answers.map(\.request) == [7, 8, 9])
        #expect(server.recorder.answers.map(\.status) == [200, 200, 0])
    }
}
