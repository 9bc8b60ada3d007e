import EventLoop
import Foundation
import Glibc
import HTTP2
import TLS
import TestSupport
import Testing
import Transport

@Suite(.timeLimit(.minutes(5)))
struct ConnectFailureTests {
    /// Connects and returns the cause of the close, which must come once and not inside `connect`.
    private func failure(
        to endpoint: Endpoint, rig: TransportRig, afterConnect: (Connection) -> Void = { _ in }
    ) throws -> ConnectionFailure? {
        let (session, recorder) = (ByteSession(), Recorder())
        recorder.onClose = { _ in rig.loop.stop() }
        let connection = try rig.connect(to: endpoint, session: session, recorder: recorder)
        #expect(recorder.closeCauses.isEmpty)
        afterConnect(connection)
        if connection.phase != .closed { try rig.run() }
        #expect(connection.phase == .closed)
        #expect(recorder.closeCauses.count == 1)
        #expect(recorder.openCount == 0)
        #expect(session.endedCount == 1)
        return recorder.closeCauses.first ?? nil
    }

    @Test func aRefusedConnectionNamesAddressAndRemedy() throws {
        let endpoint = try BareListener().endpoint  // Its listener is gone after this line.
        let cause = try failure(to: endpoint, rig: TransportRig())
        #expect(
            cause?.description.hasPrefix(
                "cannot connect to 127.0.0.1:\(endpoint.port): Connection refused; check") == true)
    }

    @Test func anUnknownHostIsAResolveFailure() throws {
        let host = String(repeating: "x", count: 64) + ".invalid"
        let cause = try failure(to: Endpoint(host: host, port: 443), rig: TransportRig())
        guard case .resolve(let error)? = cause else {
            Issue.record("\(String(describing: cause))")
            return
        }
        #expect(error.host == host)
    }

    @Test func garbageInsteadOfTLSIsNamed() throws {
        let rig = try TransportRig()
        let listener = try BareListener()
        defer { withExtendedLifetime(listener) {} }
        let cause = try failure(to: listener.endpoint, rig: rig) { _ in
            answer(listener, with: "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
        }
        #expect(cause?.description.contains("does not speak TLS on this port") == true)
    }

    @Test func aPeerThatClosesAtOnceIsNamed() throws {
        let rig = try TransportRig()
        let listener = try BareListener()
        defer { withExtendedLifetime(listener) {} }
        let cause = try failure(to: listener.endpoint, rig: rig) { _ in
            answer(listener, with: nil)
        }
        guard case .tls(let error)? = cause else {
            Issue.record("\(String(describing: cause))")
            return
        }
        #expect(error.text.contains("the TLS handshake"))
    }

    @Test func anUntrustedServerIsAVerificationFailure() throws {
        let rig = try TransportRig()
        let endpoint = try rig.listen()
        let recorder = Recorder()
        recorder.onClose = { _ in rig.loop.stop() }
        let connection = try Connection.connect(
            to: endpoint, tls: .client(caFile: nil), session: ByteSession(),
            flusher: rig.flusher, loop: rig.loop, delegate: recorder)
        try rig.run()
        #expect(connection.phase == .closed)
        guard case .tls(let error)?? = recorder.closeCauses.first else {
            Issue.record("\(recorder.closeCauses)")
            return
        }
        #expect(error.isVerification)
    }

    /// Lesson B13: a deadline in each phase is the owner's, and is reported by its phase.
    @Test func aDeadlineWhileTheServerIsSilentIsReportedByItsPhase() throws {
        let rig = try TransportRig()
        let listener = try BareListener()  // Connects by its backlog, never answers.
        defer { withExtendedLifetime(listener) {} }
        var connection: Connection?
        let deadline = try rig.loop.makeTimer {
            if let connection { connection.close(.timedOut(connection.phase)) }
        }
        defer { deadline.close() }
        deadline.start(afterMs: 50)
        let cause = try failure(to: listener.endpoint, rig: rig) { connection = $0 }
        guard case .timedOut(.handshaking)? = cause else {
            Issue.record("\(String(describing: cause))")
            return
        }
    }

    @Test func closingBeforeTheLookUpIsDoneIsReportedOnce() throws {
        let rig = try TransportRig()
        let cause = try failure(to: Endpoint(host: "localhost", port: 1), rig: rig) {
            #expect($0.phase == .resolving)
            $0.close()
            $0.close(.peerClosed)
        }
        #expect(cause == nil)
        rig.loop.close()
    }

    @Test(arguments: [["-alpn", "http/1.1"], [], ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"]])
    func aServerWithoutHTTP2OrWithOldTLSIsRefused(options: [String]) throws {
        let server = try OpenSSLServer(options)
        defer { withExtendedLifetime(server) {} }
        let cause = try failure(
            to: Endpoint(host: "localhost", port: server.port), rig: TransportRig())
        if options.first == "-tls1_1" {
            #expect(cause?.description.contains("TLS 1.2 or newer is needed") == true)
        } else {
            #expect(cause?.description.contains("does not speak HTTP/2 on this port") == true)
        }
    }

    @Test(arguments: 0..<8)
    func anAddressThatRefusesIsFollowedByTheNext(_: Int) throws {
        let rig = try TransportRig()
        let open = try BareListener()
        let refused = try #require(SocketAddress.parse(numericHost: "::1", port: open.port))
        let taken = try #require(SocketAddress.parse(numericHost: "127.0.0.1", port: open.port))
        var outcome: Connector.Outcome?
        let connector = Connector(loop: rig.loop) {
            outcome = $0
            rig.loop.stop()
        }
        defer { connector.cancel() }
        connector.tryAddresses([refused, taken])
        if outcome == nil { try rig.run() }
        let (descriptor, peer) = try #require(try outcome?.get())
        defer { close(descriptor) }
        #expect(peer == taken)
        // B19, B25: the kernel's own patience with a dead path is a quarter of an hour.
        #expect(option(descriptor, TCP_USER_TIMEOUT) == 20_000)
        #expect(option(descriptor, TCP_NODELAY) == 1)
    }

    /// Lesson B65: connections spread over the addresses of a service.
    @Test func theFirstAddressTriedIsARandomOne() throws {
        let rig = try TransportRig()
        let listeners = try (0..<2).map { _ in try BareListener(backlog: 128) }
        let addresses = listeners.compactMap {
            SocketAddress.parse(numericHost: "127.0.0.1", port: $0.port)
        }
        var ports: [UInt16] = []
        var connectors: [Connector] = []
        // 40 fair choices are all alike once in 2^39 runs.
        for _ in 0..<40 {
            let connector = Connector(loop: rig.loop) { outcome in
                guard case .success(let (descriptor, peer)) = outcome else { return }
                close(descriptor)
                ports.append(peer.port)
                if ports.count == 40 { rig.loop.stop() }
            }
            connectors.append(connector)
            connector.tryAddresses(addresses)
        }
        try rig.run()
        withExtendedLifetime((connectors, listeners)) {}
        #expect(Set(ports) == Set(listeners.map(\.port)))
    }

    private func option(_ descriptor: Int32, _ name: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let code = getsockopt(descriptor, Int32(IPPROTO_TCP), name, &value, &length)
        return code == 0 ? value : nil
    }

    /// Takes one connection on a thread, sends `text` (nil: nothing) and closes.
    private func answer(_ listener: BareListener, with text: String?) {
        let (descriptor, bytes) = (listener.descriptor, text.map { Array($0.utf8) } ?? [])
        do {
            _ = try PlatformThread.start(name: "answer") {
                let accepted = accept(descriptor, nil, nil)
                var hello = [UInt8](repeating: 0, count: 4096)
                _ = recv(accepted, &hello, hello.count, 0)
                if !bytes.isEmpty { _ = send(accepted, bytes, bytes.count, 0) }
                close(accepted)
            }
        } catch { Issue.record(error) }
    }
}

/// `openssl s_server`: an independent server, on a free port, ended with the value.
private final class OpenSSLServer {
    private let process: BackgroundProcess
    let port: UInt16

    init(_ options: [String]) throws {
        let folder = TestPKI.shared.folder.path
        process = try BackgroundProcess(
            [
                "sh", "-c", "exec openssl s_server \"$@\" >&2", "s_server", "-accept",
                "127.0.0.1:0", "-cert", folder + "/server.pem", "-key", folder + "/server.key",
            ] + options)
        let line = try process.waitForErrorLine(containing: "ACCEPT 127.0.0.1:")
        port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) }, "\(line)")
    }
}
