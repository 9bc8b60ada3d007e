internal import CLibuv
internal import Synchronization

/// Wakes a loop from any thread: its body runs there at least once after a `send`; several sends
/// may become one call. Safe after the loop is closed, when it does nothing.
package final class Wakeup: Sendable {
    /// The handle while it is open. The lock is held over `uv_async_send`, so that a close on the
    /// loop's thread cannot free the memory under a sender.
    private let target: Mutex<AsyncHandle?>

    init(_ handle: LoopHandle) {
        target = Mutex(
            AsyncHandle(pointer: handle.raw.assumingMemoryBound(to: uv_async_t.self)))
        handle.onClose = { self.target.withLock { $0 = nil } }
    }

    /// Has the body called soon on the loop's thread.
    package func send() {
        target.withLock { target in
            if let target { uv_async_send(target.pointer) }
        }
    }
}

/// `@unchecked`: `uv_async_send` is libuv's one call for any thread, and the lock of `Wakeup` keeps
/// the memory valid during it.
private struct AsyncHandle: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<uv_async_t>
}
