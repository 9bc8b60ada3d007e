internal import EventLoop
internal import Glibc
internal import Synchronization

/// How other threads reach a worker: messages under a lock, and a wake-up of its loop.
///
/// *Thread:* any. *Limits:* the acceptor posts one message per accepted socket and the worker
/// empties the box once per turn, so it holds at most the sockets of one turn.
final class MockMailbox: Sendable {
    enum Message: Sendable {
        /// Serve this socket, which is now the worker's.
        case adopt(descriptor: Int32)
        /// Something waits for the device of this link.
        case deliver(DeviceLink)
        case stop
    }

    private let state = Mutex<(messages: [Message], isOpen: Bool)>(([], true))
    private let wakeup: Wakeup

    init(wakeup: Wakeup) { self.wakeup = wakeup }

    /// Leaves a message. After `close`, a socket in it is closed at once.
    func post(_ message: Message) {
        let isTaken = state.withLock { state in
            if state.isOpen { state.messages.append(message) }
            return state.isOpen
        }
        if isTaken {
            wakeup.send()
        } else {
            Self.discard(message)
        }
    }

    /// All messages since the last call, in order.
    func takeAll() -> [Message] {
        state.withLock { state in
            defer { state.messages.removeAll(keepingCapacity: true) }
            return state.messages
        }
    }

    /// The worker ends: sockets still in the box, and all that come later, are closed.
    func close() {
        state.withLock { $0.isOpen = false }
        takeAll().forEach(Self.discard)
    }

    private static func discard(_ message: Message) {
        if case .adopt(let descriptor) = message { Glibc.close(descriptor) }
    }
}
