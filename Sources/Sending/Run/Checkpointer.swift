internal import Campaign
internal import EventLoop
internal import Glibc

/// A small thread beside a run: it writes down once a second what has been measured, so that a kill
/// takes no more than the last second of it along, and brings the run's files to the disk now and
/// then, against a loss of power. Neither loops nor readers ever wait for that, and a reader that
/// waits for a pipe does not hold it up.
///
/// - Thread: ``run()`` on a thread of its own, ``end()`` on any.
final class Checkpointer: @unchecked Sendable {  // `hasEnded` has `mutex`, the series one thread
    private static let everyNs: UInt64 = 1_000_000_000
    /// What a loss of power may undo; a killed process loses nothing.
    private static let syncEveryNs: UInt64 = 5_000_000_000

    private let state: RunState
    private let folder: RunFolder
    private let files: DurableFiles
    private let startNs: UInt64
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let ended = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var hasEnded = false
    /// Belongs, with the two below, to the thread of ``run()``, and when that has ended to the one
    /// that has joined it.
    private(set) var rate: RateSeries
    /// How far the series goes: accepted by this start, and seconds of all starts.
    private var sampledAccepted: UInt64 = 0
    private var sampledSeconds: Double

    /// - Parameter startNs: when this start of the run began, monotonic.
    init(state: RunState, folder: RunFolder, files: DurableFiles, startNs: UInt64) {
        self.state = state
        self.folder = folder
        self.files = files
        self.startNs = startNs
        rate = state.earlier.measured.rate
        sampledSeconds = state.earlier.measured.seconds
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(ended, &attributes)
        pthread_condattr_destroy(&attributes)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(ended)
        mutex.deallocate()
        ended.deallocate()
    }

    /// Works until ``end()``, or until the disk fails: then the run is stopped.
    func run() {
        var syncedNs = startNs
        var dueNs = startNs + Self.everyNs
        while !waitForEnd(untilNs: dueNs) {
            do throws(SendError) {
                try write()
                if monotonicNowNs() - syncedNs >= Self.syncEveryNs {
                    try files.sync()
                    syncedNs = monotonicNowNs()
                }
            } catch {
                return state.stop(.failure(error))
            }
            dueNs = max(dueNs + Self.everyNs, monotonicNowNs())
        }
    }

    /// Lets ``run()`` return at once.
    func end() {
        pthread_mutex_lock(mutex)
        hasEnded = true
        pthread_cond_broadcast(ended)
        pthread_mutex_unlock(mutex)
    }

    /// What all starts of the run have measured up to now; a point of the series of rates, too.
    func measure() -> Measurements {
        var measured = state.earlier.measured
        measured.add(state, seconds: Double(monotonicNowNs() - startNs) / 1e9)
        let accepted = state.acceptedCount
        rate.add(
            accepted - min(sampledAccepted, accepted), from: sampledSeconds, to: measured.seconds)
        sampledAccepted = accepted
        sampledSeconds = measured.seconds
        measured.rate = rate
        return measured
    }

    /// The last checkpoint of this start, with all files on the disk.
    func conclude(_ measured: Measurements) throws(SendError) {
        try folder.replace("checkpoint", with: measured.json(), isSynced: true)
        try files.sync()
    }

    private func write() throws(SendError) {
        // Synced: after a loss of power a file that was renamed only may be empty.
        try folder.replace("checkpoint", with: measure().json(), isSynced: true)
    }

    /// - Returns: whether the run has ended.
    private func waitForEnd(untilNs: UInt64) -> Bool {
        var time = timespec(
            tv_sec: Int(untilNs / 1_000_000_000), tv_nsec: Int(untilNs % 1_000_000_000))
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !hasEnded {
            guard pthread_cond_timedwait(ended, mutex, &time) == 0 else { break }
        }
        return hasEnded
    }
}

/// The files of a run that must survive a loss of power, in the order in which they must reach the
/// disk: a final byte needs its failure line, and a row's byte the line of its chunk, which needs
/// the copy of the input.
struct DurableFiles: Sendable {
    let spool: SpoolFile?
    let chunks: AppendFile
    let failures: AppendFile
    let ledger: Ledger

    /// Takes as long as the disk does.
    func sync() throws(SendError) {
        do throws(RecipientsError) { try spool?.sync() } catch {
            throw SendError(.stopped, error.description)
        }
        try chunks.sync()
        try failures.sync()
        try ledger.sync()
    }
}
