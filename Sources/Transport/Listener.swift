package import EventLoop
internal import Glibc

/// Accepts TCP connections on one address. *Thread*: the loop's.
package final class Listener {
    /// Connections accepted in one turn before others have theirs.
    private static let acceptsMax = 64
    /// How long accepting pauses when the process or the system has no descriptor left. The
    /// waiting connection stays ready, so that going on at once would be an endless loop.
    private static let pauseMs: UInt64 = 100

    /// Where it listens, with the real port.
    package let address: SocketAddress
    /// Owned; -1 when closed.
    private var descriptor: Int32
    private var watcher: DescriptorWatcher?
    private var pause: LoopTimer?
    private let onAccept: (Int32) -> Void

    /// Listens on `address`; port 0 picks a free one. `onAccept` owns the descriptor that it gets:
    /// non-blocking, close-on-exec, without Nagle's delay.
    package init(
        address: SocketAddress, loop: EventLoop, _ onAccept: @escaping (Int32) -> Void
    ) throws(ConnectionFailure) {
        self.onAccept = onAccept
        do throws(Socket.Failure) {
            let opened = try Socket.open(family: address.family)
            descriptor = opened
            self.address = try Listener.bind(opened, to: address)
        } catch {
            throw .local(
                "cannot listen on \(address): \(error.text); "
                    + "is another program there? choose another port, 0 for any free one")
        }
        do {
            watcher = try loop.watch(descriptor: descriptor) { [weak self] _ in self?.accept() }
            pause = try loop.makeTimer { [weak self] in self?.watcher?.setInterest(.readable) }
        } catch {
            close()
            throw .local(error.description)
        }
        watcher?.setInterest(.readable)
    }

    deinit { close() }

    /// Stops listening; accepted connections stay. Idempotent.
    package func close() {
        watcher?.close()
        watcher = nil
        pause?.close()
        pause = nil
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    private static func bind(
        _ descriptor: Int32, to address: SocketAddress
    ) throws(Socket.Failure) -> SocketAddress {
        Socket.setReuseAddress(descriptor)
        do throws(Socket.Failure) {
            try Socket.bind(descriptor, to: address)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        return Socket.localAddress(descriptor) ?? address
    }

    private func accept() {
        for _ in 0..<Listener.acceptsMax where descriptor >= 0 {
            do throws(Socket.Failure) {
                guard let accepted = try Socket.accept(descriptor) else { return }
                Socket.setNoDelay(accepted)
                onAccept(accepted)
            } catch {
                // EMFILE, ENFILE, ENOBUFS, ENOMEM: no connection is lost, it waits in the queue.
                watcher?.setInterest([])
                pause?.start(afterMs: Listener.pauseMs)
                return
            }
        }
    }
}

@available(*, unavailable) extension Listener: Sendable {}
