import HTTP2
import TestSupport
import Testing

/// The client against nghttp2's server session, which shares none of its framing: with chopped
/// bytes, changing limits and frames of every kind, each request ends once, and what the server
/// decoded is what was submitted.
@Suite(.timeLimit(.minutes(5))) struct PumpTests {
    private static let seeds = (0..<60).map { testSeed &+ UInt64($0) }

    @Test(arguments: seeds) func everyRequestIsDecodedAsItWasSubmittedAndEndsOnce(
        seed: UInt64
    ) throws {
        let pump = try Pump(seed: seed)
        for turn in 0..<500 { try pump.act(mayEnd: turn > 300) }
        try pump.settle()
        pump.check()
    }
}

/// One connection in memory, and what was done to it.
private final class Pump {
    private struct Submitted: Equatable {
        var fields: [String]
        var bodyBytes: Int
        /// As much of it as a server session keeps.
        var body: String
    }

    private let client: ClientSession
    private let server: ServerSession
    private let answers = ClientRecorder()
    private let requests = ServerRecorder()
    private var random: SeededGenerator
    private var mangler = FrameMangler()
    /// Rewritten bytes that the client has not received.
    private var toClient: [UInt8] = []
    private var toServer: [UInt8] = []
    private var settings = ServerSettings()
    private var submitted: [Int32: Submitted] = [:]
    private var requestOf: [Int32: UInt32] = [:]
    private var authorization = "bearer abc"
    /// Requests that the server has, and will answer.
    private var waiting: [StreamID] = []

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        settings.initialWindowBytes = [0, 10, 65_535].randomElement(using: &random)!
        settings.streamWindowBytes = 20_000
        settings.concurrentStreamsMax = Int.random(in: 1...50, using: &random)
        settings.headerTableBytes = [0, 60, 4_096].randomElement(using: &random)!
        client = try ClientSession(template: plainTemplate, streamsMax: 40)
        server = try ServerSession(settings: settings)
        client.delegate = answers
        server.delegate = requests
        requests.onRequest = { [unowned self] _, request in waiting.append(request.stream) }
    }

    /// One thing that may happen, and a piece of bytes each way.
    func act(mayEnd: Bool) throws {
        switch Int.random(in: 0...40, using: &random) {
        case 0...19: submit()
        case 20...30: answer()
        case 31:
            guard let stream = waiting.popLast() else { break }
            server.reset(
                stream, HTTP2ErrorCode(rawValue: UInt32.random(in: 0...13, using: &random)))
        case 32:
            // Sorted, or the order would change from run to run.
            if let stream = submitted.keys.sorted().randomElement(using: &random) {
                client.cancel(StreamID(rawValue: stream))
            }
        case 33...35: changeSettings()
        case 36: client.ping()
        case 37:
            authorization = "bearer \(Int.random(in: 0...1_000_000, using: &random))"
            client.replaceAuthorization(authorization)
        case 38: answerTheHeldUpOne()
        case 39 where mayEnd && Int.random(in: 0...40, using: &random) == 0:
            server.goAway(lastStream: Bool.random(using: &random) ? .max : waiting.last)
        default: break
        }
        try move(pieceBytesMax: 3_000)
    }

    private func submit() {
        let number = UInt32(requestOf.count)
        let path = "token\(number)" + String(repeating: "f", count: Int(number % 150))
        let id = number % 3 == 0 ? "" : "id-\(number)"
        let bodyBytes = [0, 2, 200, 5_000, 16_384].randomElement(using: &random)!
        let body = String(repeating: Character(Unicode.Scalar(97 + number % 26)!), count: bodyBytes)
        guard let stream = client.submit(number, path: path, values: [id], body: body) else {
            return
        }
        requestOf[stream.rawValue] = number
        submitted[stream.rawValue] = Submitted(
            fields: [
                ":method: POST", ":scheme: https", ":authority: localhost:2197",
                ":path: /3/device/\(path)", "apns-topic: com.example.app",
                "authorization: \(authorization)",
            ] + (id.isEmpty ? [] : ["apns-id: \(id)"]), bodyBytes: bodyBytes,
            body: String(body.prefix(ServerRequest.bodyBytesKeptMax)))
    }

    private func answer() {
        guard let index = waiting.indices.randomElement(using: &random) else { return }
        let stream = waiting.remove(at: index)
        let status = [200, 200, 200, 400, 410, 429, 503].randomElement(using: &random)!
        // The server knows nothing of the padding that is put in. So it never fills the window by
        // itself: what waits here, one body and what the client has not given back stay below it.
        let isCrowded = toClient.count > 20_000
        let bodyBytes = status == 200 || isCrowded ? 0 : status * 20
        let body = String(repeating: "b", count: bodyBytes)
        var headers = ResponseHeaders()
        headers.add(ResponseField("server", "test"))  // Goes into the table.
        Array("\(stream.rawValue)".utf8).withUnsafeBytes { id in
            headers.add(ResponseField("apns-id", id))
            _ = Array(body.utf8).withUnsafeBytes {
                server.respond(
                    to: stream, status: UInt16(status), headers: headers, body: $0)
            }
        }
    }

    /// A whole answer to a request whose body still waits for its window.
    private func answerTheHeldUpOne() {
        guard client.windowBlockedBytes > 0, let stream = requestOf.keys.max() else { return }
        toClient += RawFrame.headers(UInt32(stream), [(":status", "413")], end: true).bytes
    }

    private func changeSettings() {
        settings.concurrentStreamsMax = Int.random(in: 0...60, using: &random)
        settings.initialWindowBytes = [0, 1, 500, 9_000, 70_000].randomElement(using: &random)!
        settings.headerTableBytes = [0, 30, 60, 120, 4_096, 65_536]
            .randomElement(using: &random)!
        server.updateSettings(settings)
        // nghttp2 sends what was submitted so far, so that several may be on their way.
        takeFromServer()
    }

    private func takeFromServer() {
        toClient += mangler.mangle(server.takeOutput(), &random)
    }

    /// Moves a piece of bytes each way; false when there were none.
    @discardableResult
    private func move(pieceBytesMax: Int) throws -> Bool {
        takeFromServer()
        toServer += client.takeOutput()
        let received = piece(of: &toClient, pieceBytesMax)
        let sent = piece(of: &toServer, pieceBytesMax)
        try client.receive(received)
        try server.receive(sent)
        #expect(requestOf.count == answers.answers.count + client.openRequestCount)
        return !received.isEmpty || !sent.isEmpty
    }

    private func piece(of bytes: inout [UInt8], _ bytesMax: Int) -> [UInt8] {
        let count = min(bytes.count, Int.random(in: 0...bytesMax, using: &random))
        defer { bytes.removeFirst(count) }
        return Array(bytes[..<count])
    }

    /// Opens all limits and answers all, until nothing is open.
    func settle() throws {
        settings = ServerSettings()
        server.updateSettings(settings)
        var quietTurns = 0
        while client.openRequestCount > 0, quietTurns < 20 {
            while let stream = waiting.popLast() { server.respond(to: stream, 200) }
            quietTurns = try move(pieceBytesMax: 65_536) ? 0 : quietTurns + 1
        }
        #expect(client.failure == nil && server.failure == nil)
        #expect(client.openRequestCount == 0)
    }

    func check() {
        client.connectionEnded()
        server.connectionEnded()
        let ended = answers.answers.map(\.request)
        #expect(ended.count == requestOf.count)
        #expect(Set(ended) == Set(requestOf.values))
        for request in requests.requests {
            let decoded = Submitted(
                fields: request.fields, bodyBytes: request.bodyBytes, body: request.body)
            #expect(decoded == submitted[request.stream.rawValue])
        }
        #expect(!requests.requests.isEmpty)
    }
}
