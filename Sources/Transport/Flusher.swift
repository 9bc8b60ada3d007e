package import EventLoop

/// What the connections of one loop share: the read buffer, and the list of those to flush.
///
/// A connection is flushed once per turn, just before the loop waits and so after all ready
/// connections were read: requests and answers of a whole turn leave in few large writes. Measured
/// on a busy connection that is one write per 20 requests instead of one for each read.
/// *Ownership*: whoever made it keeps it as long as its connections; those hold it weakly.
/// *Thread*: the loop's.
package final class Flusher {
    /// One buffer for all reads: what is in it is handed to a session before the next read.
    static let readBytesMax = 65_536
    private static let passesMax = 4
    /// Owned.
    let readBuffer: UnsafeMutableRawBufferPointer

    /// Connections to flush at the end of this turn; each at most once (it knows that it is here).
    private var dirty: [Connection] = []
    private var flushing: [Connection] = []
    /// Connections that had more to do than one turn allows them.
    private var unfinished: [Connection] = []
    private var resuming: [Connection] = []
    private var timer: LoopTimer?

    package init(loop: EventLoop) {
        readBuffer = .allocate(byteCount: Flusher.readBytesMax, alignment: 64)
        loop.beforePoll { [weak self] in self?.flush() }
        timer = try? loop.makeTimer { [weak self] in self?.resume() }
        precondition(timer != nil, "a loop that is open makes timers")
    }

    deinit { readBuffer.deallocate() }

    /// Has `connection` flushed at the end of this turn.
    func add(_ connection: Connection) { dirty.append(connection) }

    /// Has `connection` go on in the next turn, after the others had theirs.
    func addUnfinished(_ connection: Connection) { unfinished.append(connection) }

    private func flush() {
        // What becomes dirty during a pass (a connection's delegate fed another one) is flushed in
        // the next, before the loop waits; what keeps becoming dirty has to let others have a turn.
        for _ in 0..<Flusher.passesMax where !dirty.isEmpty {
            swap(&dirty, &flushing)
            for connection in flushing { connection.flush() }
            flushing.removeAll(keepingCapacity: true)
        }
        // A timer of 0 ms makes the coming wait end at once. It is started here and not in its own
        // callback, where libuv would run it again and again without looking at descriptors.
        if !unfinished.isEmpty || !dirty.isEmpty { timer?.start(afterMs: 0) }
    }

    private func resume() {
        swap(&unfinished, &resuming)
        for connection in resuming { connection.resume() }
        resuming.removeAll(keepingCapacity: true)
    }
}

@available(*, unavailable) extension Flusher: Sendable {}
