import EventLoop
import Glibc
import TestSupport
import Testing

@testable import MockAPNS

/// Clients that connect and then say nothing.
@Suite(.timeLimit(.minutes(5)))
struct MockLimitsTests {
    private let temporary = TemporaryDirectory()

    private func server(_ limits: MockLimits) throws -> MockServer {
        var options = MockOptions(
            listen: ("127.0.0.1", 0), stateDirectory: temporary.path + "/mock")
        options.limits = limits
        return try MockServer.start(options)
    }

    /// A blocking connection to the server.
    private func connect(_ server: MockServer) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let result = server.address.withSockaddr {
            Glibc.connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), $1)
        }
        try #require(result == 0)
        return descriptor
    }

    /// Waits for the server's end of the connection: an end of stream, or a reset.
    private func waitForEnd(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, 0) <= 0
    }

    @Test("a TLS handshake that never begins is closed by the server")
    func stuckHandshake() throws {
        let server = try server(MockLimits(handshakeMsMax: 50))
        defer { server.stop() }
        let descriptor = try connect(server)
        defer { close(descriptor) }
        #expect(waitForEnd(descriptor))
        #expect(server.shared.counters[0].value(of: .connectionsOpened) == 0)
    }

    @Test("one connection too many is closed at once and counted, and the others go on")
    func tooManyConnections() throws {
        let server = try server(MockLimits(connectionsMax: 2))
        defer { server.stop() }
        let descriptors = try (0..<3).map { _ in try connect(server) }
        defer { for descriptor in descriptors { close(descriptor) } }
        #expect(waitForEnd(descriptors[2]))
        #expect(server.shared.counters[0].value(of: .connectionsRefused) == 1)
        var byte: UInt8 = 0
        #expect(recv(descriptors[0], &byte, 1, Int32(MSG_DONTWAIT)) == -1)
        #expect(errno == EAGAIN)
    }

    @Test("stop does not wait for a client in its handshake")
    func stopWithOpenHandshake() throws {
        let server = try server(MockLimits())
        let descriptor = try connect(server)
        defer { close(descriptor) }
        server.stop()
        #expect(waitForEnd(descriptor))
    }
}
