import APNS
import Crypto
import Glibc
import HTTP2
import TestSupport
import Testing

@testable import MockAPNS

/// A sender in small: a client session over one blocking connection.
final class MockClient: ClientSessionDelegate {
    struct Answered: Equatable {
        var kind: AnswerKind
        var status: UInt16
        var code: HTTP2ErrorCode
        var body: String
    }

    let wire: TLSWire
    let session: ClientSession
    private(set) var answers: [UInt32: Answered] = [:]
    private(set) var goAways: [GoAway] = []
    private(set) var pongs = 0
    /// Why the connection ended; nil for a polite end.
    private(set) var endError: (any Error)?
    private(set) var hasEnded = false
    private var submitted: UInt32 = 0

    init(_ server: MockServer) throws {
        wire = try TLSWire(server)
        let token = try ProviderToken.make(
            key: try SigningKey.generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ",
            issuedAt: wallClockSeconds())
        let template = RequestTemplate(
            authority: "127.0.0.1", pathPrefix: "/3/device/",
            headers: [("apns-topic", "com.example.app"), ("apns-push-type", "alert")],
            authorization: "bearer \(token.text)")
        session = try ClientSession(template: template, streamsMax: 1_000)
        session.delegate = self
        try run { session.isReady }
    }

    /// Submits a request for each token without waiting for answers; all must fit at once.
    func submit(_ tokens: [String], body: String = #"{"aps":{}}"#) throws {
        let body = Array(body.utf8)
        for token in tokens {
            let stream = Array(token.utf8).withUnsafeBytes { path in
                body.withUnsafeBytes {
                    session.submit(
                        request: submitted, path: path,
                        values: UnsafeBufferPointer(start: nil, count: 0), body: $0)
                }
            }
            try #require(stream != nil, "the session takes no request \(submitted)")
            submitted += 1
        }
    }

    /// Sends requests one after the other, and returns their statuses; 0 for no answer.
    func statuses(_ tokens: [String]) throws -> [UInt16] {
        try tokens.map { token in
            let number = submitted
            try submit([token])
            try run { answers[number] != nil }
            return answers[number]?.status ?? 0
        }
    }

    func statuses(_ count: Int) throws -> [UInt16] {
        try statuses([String](repeating: SampleRequest.token, count: count))
    }

    /// Moves bytes until `isDone`, or the end of the connection.
    func run(until isDone: () -> Bool) throws {
        while true {
            session.pump()
            try flush()
            if isDone() || hasEnded { return }
            do {
                guard let bytes = try wire.receive() else { return end(nil) }
                try bytes.withUnsafeBytes { try session.receive($0) }
            } catch let failure as TLSWire.Failure {
                throw failure
            } catch {
                return end(error)
            }
        }
    }

    func runToEnd() throws { try run { false } }

    private func flush() throws {
        while session.output.count > 0, !hasEnded {
            let bytes = Array(session.output.readable)
            guard (try? wire.send(bytes)) == true else { return }  // Reading tells the cause.
            session.output.consume(bytes.count)
            session.pump()
        }
    }

    private func end(_ error: (any Error)?) {
        endError = error
        hasEnded = true
        session.connectionEnded()
    }

    func session(_: ClientSession, request: UInt32, endedWith answer: borrowing Answer) {
        #expect(answers[request] == nil)
        answers[request] = Answered(
            kind: answer.kind, status: answer.status, code: answer.errorCode,
            body: String(decoding: answer.body, as: UTF8.self))
    }

    func sessionSettingsChanged(_: ClientSession) {}

    func session(_: ClientSession, didReceiveGoAway goAway: GoAway) { goAways.append(goAway) }

    func sessionDidReceivePong(_: ClientSession) { pongs += 1 }
}

/// A local APNs with faults, for one test.
func startMock(
    _ specs: [String], in folder: TemporaryDirectory, seed: UInt64 = 1,
    change: (inout MockOptions) -> Void = { _ in }
) throws -> MockServer {
    var options = MockOptions(listen: ("127.0.0.1", 0), stateDirectory: folder.path + "/mock")
    for spec in specs { try options.faults.add(spec: spec) }
    options.seed = seed
    options.streamLimitMoves = false
    change(&options)
    return try MockServer.start(options)
}

extension MockServer {
    func count(_ kind: FaultKind) -> UInt64 {
        shared.counters.reduce(0) { $0 + $1.value(of: kind) }
    }

    func count(_ counter: MockCounters.Counter) -> UInt64 {
        shared.counters.reduce(0) { $0 + $1.value(of: counter) }
    }
}
