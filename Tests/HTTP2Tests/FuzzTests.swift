import HTTP2
import TestSupport
import Testing

/// A server's part of a real conversation with something broken in it: the client never crashes,
/// never hangs, keeps its memory, and ends every request once.
@Suite(.timeLimit(.minutes(5))) struct FuzzTests {
    private static let seeds = (0..<40).map { testSeed &+ UInt64($0) }
    private static let requests: UInt32 = 12

    @Test(arguments: seeds) func aBrokenConversationLosesNoRequest(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let frames = try conversation(&random)
        for _ in 0..<60 {
            let client = try ClientSession(template: plainTemplate, streamsMax: 40)
            let recorder = ClientRecorder()
            client.delegate = recorder
            try client.receive(.settings())
            var submitted: Set<UInt32> = []
            for request in 0..<Self.requests
            where client.submit(request, body: "{}") != nil { submitted.insert(request) }
            var bytes = mutate(frames, &random)
            while !bytes.isEmpty {
                let count = min(bytes.count, Int.random(in: 1...700, using: &random))
                do { try client.receive(Array(bytes.prefix(count))) } catch { break }
                bytes.removeFirst(count)
                if Bool.random(using: &random) {
                    _ = client.takeOutput()
                    let request = UInt32(submitted.count)
                    if client.submit(request, body: "{}") != nil { submitted.insert(request) }
                }
                #expect(client.output.count <= client.output.capacityBytes)
            }
            client.connectionEnded()
            let ended = recorder.answers.map(\.request)
            #expect(ended.count == submitted.count && Set(ended) == submitted)
            #expect(client.openStreamCount == 0 && client.openRequestCount == 0)
        }
    }

    /// What nghttp2's server answers to the requests, mangled into all kinds of frames.
    private func conversation(_ random: inout SeededGenerator) throws -> [RawFrame] {
        let pair = try Pair()
        for request in 0..<Self.requests { pair.client.submit(request) }
        try pair.server.receive(pair.client.takeOutput())
        for (number, request) in pair.serverRecorder.requests.enumerated() {
            let status = [200, 400, 429][number % 3]
            pair.server.respond(to: request.stream, UInt16(status), body: "{\"reason\":\"x\"}")
        }
        pair.server.goAway(debugData: Array("bye".utf8))
        var mangler = FrameMangler()
        var bytes = mangler.mangle(pair.server.takeOutput(), &random)
        return RawFrame.takeAll(from: &bytes)
    }

    private func mutate(_ frames: [RawFrame], _ random: inout SeededGenerator) -> [UInt8] {
        var frames = frames
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let index = Int.random(in: 0..<frames.count, using: &random)
            switch Int.random(in: 0...6, using: &random) {
            case 0: frames.remove(at: index)
            case 1: frames.insert(frames[index], at: index)
            case 2: frames.swapAt(index, Int.random(in: 0..<frames.count, using: &random))
            case 3: frames[index].flags ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 4: frames[index].type = UInt8.random(in: 0...10, using: &random)
            case 5: frames[index].stream = UInt32.random(in: 0...40, using: &random)
            default:
                frames[index].payload = Array(
                    frames[index].payload.dropLast(Int.random(in: 0...9, using: &random)))
            }
        }
        var bytes = frames.flatMap(\.bytes)
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                1 << UInt8.random(in: 0...7, using: &random)
        }
        return bytes
    }
}
