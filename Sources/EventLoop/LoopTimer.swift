internal import CLibuv

/// A timer of one loop; closed when the last reference to it goes. *Thread*: the loop's.
package final class LoopTimer {
    private let handle: LoopHandle

    init(_ handle: LoopHandle) { self.handle = handle }

    deinit { handle.close() }

    /// Calls the body after `afterMs`, then every `repeatMs` (0: once). Starting a timer that runs
    /// starts it anew. With 0 it fires in the next turn.
    ///
    /// Counts from now and not from the start of the turn, which is what libuv's own clock shows,
    /// so a long turn never makes a timer early.
    package func start(afterMs: UInt64, repeatMs: UInt64 = 0) {
        guard handle.isOpen else { return }
        uv_update_time(uv_handle_get_loop(handle.uv))
        uv_timer_start(timer, onTimer, afterMs, repeatMs)
    }

    /// Stops the timer; it may be started again.
    package func stop() {
        guard handle.isOpen else { return }
        uv_timer_stop(timer)
    }

    /// Ends the timer for good. Idempotent.
    package func close() { handle.close() }

    private var timer: UnsafeMutablePointer<uv_timer_t> {
        handle.raw.assumingMemoryBound(to: uv_timer_t.self)
    }
}

private func onTimer(_ uv: UnsafeMutablePointer<uv_timer_t>?) {
    if let uv { LoopHandle.deliver(uv, 0) }
}
