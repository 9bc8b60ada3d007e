internal import Campaign
internal import EventLoop
internal import Glibc

/// Hands chunks of the recipients file from the reader thread to the workers, and the empty ones
/// back.
///
/// All chunks exist from the start; there is no other back-pressure than their number.
///
/// - Thread: ``takeEmpty()``, ``put(_:)`` and ``waitUntilAllEmpty()`` on the reader thread (they
///   may wait); ``take()`` and ``giveBack(_:)`` on the workers (they never wait).
final class ChunkQueue: @unchecked Sendable {  // every field is protected by `mutex`
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let chunkCount: Int
    private var empty: [RecordChunk]
    private var full: [RecordChunk] = []
    private var wakeups: [Wakeup] = []
    private var hasEnded = false
    private var isCancelled = false

    init(chunks: [RecordChunk]) {
        chunkCount = chunks.count
        empty = chunks
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(changed)
        mutex.deallocate()
        changed.deallocate()
    }

    /// Registers a worker to be woken when there is something new.
    func addWorker(_ wakeup: Wakeup) { locked { wakeups.append(wakeup) } }

    /// The next full chunk, in file order; nil when there is none now.
    func take() -> RecordChunk? {
        locked { full.isEmpty ? nil : full.removeFirst() }
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
