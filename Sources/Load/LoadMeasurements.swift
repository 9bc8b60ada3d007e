internal import Glibc
internal import Measure

/// Why a request that is due is not sent.
package enum Obstacle: Int, CaseIterable, Sendable {
    /// As many requests are in flight as the server, or `--streams`, allows.
    case streams
    /// The server's flow-control window has no room for the body.
    case window
    /// The socket takes no more bytes.
    case socket
    /// No connection is open.
    case connection
}

/// What the threads of a test have measured, added up.
struct LoadMeasurements: Sendable {
    // Of requests that were answered with 200, in nanoseconds.
    var latency = Histogram(LoadState.scale)
    var service = Histogram(LoadState.scale)
    var lag = Histogram(LoadState.scale)
    /// Latency of those with another answer.
    var failed = Histogram(LoadState.scale)

    /// How long requests that were due could not be sent, by obstacle; of all threads.
    var blockedNs = [UInt64](repeating: 0, count: Obstacle.allCases.count)
    /// Time of processors used by the threads.
    var processorNs: UInt64 = 0
    /// The largest shares of its time that any thread spent on a processor, and waiting for one.
    var threadBusyShareMax = 0.0
    var threadWaitShareMax = 0.0
    /// When the first request was due that went out a tenth of a second late; nil: none did.
    var firstLateNs: UInt64?
    /// When the last request went out, since the schedule's start.
    var lastSentNs: UInt64 = 0
}

/// What all processors of this machine have done since it started, in ticks.
struct MachineTime: Sendable {
    private var busy: UInt64
    private var idle: UInt64

    init(busy: UInt64, idle: UInt64) {
        self.busy = busy
        self.idle = idle
    }

    /// Nil where `/proc/stat` cannot be read.
    static func now() -> MachineTime? { MachineTime(line: firstLine(of: "/proc/stat")) }

    /// Reads "cpu  user nice system idle iowait irq softirq steal …".
    init?(line: String) {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\n" })
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        guard words.first == "cpu", numbers.count >= 8 else { return nil }
        idle = numbers[3] + numbers[4]
        busy = numbers[..<8].reduce(0, +) - idle
    }

    /// Nil when no tick has passed.
    func busyShare(since earlier: MachineTime) -> Double? {
        let busy = busy - min(busy, earlier.busy)
        let idle = idle - min(idle, earlier.idle)
        guard busy + idle > 0 else { return nil }
        return Double(busy) / Double(busy + idle)
    }
}

/// What this thread has spent on a processor, and waiting for one that others had.
struct ThreadTime {
    let ranNs: UInt64
    /// 0 where the kernel does not say.
    let waitedNs: UInt64

    static func now() -> ThreadTime {
        // "ran waited slices", in nanoseconds but for the last.
        let words = firstLine(of: "/proc/thread-self/schedstat").split(separator: " ")
        return ThreadTime(
            ranNs: clockNs(CLOCK_THREAD_CPUTIME_ID),
            waitedNs: words.count < 2 ? 0 : UInt64(words[1]) ?? 0)
    }
}

/// Empty where the file cannot be read.
private func firstLine(of path: String) -> String {
    guard let file = fopen(path, "re") else { return "" }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, Int32(line.count), file) != nil else { return "" }
    return String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// What a clock of the system shows.
func clockNs(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
