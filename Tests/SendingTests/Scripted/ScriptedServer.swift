import Crypto
import EventLoop
import Foundation
import HTTP2
import Synchronization
import TestSupport
import Testing
import Transport

/// A server on a loopback port, with TLS and HTTP/2 but no knowledge of APNs: a closure decides
/// what happens to each request. It runs on a thread of its own until it is dropped.
final class ScriptedServer: Sendable {
    /// What came in so far.
    struct Log: Sendable {
        var requests: [ScriptedRequest] = []
        /// How often each token was answered with 200.
        var accepted: [String: Int] = [:]
        var attempts: [String: Int] = [:]
        var connectionCount = 0
    }

    /// What the server's thread and the test share.
    final class Shared: Sendable {
        let log = Mutex(Log())
        let script: Script
        let opening: OpeningScript
        let settings: ServerSettings
        let isReleasing = Atomic(false)
        let isStopping = Atomic(false)
        let announcement = Mutex<ServerSettings?>(nil)
        /// One signal for each request.
        let arrivals = DispatchSemaphore(value: 0)
        let started = DispatchSemaphore(value: 0)
        let ready = Mutex<(port: UInt16, wakeup: Wakeup)?>(nil)

        init(settings: ServerSettings, opening: @escaping OpeningScript, script: @escaping Script) {
            self.settings = settings
            self.opening = opening
            self.script = script
        }
    }

    let endpoint: Endpoint
    private let shared: Shared
    private let wakeup: Wakeup
    private let thread: PlatformThread

    init(
        settings: ServerSettings = ServerSettings(),
        opening: @escaping OpeningScript = { _ in .serve }, script: @escaping Script
    ) throws {
        let shared = Shared(settings: settings, opening: opening, script: script)
        thread = try PlatformThread.start(name: "scripted") {
            do {
                let loop = try ScriptedLoop(shared)
                try loop.run()
            } catch {
                Issue.record(error)
                shared.started.signal()
            }
        }
        shared.started.wait()
        let (port, wakeup) = try #require(shared.ready.withLock { $0 })
        self.shared = shared
        self.wakeup = wakeup
        endpoint = Endpoint(host: "127.0.0.1", port: port)
    }

    deinit {
        shared.isStopping.store(true, ordering: .releasing)
        wakeup.send()
        thread.join()
    }

    var log: Log { shared.log.withLock { $0 } }

    /// Waits until so many more requests have come in.
    func waitForRequests(_ count: Int) {
        for _ in 0..<count {
            #expect(shared.arrivals.wait(timeout: .now() + 30) == .success, "no request came")
        }
    }

    /// Announces settings to the connections that are open.
    func announceToAll(_ settings: ServerSettings) {
        shared.announcement.withLock { $0 = settings }
        wakeup.send()
    }

    /// Answers what is held, now and from now on.
    func releaseHeld() {
        shared.isReleasing.store(true, ordering: .releasing)
        wakeup.send()
    }
}

/// Certificates made once for all tests of this target.
struct ScriptedPKI: Sendable {
    static let shared = try! ScriptedPKI()

    let folder = TemporaryDirectory()
    let caFile: String
    let server: CertificatePair

    init() throws {
        let authority = try CertificateAuthority.make(commonName: "Peal test CA", days: 2)
        server = try CertificateAuthority.issue(from: authority, names: ["127.0.0.1"], days: 2)
        caFile = folder.write(authority.certificatePEM, to: "ca.pem")
    }
}
