import APNS
import Crypto
import EventLoop
import Foundation
import Measure
import MockAPNS
import TestSupport
import Testing
import Transport

@testable import Load

/// A load test in this process against a local APNs in this process.
struct LoadRig {
    private static let key = try! SigningKey.generate()

    private let folder = TemporaryDirectory()
    let server: MockServer
    var options: LoadOptions

    /// - Parameter serverKey: whose provider tokens the server takes; nil: everybody's.
    init(
        _ schedule: LoadSchedule, faults: [String] = [], serverKey: SigningKey? = nil
    ) throws {
        var mock = MockOptions(
            listen: (host: "127.0.0.1", port: 0), stateDirectory: folder.path + "/mock")
        for fault in faults { try mock.faults.add(spec: fault) }
        mock.seed = testSeed
        mock.fast = true
        mock.keys = serverKey.map { [MockKey(keyID: nil, key: $0.verifyingKey)] } ?? []
        server = try MockServer.start(mock)
        options = LoadOptions(
            endpoint: Endpoint(host: "127.0.0.1", port: server.port), schedule: schedule)
        options.caFile = server.caFile
        options.connections = 1
        options.threads = 1
    }

    /// Runs the test to its end, or until so many were accepted, and checks what holds of every
    /// one.
    func run(
        interruptedAfter interruption: UInt64? = nil, withoutServerAfter stop: UInt64? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> LoadSummary {
        let ended = DispatchSemaphore(value: 0)
        let tokens = ProviderTokenSource(
            key: Self.key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        let run = try LoadRun.start(options, tokens: tokens) { ended.signal() }
        if let accepted = interruption ?? stop {
            // Each look waits for the next answers to come in.
            while run.takeProgress().accepted < accepted {
                _ = ended.wait(timeout: .now() + .milliseconds(10))
            }
            if interruption == nil { server.stop() } else { run.interrupt() }
        }
        #expect(ended.wait(timeout: .now() + 50) == .success, sourceLocation: sourceLocation)
        let summary = run.wait()
        server.stop()
        #expect(
            summary.sent == summary.accepted + summary.failed, sourceLocation: sourceLocation)
        #expect(summary.planned == summary.sent + summary.notSent, sourceLocation: sourceLocation)
        #expect(summary.latency.count == summary.accepted, sourceLocation: sourceLocation)
        // Latency is lag and service, request by request, so their sums are exact.
        let parts = summary.lag.mean + summary.service.mean
        #expect(abs(parts - summary.latency.mean) < 1, sourceLocation: sourceLocation)
        return summary
    }

    /// What the server says that it has accepted.
    func acceptedByServer() throws -> Int {
        let object = try JSONSerialization.jsonObject(with: Data(server.statsJSON()))
        return try #require((object as? [String: Any])?["accepted"] as? Int)
    }

    /// The first digits of a request's device token, as the rule of a fault has them.
    func token(_ request: UInt64) -> String {
        var text = [UInt8](repeating: 0, count: SyntheticTokens.characters)
        text.withUnsafeMutableBytes {
            SyntheticTokens(count: options.tokenCount).write(request: request, to: $0)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
