internal import CLibuv

/// What a descriptor is ready for. Errors and hang-ups are delivered as what was asked for: the
/// read or write that follows tells the cause.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let readable = Readiness(rawValue: Int32(UV_READABLE.rawValue))
    package static let writable = Readiness(rawValue: Int32(UV_WRITABLE.rawValue))
}

/// Tells when a descriptor is ready; level-triggered. Closed when the last reference to it goes.
///
/// *Ownership*: the descriptor stays the caller's, who closes the watcher first. *Thread*: the
/// loop's.
package final class DescriptorWatcher {
    private let handle: LoopHandle
    private var interest: Readiness = []

    init(
        loop: UnsafeMutablePointer<uv_loop_t>, descriptor: Int32,
        _ body: @escaping (Readiness) -> Void
    ) throws(EventLoopError) {
        let relay = Relay()
        handle = try LoopHandle.open(
            UV_POLL, "uv_poll_init",
            onEvent: { event in
                if event >= 0 {
                    body(Readiness(rawValue: event))
                } else {
                    // libuv has stopped the handle; the owner learns the cause from its next call.
                    body(relay.watcher?.interest ?? [])
                    relay.watcher?.rearm()
                }
            },
            initialise: {
                uv_poll_init(loop, $0.assumingMemoryBound(to: uv_poll_t.self), descriptor)
            })
        relay.watcher = self
    }

    deinit { handle.close() }

    /// Asks for these events from now on; none pauses the watcher.
    package func setInterest(_ wanted: Readiness) {
        guard handle.isOpen, wanted != interest else { return }
        interest = wanted
        rearm()
    }

    /// Ends the watcher for good. Idempotent.
    package func close() { handle.close() }

    private func rearm() {
        guard handle.isOpen else { return }
        let poll = handle.raw.assumingMemoryBound(to: uv_poll_t.self)
        // No interest stops the handle. It fails only for a handle that is closing.
        uv_poll_start(poll, interest.rawValue, onPoll)
    }

    /// Leads the handle's closure to the watcher without keeping it alive.
    private final class Relay {
        weak var watcher: DescriptorWatcher?
    }
}

private func onPoll(_ uv: UnsafeMutablePointer<uv_poll_t>?, status: Int32, events: Int32) {
    if let uv { LoopHandle.deliver(uv, status < 0 ? status : events) }
}

/// Tells of a signal; closed when the last reference to it goes. *Thread*: the loop's.
package final class SignalWatcher {
    private let handle: LoopHandle

    init(_ handle: LoopHandle) { self.handle = handle }

    deinit { handle.close() }

    /// Ends the watcher; the signal's former action is back when no other watcher has it.
    package func close() { handle.close() }
}
