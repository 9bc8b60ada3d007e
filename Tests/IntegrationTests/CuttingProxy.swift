import Foundation
import Glibc
import Synchronization
import TestSupport

/// A TCP proxy that delays what it passes on, and cuts connections after random numbers of bytes,
/// with a reset or without. It knows nothing of TLS: cuts fall anywhere, in handshakes too.
///
/// Threads of its own, two for each connection. What it draws depends on the seed and the number of
/// the connection alone.
final class CuttingProxy: Sendable {
    /// No more cuts than this: with more, a row might lose all of its attempts.
    private let cutsMax: Int
    private let upstreamPort: UInt16
    private let seed: UInt64
    private let listener: Int32
    private let cuts = Atomic<Int>(0)
    let port: UInt16

    var cutCount: Int { min(cuts.load(ordering: .relaxed), cutsMax) }

    init(to upstreamPort: UInt16, cutsMax: Int, seed: UInt64 = testSeed) throws {
        self.upstreamPort = upstreamPort
        self.cutsMax = cutsMax
        self.seed = seed
        (listener, port) = try LocalSocket.listen()
        Thread.detachNewThread { [self] in acceptAll() }
    }

    /// Ends the listening; connections end with their two ends.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func acceptAll() {
        var number: UInt64 = 0
        while case let client = accept(listener, nil, nil),
            client >= 0
        {
            // No call opens it so at once here; a child that inherits it does no harm, for links
            // are ended by shutdown.
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            number += 1
            guard let server = LocalSocket.connect(to: upstreamPort) else {
                close(client)
                continue
            }
            let link = Link(client: client, server: server)
            let thisNumber = number
            for isUpward in [true, false] {
                Thread.detachNewThread { [self] in
                    pass(link, isUpward: isUpward, connection: thisNumber)
                }
            }
        }
        close(listener)
    }

    /// Passes bytes on until one end closes, or the limit is reached and a cut is left.
    private func pass(_ link: Link, isUpward: Bool, connection number: UInt64) {
        let source = isUpward ? link.client : link.server
        let target = isUpward ? link.server : link.client
        var random = SeededGenerator(seed: seed &+ number &* 2 &+ (isUpward ? 0 : 1))
        // The first connections come through their handshakes: a server that never let anybody in
        // is given up.
        let least = number <= 4 ? 20_000 : 100
        var left = Int.random(in: least...(isUpward ? 400_000 : 100_000), using: &random)
        var block = [UInt8](repeating: 0, count: 16_384)

        while case let count = recv(source, &block, block.count, 0), count > 0 {
            if Int.random(in: 0..<4, using: &random) == 0 {
                usleep(UInt32.random(in: 100...4_000, using: &random))
            }
            let passed = min(count, max(left, 0))
            let isCut = passed < count && cuts.add(1, ordering: .relaxed).newValue <= cutsMax
            guard LocalSocket.sendAll(target, block[..<(isCut ? passed : count)]) else { break }
            if isCut {
                link.end(withReset: Bool.random(using: &random))
                break
            }
            left -= count
        }
        link.end(withReset: false)
        link.letGo()
    }

    /// The two sockets of a connection, closed when both directions are done.
    private final class Link: Sendable {
        let client: Int32
        let server: Int32
        private let users = Atomic<Int>(2)

        init(client: Int32, server: Int32) {
            self.client = client
            self.server = server
        }

        func end(withReset: Bool) {
            for socket in [client, server] {
                if withReset {
                    var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
                    setsockopt(
                        socket, SOL_SOCKET, SO_LINGER, &linger,
                        socklen_t(MemoryLayout<Glibc.linger>.size))
                }
                shutdown(socket, Int32(SHUT_RDWR))
            }
        }

        func letGo() {
            guard users.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
            close(client)
            close(server)
        }
    }
}

/// Blocking sockets on the loopback interface.
enum LocalSocket {
    /// A listening socket, on a free port or on the one given.
    static func listen(port: UInt16 = 0) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = make()
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, 4)
        var address = loopback(port)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withSocketAddress(&address) {
            bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
        }
        guard result == 0, Glibc.listen(descriptor, 64) == 0 else {
            let code = errno
            close(descriptor)
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL)
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Nil when nobody listens there.
    static func connect(to port: UInt16) -> Int32? {
        let descriptor = make()
        var address = loopback(port)
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withSocketAddress(&address) { Glibc.connect(descriptor, $0, length) }
        if result == 0 { return descriptor }
        close(descriptor)
        return nil
    }

    static func sendAll(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                let count = send(
                    descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    private static func make() -> Int32 {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func withSocketAddress(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Int32
    ) -> Int32 {
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }
}
