internal import Campaign
internal import EventLoop
internal import Glibc

/// Hands chunks of the recipients file from the reader thread to the workers, and the empty ones
/// back.
///
/// All chunks exist from the start; there is no other back-pressure than their number.
///
/// The input may be read several times. A reading is over when the reader thread says so, and then
/// each worker has said that it has no row left (``isOver(for:)``), and after that each that it has
/// settled what it held back until the others were done, too (``settle(_:)``).
///
/// - Thread: ``takeEmpty()``, ``put(_:)`` and those that wait on the reader thread; ``take()``,
///   ``giveBack(_:)``, ``isOver(for:)`` and ``settle(_:)`` on the workers (they never wait).
final class ChunkQueue: @unchecked Sendable {  // every field is protected by `mutex`
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let chunkCount: Int
    private var empty: [RecordChunk]
    private var full: [RecordChunk] = []
    private var wakeups: [Wakeup] = []
    private var hasEnded = false
    private var isCancelled = false
    private var reading = Reading()
    private var readingHasEnded = false
    private var idleWorkers: [Bool] = []
    private var settledWorkers: [Bool] = []

    /// One way through the input.
    struct Reading: Equatable {
        /// Counts from 0.
        var number = 0
        /// The ledger bytes whose rows are sent, as a bit each.
        var mask = OpenState.firstReading
    }

    init(chunks: [RecordChunk]) {
        chunkCount = chunks.count
        empty = chunks
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(changed)
        mutex.deallocate()
        changed.deallocate()
    }

    /// Registers a worker to be woken when there is something new.
    func addWorker(_ wakeup: Wakeup) { locked { wakeups.append(wakeup) } }

    /// How many workers there will be; set before any of them runs.
    func setWorkerCount(_ count: Int) {
        locked {
            idleWorkers = [Bool](repeating: false, count: count)
            settledWorkers = idleWorkers
        }
    }

    /// The next full chunk, in file order, and which of its rows to send; nil when there is none
    /// now.
    func take() -> (chunk: RecordChunk, reading: Reading)? {
        locked { full.isEmpty ? nil : (full.removeFirst(), reading) }
    }

    /// Whether no chunk of this reading will come any more.
    var isReadToEnd: Bool { locked { (readingHasEnded || hasEnded) && full.isEmpty } }

    /// Told by a worker that has no chunk and no row that it could send.
    ///
    /// - Returns: true when that holds for all of them, and this one has not settled yet.
    func isOver(for worker: Int) -> Bool {
        locked {
            guard readingHasEnded, full.isEmpty, !settledWorkers[worker] else { return false }
            if !idleWorkers[worker] {
                idleWorkers[worker] = true
                if !idleWorkers.contains(false) { wakeAll() }
            }
            return !idleWorkers.contains(false)
        }
    }

    /// Told by a worker that has no row at all any more, and has written down what became of all.
    func settle(_ worker: Int) {
        locked {
            settledWorkers[worker] = true
            pthread_cond_broadcast(changed)
        }
    }

    /// Whether no chunk will come any more.
    var isFinished: Bool { locked { hasEnded && full.isEmpty } }

    /// Returns a chunk whose rows are all judged.
    func giveBack(_ chunk: RecordChunk) {
        locked {
            empty.append(chunk)
            pthread_cond_signal(changed)
        }
    }

    /// An empty chunk to fill; nil when the run is being stopped.
    func takeEmpty() -> RecordChunk? {
        locked {
            while empty.isEmpty && !isCancelled { pthread_cond_wait(changed, mutex) }
            return isCancelled ? nil : empty.removeLast()
        }
    }

    /// Waits until no worker holds a chunk and none is queued, but for the one that the caller
    /// fills.
    ///
    /// - Returns: false when the run is being stopped.
    func waitUntilAllEmpty() -> Bool {
        locked {
            while empty.count < chunkCount - 1 && !isCancelled { pthread_cond_wait(changed, mutex) }
            return !isCancelled
        }
    }

    /// Says that no chunk of this reading will come, and waits until no worker has a row any more.
    ///
    /// - Returns: false when the run is being stopped.
    func endReading() -> Bool {
        locked {
            readingHasEnded = true
            wakeAll()
            while settledWorkers.contains(false) && !isCancelled {
                pthread_cond_wait(changed, mutex)
            }
            return !isCancelled
        }
    }

    /// Begins another reading, after ``endReading()``.
    func beginReading(mask: UInt16) {
        locked {
            reading.number += 1
            reading.mask = mask
            readingHasEnded = false
            for worker in idleWorkers.indices {
                idleWorkers[worker] = false
                settledWorkers[worker] = false
            }
        }
    }

    /// Waits until a moment of the monotonic clock.
    ///
    /// - Returns: false when the run is being stopped.
    func wait(untilNs: UInt64) -> Bool {
        locked {
            var end = timespec(
                tv_sec: Int(untilNs / 1_000_000_000), tv_nsec: Int(untilNs % 1_000_000_000))
            while !isCancelled, pthread_cond_timedwait(changed, mutex, &end) != ETIMEDOUT {}
            return !isCancelled
        }
    }

    func put(_ chunk: RecordChunk) {
        locked {
            full.append(chunk)
            wakeAll()
        }
    }

    /// Says that the input has ended.
    func end() {
        locked {
            hasEnded = true
            wakeAll()
        }
    }

    /// Stops the reader thread's waiting, and wakes the workers.
    func cancel() {
        locked {
            isCancelled = true
            pthread_cond_broadcast(changed)
            wakeAll()
        }
    }

    private func wakeAll() {
        for wakeup in wakeups { wakeup.send() }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
