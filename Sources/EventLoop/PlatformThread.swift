internal import CLibuv
internal import Glibc
internal import Synchronization

/// A POSIX thread. One that is never joined is detached when the last reference to it goes.
package final class PlatformThread: Sendable {
    private let thread: pthread_t
    private let isJoined = Atomic(false)

    private init(_ thread: pthread_t) { self.thread = thread }

    deinit {
        if !isJoined.load(ordering: .acquiring) { pthread_detach(thread) }
    }

    /// Runs `body` on a new thread. `name` shows in `top -H`; the kernel keeps 15 bytes of it.
    package static func start(
        name: String, _ body: sending @escaping () -> Void
    ) throws(EventLoopError) -> PlatformThread {
        let start = Unmanaged.passRetained(Start(name: String(name.prefix(15)), body: body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                // Not nil: it is what pthread_create was given. The thread takes the reference.
                let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                peal_uv_name_this_thread(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw EventLoopError(code: -code, call: "pthread_create")
        }
        return PlatformThread(thread)
    }

    /// Waits for the end of the body. Later calls return at once; never from the thread itself.
    package func join() {
        let (isFirst, _) = isJoined.compareExchange(
            expected: false, desired: true, ordering: .acquiringAndReleasing)
        if isFirst { pthread_join(thread, nil) }
    }

    private final class Start {
        let name: String
        let body: () -> Void

        init(name: String, body: @escaping () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
