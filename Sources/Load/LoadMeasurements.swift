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
    /// Time of processors used by the threads, and the largest share of one that any thread used.
    var processorNs: UInt64 = 0
    var threadBusyShareMax = 0.0
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
    static func now() -> MachineTime? {
        guard let file = fopen("/proc/stat", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        let text = String(
            decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return MachineTime(line: text)
    }

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

/// What a clock of the system shows.
func clockNs(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// The loops' clock, for threads without a loop.
func monotonicNowNs() -> UInt64 { clockNs(CLOCK_MONOTONIC) }
