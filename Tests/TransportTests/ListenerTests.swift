import EventLoop
import Glibc
import TestSupport
import Testing
import Transport

@Suite(.timeLimit(.minutes(5)))
struct ListenerTests {
    @Test func portZeroBecomesARealOneAndClosingFreesIt() throws {
        let loop = try EventLoop()
        let any = try #require(SocketAddress.parse(numericHost: "127.0.0.1", port: 0))
        let listener = try Listener(address: any, loop: loop) { _ in }
        #expect(listener.address.port > 0)
        listener.close()
        listener.close()
        let again = try Listener(address: listener.address, loop: loop) { _ in }
        #expect(again.address == listener.address)
    }

    @Test func anAddressInUseIsNamedWithARemedy() throws {
        let loop = try EventLoop()
        let any = try #require(SocketAddress.parse(numericHost: "127.0.0.1", port: 0))
        let listener = try Listener(address: any, loop: loop) { _ in }
        let error = #expect(throws: ConnectionFailure.self) {
            _ = try Listener(address: listener.address, loop: loop) { _ in }
        }
        #expect(
            error?.description.hasPrefix(
                "cannot listen on \(listener.address): Address already in use") == true)
    }

    @Test func aListenerMayCloseItselfWhileConnectionsWait() throws {
        let loop = try EventLoop()
        let any = try #require(SocketAddress.parse(numericHost: "127.0.0.1", port: 0))
        var accepted = 0
        var listener: Listener?
        listener = try Listener(address: any, loop: loop) { descriptor in
            accepted += 1
            close(descriptor)
            listener?.close()
        }
        let clients = try (0..<3).map { _ in try connectBare(to: listener!.address) }
        loop.run()
        #expect(accepted == 1)
        for client in clients { close(client) }
    }

    /// The limit on open files belongs to the process, so this runs in one of its own.
    @Test func withoutDescriptorsItPausesInsteadOfSpinning() async {
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            let any = SocketAddress.parse(numericHost: "127.0.0.1", port: 0)!
            var accepted = 0
            let listener = try Listener(address: any, loop: loop) { _ in
                accepted += 1
                loop.stop()
            }
            let client = try connectBare(to: listener.address)
            var used: [Int32] = []
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = 64
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            while case let extra = dup(client), extra >= 0 { used.append(extra) }
            var turns = 0
            loop.beforePoll { turns += 1 }
            let timer = try loop.makeTimer { for extra in used { close(extra) } }
            timer.start(afterMs: 250)
            loop.run()
            withExtendedLifetime((listener, timer)) {}
            // The connection was kept, and taken once there was room.
            precondition(accepted == 1)
            precondition(turns < 20, "\(turns) turns in a quarter of a second")
        }
    }
}

/// A connected blocking socket.
private func connectBare(to address: SocketAddress) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let code = address.withSockaddr {
        connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), $1)
    }
    try #require(code == 0)
    return descriptor
}
