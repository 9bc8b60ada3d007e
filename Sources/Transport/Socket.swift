internal import EventLoop
internal import Glibc

/// The system calls on sockets that this module needs. All sockets are non-blocking and
/// close-on-exec.
enum Socket {
    /// A failed call: its errno in the system's words.
    struct Failure: Error {
        let code: Int32
        var text: String { String(cString: strerror(code)) }
    }

    /// How long sent bytes may stay unacknowledged before the kernel gives the connection up.
    /// Its own patience is about a quarter of an hour, and keep-alives do not run meanwhile.
    private static let userTimeoutMs: Int32 = 20_000

    static func open(family: Int32) throws(Failure) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        return descriptor
    }

    /// Small writes leave at once: Peal batches by itself.
    static func setNoDelay(_ descriptor: Int32) {
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    static func setUserTimeout(_ descriptor: Int32) {
        set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, userTimeoutMs)
    }

    static func setReuseAddress(_ descriptor: Int32) {
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
    }

    /// Starts connecting; the descriptor becomes writable when it is decided.
    static func connect(_ descriptor: Int32, to address: SocketAddress) throws(Failure) {
        let code = address.withSockaddr { pointer, length in
            Glibc.connect(descriptor, pointer.assumingMemoryBound(to: sockaddr.self), length)
        }
        guard code == 0 || errno == EINPROGRESS || errno == EINTR else {
            throw Failure(code: errno)
        }
    }

    /// The pending error of a socket, 0 for none; reading it clears it.
    static func takeError(_ descriptor: Int32) -> Int32 {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 ? code : errno
    }

    static func bind(_ descriptor: Int32, to address: SocketAddress) throws(Failure) {
        let code = address.withSockaddr { pointer, length in
            Glibc.bind(descriptor, pointer.assumingMemoryBound(to: sockaddr.self), length)
        }
        guard code == 0, listen(descriptor, SOMAXCONN) == 0 else { throw Failure(code: errno) }
    }

    /// The next waiting connection; nil when none waits.
    static func accept(_ descriptor: Int32) throws(Failure) -> Int32? {
        while true {
            let accepted = Glibc.accept(descriptor, nil, nil)
            if accepted >= 0 {
                // Two calls more than accept4, which Swift's C library module leaves out.
                _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                return accepted
            }
            switch errno {
            // One that failed while it waited is not the listener's trouble (accept(2)).
            case EINTR, ECONNABORTED, EPROTO: continue
            case EAGAIN: return nil
            case let code: throw Failure(code: code)
            }
        }
    }

    static func localAddress(_ descriptor: Int32) -> SocketAddress? {
        SocketAddress { pointer, length in
            getsockname(descriptor, pointer.assumingMemoryBound(to: sockaddr.self), length)
        }
    }

    static func peerAddress(_ descriptor: Int32) -> SocketAddress? {
        SocketAddress { pointer, length in
            getpeername(descriptor, pointer.assumingMemoryBound(to: sockaddr.self), length)
        }
    }

    /// Closes with an end of stream rather than a reset where that is possible: unread bytes in the
    /// socket would make the kernel reset the connection and destroy what is still on its way to
    /// the peer (a GOAWAY, for example).
    static func closePolitely(_ descriptor: Int32) {
        Glibc.shutdown(descriptor, Int32(SHUT_WR))
        // A buffer of its own: a session may be reading from the shared one further up the stack.
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { scratch in
            // 1 MiB, about what a receive queue holds; never waits.
            for _ in 0..<64 {
                guard recv(descriptor, scratch.baseAddress, scratch.count, 0) > 0 else { break }
            }
        }
        Glibc.close(descriptor)
    }

    /// Closes with a reset, whatever is on its way: SO_LINGER of no time (socket(7)).
    static func closeWithReset(_ descriptor: Int32) {
        var noTime = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &noTime, socklen_t(MemoryLayout<linger>.size))
        Glibc.close(descriptor)
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        // It fails for sockets of another kind (a socketpair in a test), where it has no meaning.
        setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
