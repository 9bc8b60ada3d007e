internal import CLibuv

/// One libuv loop: timers, descriptors, signals, wake-ups from other threads, name look-ups.
///
/// *Thread*: everything but `Wakeup.send` belongs to the one thread that runs the loop; not
/// Sendable, so the compiler holds callers to it. Build the loop inside its thread.
/// *Ownership*: a body that holds the loop keeps it alive until its handle or the loop is closed.
/// *Limits*: no allocation per event; one closure call per event.
package final class EventLoop {
    /// Owned; freed by `close` once libuv has let go of it, never used after.
    private let loop: UnsafeMutablePointer<uv_loop_t>
    private var isRunning = false
    private var isClosed = false
    /// `close` was called from a callback: it is done when `run` returns.
    private var closesAfterRun = false
    private var resolver: Resolver?
    private var beforePollBodies: [() -> Void] = []

    package init() throws(EventLoopError) {
        let memory = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
        let code = uv_loop_init(memory)
        guard code >= 0 else {
            memory.deallocate()
            throw EventLoopError(code: code, call: "uv_loop_init")
        }
        loop = memory
    }

    deinit { close() }

    /// The version of libuv that this process has loaded, as in "1.44.2".
    package static let libraryVersion = String(cString: uv_version_string())

    /// Runs callbacks until `stop` is called or nothing is left to wait for.
    ///
    /// Timers that run, watched descriptors with an interest, signal watchers, wake-ups and pending
    /// look-ups are waited for; `beforePoll` bodies are not.
    package func run() {
        precondition(!isRunning, "a loop's run() is not re-entrant")
        guard !isClosed else { return }
        isRunning = true
        _ = uv_run(loop, UV_RUN_DEFAULT)
        isRunning = false
        if closesAfterRun { close() }
    }

    /// Makes `run` return after the turn that is in progress; a call before `run` makes that `run`
    /// return at once.
    package func stop() {
        guard !isClosed else { return }
        uv_stop(loop)
    }

    /// Closes every handle, whatever is active, and frees the loop; no body is called again.
    ///
    /// Inside a callback it stops the loop and closes it when `run` returns. Idempotent.
    package func close() {
        guard !isClosed else { return }
        guard !isRunning else {
            closesAfterRun = true
            return uv_stop(loop)
        }
        isClosed = true
        resolver?.cancelAll()
        resolver = nil
        // Closing twice covers handles that a closure's release opened or closed meanwhile; each
        // pass runs the close callbacks of the handles closed so far without waiting.
        while uv_loop_close(loop) == UV_EBUSY.rawValue {
            uv_walk(loop, closeWalked, nil)
            _ = uv_run(loop, UV_RUN_NOWAIT)
        }
        loop.deallocate()
    }

    /// The monotonic clock, ns; its zero means nothing.
    package var nowNs: UInt64 { monotonicNowNs() }

    /// Calls `body` once per turn, after timers and before the loop waits for descriptors. Several
    /// may be added; they are called in that order, and stay until the loop closes. They do not
    /// keep `run` from returning.
    package func beforePoll(_ body: @escaping () -> Void) {
        precondition(!isClosed, "beforePoll on a closed loop")
        beforePollBodies.append(body)
        if beforePollBodies.count == 1 { startPreparing() }
    }

    /// One handle for all bodies: libuv calls the handles of a loop in the reverse of their order.
    private func startPreparing() {
        do {
            let handle = try LoopHandle.open(
                UV_PREPARE, "uv_prepare_init",
                onEvent: { [unowned self] _ in for body in beforePollBodies { body() } },
                initialise: {
                    uv_prepare_init(loop, $0.assumingMemoryBound(to: uv_prepare_t.self))
                })
            uv_prepare_start(handle.raw.assumingMemoryBound(to: uv_prepare_t.self), onPrepare)
            uv_unref(handle.uv)
        } catch {
            preconditionFailure("uv_prepare_init has no way to fail: \(error)")
        }
    }

    /// A timer that is not running yet.
    package func makeTimer(_ body: @escaping () -> Void) throws(EventLoopError) -> LoopTimer {
        guard !isClosed else { throw .closed("makeTimer") }
        let loop = loop
        return LoopTimer(
            try LoopHandle.open(
                UV_TIMER, "uv_timer_init", onEvent: { _ in body() },
                initialise: { uv_timer_init(loop, $0.assumingMemoryBound(to: uv_timer_t.self)) }))
    }

    /// A way for other threads to have `body` called on this loop's thread. It is open, and keeps
    /// `run` going, until the loop is closed.
    package func makeWakeup(_ body: @escaping () -> Void) throws(EventLoopError) -> Wakeup {
        try openWakeup(body).wakeup
    }

    /// The same, with the handle, whose owner may keep it from holding `run`.
    func openWakeup(
        _ body: @escaping () -> Void
    ) throws(EventLoopError) -> (wakeup: Wakeup, handle: LoopHandle) {
        guard !isClosed else { throw .closed("makeWakeup") }
        let loop = loop
        let handle = try LoopHandle.open(
            UV_ASYNC, "uv_async_init", onEvent: { _ in body() },
            initialise: {
                uv_async_init(loop, $0.assumingMemoryBound(to: uv_async_t.self), onAsync)
            })
        return (Wakeup(handle), handle)
    }

    /// Watches a descriptor (socket or pipe; it becomes non-blocking), at first with no interest.
    /// The caller keeps the descriptor, and closes the watcher first.
    package func watch(
        descriptor: Int32, _ body: @escaping (Readiness) -> Void
    ) throws(EventLoopError) -> DescriptorWatcher {
        guard !isClosed else { throw .closed("watch") }
        return try DescriptorWatcher(loop: loop, descriptor: descriptor, body)
    }

    /// Calls `body` on this loop for each signal `number` that the process gets.
    package func watchSignal(
        _ number: Int32, _ body: @escaping () -> Void
    ) throws(EventLoopError) -> SignalWatcher {
        guard !isClosed else { throw .closed("watchSignal") }
        let loop = loop
        let handle = try LoopHandle.open(
            UV_SIGNAL, "uv_signal_init", onEvent: { _ in body() },
            initialise: { uv_signal_init(loop, $0.assumingMemoryBound(to: uv_signal_t.self)) })
        let watcher = SignalWatcher(handle)
        let code = uv_signal_start(
            handle.raw.assumingMemoryBound(to: uv_signal_t.self), onSignal, number)
        try EventLoopError.check(code, "uv_signal_start")
        return watcher
    }

    /// Looks a host name up (or reads a numeric address) away from this thread; `body` gets the
    /// addresses in the resolver's order, never before this call returns.
    ///
    /// One look-up of a loop runs at a time, the others wait their turn; at most
    /// `Resolver.lookUpsMax` may wait. The exit of the process never waits for one.
    package func resolve(
        host: String, port: UInt16,
        _ body: @escaping (Result<[SocketAddress], ResolveError>) -> Void
    ) throws(EventLoopError) -> Resolution {
        guard !isClosed else { throw .closed("resolve") }
        let resolver: Resolver
        if let made = self.resolver {
            resolver = made
        } else {
            resolver = try Resolver(loop: self)
            self.resolver = resolver
        }
        return try resolver.resolve(host: host, port: port, body)
    }
}

/// Each open handle is a LoopHandle: there is no other maker of handles on these loops. libuv skips
/// its own internal ones.
private func closeWalked(_ uv: UnsafeMutablePointer<uv_handle_t>?, _: UnsafeMutableRawPointer?) {
    guard let uv, uv_is_closing(uv) == 0 else { return }
    LoopHandle.of(uv).close()
}

private func onPrepare(_ uv: UnsafeMutablePointer<uv_prepare_t>?) {
    if let uv { LoopHandle.deliver(uv, 0) }
}

private func onAsync(_ uv: UnsafeMutablePointer<uv_async_t>?) {
    if let uv { LoopHandle.deliver(uv, 0) }
}

private func onSignal(_ uv: UnsafeMutablePointer<uv_signal_t>?, _ number: Int32) {
    if let uv { LoopHandle.deliver(uv, number) }
}
