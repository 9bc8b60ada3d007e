internal import EventLoop
internal import Glibc
internal import HTTP2

/// What a test server does to its clients on purpose: it stops reading, it holds bytes back, it
/// cuts the connection. A program that means well needs none of it.
extension Connection {
    /// Stops reading the socket: what the peer sends fills the buffers of both kernels, and its end
    /// is not noticed either. The owner must see to it that the connection ends.
    package func pauseReading() {
        guard state == .open, !isReadingPaused else { return }
        isReadingPaused = true
        watcher?.setInterest(isBlocked ? .writable : [])
    }

    /// Reads again.
    package func resumeReading() {
        guard isReadingPaused else { return }
        isReadingPaused = false
        // The session may be at work further up the stack; the next turn reads.
        if state == .open { watcher?.setInterest(isBlocked ? [.readable, .writable] : .readable) }
        goOnNextTurn()
    }

    /// Hands bytes to the session that `holdBytes` was given earlier, as if they had arrived now.
    ///
    /// *Ownership*: borrowed for the call. Nothing happens once the connection is closed.
    package func deliver(_ bytes: UnsafeRawBufferPointer) {
        guard isOpen else { return }
        feedSession(bytes)
        setNeedsFlush()
    }

    /// Ends the connection by a reset: the peer loses what is on its way, and its next call fails.
    /// As `close` otherwise, without a last flush and without a goodbye.
    package func abort() {
        isBroken = true
        endsWithReset = true
        close()
    }

    /// Ends an accepted socket by a reset, before there is a connection on it.
    package static func reset(descriptor: Int32) { Socket.closeWithReset(descriptor) }
}
