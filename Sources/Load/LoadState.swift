internal import APNS
internal import EventLoop
internal import Measure
internal import Synchronization
internal import TLS

/// What the threads of one load test share: fixed values, and a few cells that are safe from any
/// thread. Nothing in it is touched per request.
final class LoadState: Sendable {
    /// Fine enough for 99.99 %: three digits, from nanoseconds to an hour.
    static let scale = HistogramScale(precisionBits: 10, valueMax: 3_600_000_000_000)
    /// Good enough for a line that is read in passing.
    static let coarseScale = HistogramScale(precisionBits: 6, valueMax: 3_600_000_000_000)
    /// Between the last connection's readiness and the first request: all threads are woken by
    /// then.
    private static let headStartNs: UInt64 = 20_000_000

    let options: LoadOptions
    let tls: TLSContext
    let tokens: ProviderTokenSource
    let counters: [LoadCounters]

    /// When the schedule starts, on the loops' clock; 0: not yet.
    let startNs = Atomic<UInt64>(0)
    private let readyWorkers = Atomic(0)
    private let stopping = Atomic(false)
    private let stoppingNow = Atomic(false)
    /// Why it ended before its time, and when.
    private let end = Mutex<(cause: LoadEnd, ns: UInt64)?>(nil)
    private let wakeups = Mutex<[Wakeup]>([])
    private let measured = Mutex(LoadMeasurements())
    private let recent = Mutex(Histogram(LoadState.coarseScale))
    private let machineAtStart = Mutex<MachineTime?>(nil)

    init(options: LoadOptions, tls: TLSContext, tokens: ProviderTokenSource) {
        self.options = options
        self.tls = tls
        self.tokens = tokens
        counters = (0..<options.threadCount).map { _ in LoadCounters() }
    }

    func addWorker(_ wakeup: Wakeup) { wakeups.withLock { $0.append(wakeup) } }

    /// A worker has all its connections; the last one starts the schedule for all.
    func workerIsReady(nowNs: UInt64) {
        let ready = readyWorkers.add(1, ordering: .acquiringAndReleasing).newValue
        guard ready == options.threadCount else { return }
        machineAtStart.withLock { $0 = MachineTime.now() }
        startNs.store(nowNs + Self.headStartNs, ordering: .releasing)
        wakeAll()
    }

    // MARK: The end

    /// Whether nothing new may be sent.
    var isStopping: Bool { stopping.load(ordering: .acquiring) }
    /// Whether answers are not waited for either.
    var isStoppingNow: Bool { stoppingNow.load(ordering: .acquiring) }

    /// Ends the test before its time. The first cause is kept; a second interrupt ends the waiting
    /// for answers, as does a failure.
    func stop(_ cause: LoadEnd, nowNs: UInt64) {
        let isFirst = end.withLock { end in
            defer { if end == nil { end = (cause, nowNs) } }
            return end == nil
        }
        if case .interrupted = cause, isFirst {
        } else {
            stoppingNow.store(true, ordering: .releasing)
        }
        stopping.store(true, ordering: .releasing)
        wakeAll()
    }

    /// Nil when the schedule went to its end.
    var earlyEnd: (cause: LoadEnd, ns: UInt64)? { end.withLock { $0 } }

    private func wakeAll() { wakeups.withLock { for wakeup in $0 { wakeup.send() } } }

    // MARK: Figures

    /// Takes over what a worker that ends has measured.
    func add(_ body: (inout LoadMeasurements) -> Void) {
        measured.withLock { (measured: inout LoadMeasurements) in body(&measured) }
    }

    var measurements: LoadMeasurements { measured.withLock { $0 } }

    /// Latencies for the next progress line.
    func addRecent(_ recorder: HistogramRecorder) { recent.withLock { $0.add(recorder) } }

    /// The latencies since the last call.
    func takeRecent() -> Histogram {
        recent.withLock { recent in
            defer { recent = Histogram(Self.coarseScale) }
            return recent
        }
    }

    /// The share of this machine's processors that was busy since the schedule's start; nil when
    /// the system does not say.
    var machineBusyShare: Double? {
        guard let before = machineAtStart.withLock({ $0 }), let now = MachineTime.now() else {
            return nil
        }
        return now.busyShare(since: before)
    }

    func total(_ counter: LoadCounters.Counter) -> UInt64 {
        counters.reduce(0) { $0 + $1[counter] }
    }
}

/// Why a test ends before its schedule does.
enum LoadEnd: Sendable {
    case interrupted
    case failure(LoadError)
}
