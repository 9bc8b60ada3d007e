import EventLoop
import Glibc

/// The signals that end what runs in the foreground.
enum Signals {
    /// Puts the process's signals in order, whatever its parent left behind. Before any thread
    /// starts.
    static func prepare() {
        // A peer that goes away is an error of a write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // So is a file that may not grow (ulimit -f).
        signal(SIGXFSZ, SIG_IGN)
        // A blocked signal is inherited, and some parents block all of them around a start.
        var unblocked = sigset_t()
        sigemptyset(&unblocked)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&unblocked, number) }
        pthread_sigmask(SIG_UNBLOCK, &unblocked, nil)
    }

    /// Calls `body` on the loop for each signal that asks this process to end. A SIGHUP that the
    /// parent ignores stays ignored: that is how `nohup` works.
    ///
    /// *Ownership*: the watchers must be kept for as long as signals are to be seen.
    static func watchEnd(
        on loop: EventLoop, _ body: @escaping () -> Void
    ) throws(EventLoopError) -> [SignalWatcher] {
        var watchers: [SignalWatcher] = []
        for number in [SIGINT, SIGTERM, SIGHUP] where number != SIGHUP || !isHangupIgnored {
            watchers.append(try loop.watchSignal(number, body))
        }
        return watchers
    }

    private static var isHangupIgnored: Bool {
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        // C function pointers cannot be compared in Swift; their addresses can.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
