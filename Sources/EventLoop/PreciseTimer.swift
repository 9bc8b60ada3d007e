internal import CLibuv
internal import Glibc

/// A timer for what a millisecond is too coarse for: it fires within microseconds of its time.
///
/// It costs two system calls each time, which a `LoopTimer` does not. *Thread*: the loop's; made
/// there. It holds `run` until it is closed or dropped.
package final class PreciseTimer {
    /// Owned.
    private var descriptor: Int32
    private let watcher: DescriptorWatcher

    fileprivate init(loop: EventLoop, _ body: @escaping () -> Void) throws(EventLoopError) {
        let descriptor = peal_uv_timer_descriptor()
        guard descriptor >= 0 else { throw EventLoopError(code: -errno, call: "timerfd_create") }
        do throws(EventLoopError) {
            watcher = try loop.watch(descriptor: descriptor) { _ in
                var expirations: UInt64 = 0
                // Nothing to read: it was started anew since it fired.
                guard read(descriptor, &expirations, 8) == 8 else { return }
                body()
            }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        watcher.setInterest(.readable)
    }

    deinit { close() }

    /// Calls the body once at `atNs` of the loop's clock, or at once when that has passed.
    /// Starting a timer that runs starts it anew.
    package func start(atNs: UInt64) {
        guard descriptor >= 0 else { return }
        _ = peal_uv_timer_descriptor_set(descriptor, max(atNs, 1))  // 0 would stop it
    }

    /// Ends the timer for good. Idempotent.
    package func close() {
        watcher.close()
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }
}

extension EventLoop {
    /// A timer that is not running yet, with the kernel's precision.
    package func makePreciseTimer(
        _ body: @escaping () -> Void
    ) throws(EventLoopError) -> PreciseTimer {
        try PreciseTimer(loop: self, body)
    }
}

@available(*, unavailable) extension PreciseTimer: Sendable {}
