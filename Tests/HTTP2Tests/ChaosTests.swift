import HTTP2
import TestSupport
import Testing

/// Random behaviour from a seed: whatever happens, submitted = ended + open, and nothing ends
/// twice.
@Suite struct ChaosTests {
    private static let seeds = (0..<40).map { testSeed &+ UInt64($0) }

    @Test(.timeLimit(.minutes(5)), arguments: seeds)
    func everyRequestEndsExactlyOnce(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var settings = ServerSettings()
        settings.initialWindowBytes = [0, 10, 65_535].randomElement(using: &random)!
        settings.streamWindowBytes = 20_000
        settings.concurrentStreamsMax = Int.random(in: 1...50, using: &random)
        let pair = try Pair(settings: settings, streamsMax: 40)
        pair.pieceBytes = { Int.random(in: 1...3_000, using: &random) }
        var waiting: [StreamID] = []
        pair.serverRecorder.onRequest = { _, request in waiting.append(request.stream) }
        var submitted: Set<UInt32> = []
        var streams: [StreamID] = []
        // One before all chance, which may begin with a GOAWAY.
        streams.append(try #require(pair.client.submit(0, body: "first")))
        submitted.insert(0)
        for _ in 0..<600 {
            let request = UInt32(submitted.count)
            switch Int.random(in: 0...40, using: &random) {
            case 0...19:
                let body = String(repeating: "b", count: Int.random(in: 0...5_000, using: &random))
                if let stream = pair.client.submit(request, body: body) {
                    submitted.insert(request)
                    streams.append(stream)
                }
            case 20...29:
                guard let stream = waiting.popLast() else { break }
                let status = [200, 200, 400, 410, 429, 503].randomElement(using: &random)!
                pair.server.respond(to: stream, UInt16(status), body: status == 200 ? "" : "{}")
            case 30...32:
                guard let stream = waiting.popLast() else { break }
                let codes: [HTTP2ErrorCode] = [.noError, .refusedStream, .internalError, .cancel]
                pair.server.reset(stream, codes.randomElement(using: &random)!)
            case 33:
                if let stream = streams.randomElement(using: &random) { pair.client.cancel(stream) }
            case 34...36:
                settings.concurrentStreamsMax = Int.random(in: 0...60, using: &random)
                settings.initialWindowBytes = Int.random(in: 0...9_000, using: &random)
                settings.headerTableBytes = Int.random(in: 0...4_096, using: &random)
                pair.server.updateSettings(settings)
            case 37:
                pair.client.ping()
            case 38 where Int.random(in: 0...60, using: &random) == 0:
                pair.server.goAway(lastStream: waiting.randomElement(using: &random))
            default:
                break
            }
            _ = try pair.step()
            let ended = pair.clientRecorder.answers.count
            #expect(submitted.count == ended + pair.client.openRequestCount)
        }
        pair.client.connectionEnded()
        pair.server.connectionEnded()
        #expect(pair.client.openRequestCount == 0 && pair.server.openStreamCount == 0)
        let ended = pair.clientRecorder.answers.map(\.request)
        #expect(submitted.count >= 1)
        #expect(ended.count == submitted.count && Set(ended) == submitted)
    }

    @Test(.timeLimit(.minutes(5)), arguments: seeds)
    func garbageNeverBreaksTheInvariant(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            let server = try RawServer()
            for request: UInt32 in 0..<5 { server.client.submit(request) }
            _ = server.take()
            for _ in 0..<40 {
                do { try server.client.receive(randomBytes(&random)) } catch { break }
                _ = server.take()
            }
            server.client.connectionEnded()
            #expect(server.recorder.answers.map(\.request).sorted() == [0, 1, 2, 3, 4])
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: seeds)
    func garbageNeverBreaksTheServer(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<25 {
            let server = try ServerSession(settings: ServerSettings())
            let recorder = ServerRecorder()
            server.delegate = recorder
            recorder.onRequest = { $0.respond(to: $1.stream, 200) }
            try server.receive(RawFrame.clientPreface + RawFrame.settings().bytes)
            for _ in 0..<40 {
                do { try server.receive(randomBytes(&random)) } catch { break }
                _ = server.takeOutput()
            }
            server.connectionEnded()
            #expect(server.openStreamCount == 0)
            #expect(Set(recorder.closed.map(\.stream)).count == recorder.closed.count)
        }
    }

    /// Frames that are right in form more often than not, on streams that exist or nearly.
    private func randomBytes(_ random: inout SeededGenerator) -> [UInt8] {
        let stream = UInt32.random(in: 0...11, using: &random)
        let payload = (0..<Int.random(in: 0...40, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
        }
        switch Int.random(in: 0...9, using: &random) {
        case 0: return payload
        case 1: return RawFrame.headers(stream, [(":status", "200")]).bytes
        case 2:
            return RawFrame.headers(
                stream, [(":status", "400"), ("retry-after", "3")],
                end: Bool.random(using: &random)
            ).bytes
        case 3: return RawFrame.data(stream, "{}", end: Bool.random(using: &random)).bytes
        case 4: return RawFrame.reset(stream, UInt32.random(in: 0...14, using: &random)).bytes
        case 5: return RawFrame.settings([(UInt16(stream), UInt32(payload.count))]).bytes
        case 6:
            let head = [(":method", "POST"), (":scheme", "https"), (":path", "/")]
            return RawFrame.headers(stream, head, end: Bool.random(using: &random)).bytes
        case 7: return RawFrame.goAway(stream, 0).bytes
        default:
            return RawFrame(
                type: UInt8.random(in: 0...10, using: &random),
                flags: UInt8.random(in: 0...255, using: &random), stream: stream,
                payload: payload
            ).bytes
        }
    }
}
