import EventLoop
import Glibc
import TLS
import TestSupport
import Testing

@testable import MockAPNS

/// A TLS connection to a local APNs that blocks, for tests that say every byte themselves.
final class TLSWire {
    /// Longer than anything here takes; a test that waits so long fails.
    private static let patience = timeval(tv_sec: 20, tv_usec: 0)

    private let socket: Socket
    private let stream: TLSStream

    var descriptor: Int32 { socket.descriptor }

    /// Closes once, also where the rest of an initializer fails.
    private final class Socket {
        let descriptor: Int32

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }
    }

    /// Connects and shakes hands. *Errors*: the handshake's, or `Failure`.
    init(port: UInt16, caFile: String) throws {
        socket = Socket(try Self.connect(port: port))
        stream = try TLSStream(
            context: try TLSContext.client(caFile: caFile), descriptor: socket.descriptor,
            role: .client(serverName: "127.0.0.1"))
        guard try stream.handshake() == .done else { throw Failure(text: "the server is silent") }
    }

    convenience init(_ server: MockServer) throws {
        try self.init(port: server.port, caFile: server.caFile)
    }

    struct Failure: Error { let text: String }

    /// A blocking TCP connection to this machine.
    static func connect(port: UInt16) throws -> Int32 {
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let address = try #require(SocketAddress.parse(numericHost: "127.0.0.1", port: port))
        let result = address.withSockaddr {
            Glibc.connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), $1)
        }
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw Failure(text: String(cString: strerror(code)))
        }
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            var patience = patience
            setsockopt(
                descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        var one: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one,
            socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    /// Sends all of `bytes`; false when the socket took no more within its patience.
    @discardableResult
    func send(_ bytes: some Collection<UInt8>) throws -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(16_384))
            let result = try part.withUnsafeBytes { try stream.write($0) }
            guard case .bytes(let count) = result else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// What arrives next; nil at the end. *Errors*: a reset, as `TLSError`; `Failure` when nothing
    /// comes.
    func receive() throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        switch try buffer.withUnsafeMutableBytes({ try stream.read(into: $0) }) {
        case .bytes(let count): return Array(buffer.prefix(count))
        case .end: return nil
        case .wantsRead, .wantsWrite: throw Failure(text: "nothing arrives")
        }
    }

    /// Says that no more comes, in TLS and in TCP; reading goes on.
    func finish() {
        stream.shutdown()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads until the server has ended the connection, in whatever way; what came is returned.
    @discardableResult
    func receiveToEnd() -> [UInt8] {
        var bytes: [UInt8] = []
        while let more = try? receive() { bytes += more }
        return bytes
    }
}
