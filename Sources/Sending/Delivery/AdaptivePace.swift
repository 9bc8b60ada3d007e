internal import Glibc

/// What a worker saw since it last looked.
struct PaceObservation {
    /// Requests that were started.
    var sent = 0
    /// Responses of any kind.
    var answers = 0
    /// Of the requests, those that ended with 429, 500 to 599, or no answer in time.
    var troubles = 0
    /// The fastest response; the least of many hardly knows noise, and a queue delays it, too.
    var latencyMinNs = UInt64.max
    /// Whether rows waited because the pace let none start.
    var wasHeldBack = false
}

/// Finds the rate that a server bears, from what its answers look like.
///
/// It starts at 100 requests per second and connection and doubles at fixed intervals. The first
/// sign of trouble ends that: a tenth of the answers are errors that say "later", and the rate is
/// halved; or even the fastest answers come late, so there is a queue, and the rate goes below what
/// the server answers. From there it rises by a hundredth in each tenth of a second, until it has
/// doubled: by then what it knew of the trouble is out of date.
///
/// Time is passed in; there is no clock inside. Rates are per second and connection.
struct AdaptivePace {
    /// The start: advice that is often given for APNs, and that nobody has seen refused.
    static let gentleRate = 100.0
    /// The rate never falls below this.
    static let floorRate = 10.0
    /// Above this nothing holds a connection back.
    static let rateMax = 1e6
    /// Rows of a run that may start without any pace, so that small campaigns end at once.
    static let headRows = 100
    /// The ramp takes the gentle rate eight times doubled, to all that one connection can carry.
    static let rampDoublings = 8.0

    /// Ticks that are looked at for late answers, and the latest of them for errors.
    private static let recentMax = 5
    private static let latestMax = 3
    private static let errorRestNs: UInt64 = 500_000_000
    private static let queueRestNs: UInt64 = 1_000_000_000
    private static let quietWindowNs: UInt64 = 15_000_000_000
    /// How much later than five quarters of the best the fastest answer may come.
    private static let latencySlackNs: UInt64 = 50_000_000

    private struct Sample {
        var seen: PaceObservation
        var seconds: Double
    }

    private(set) var perConnection = gentleRate
    private(set) var connections = 1
    private let doublingSeconds: Double
    /// Where the careful rise began; nil while the rate doubles.
    private var careFrom: Double?
    private var recent: [Sample] = []
    /// Until when the rate stays as it is, but for errors; and for errors, too.
    private var restUntilNs: UInt64 = 0
    private var errorRestUntilNs: UInt64 = 0
    /// The best latency of this window and of the one before.
    private var quietNs = (now: UInt64.max, before: UInt64.max)
    private var quietWindowEndsNs: UInt64 = 0
    private var queueBackOff: (atNs: UInt64, latencyNs: UInt64)?

    /// - Parameter rampUpMs: milliseconds in which the rate rises 256-fold at the fastest.
    init(rampUpMs: UInt64) {
        doublingSeconds = Double(max(rampUpMs, 1)) / 1000 / Self.rampDoublings
    }

    /// The rate for all connections together.
    var rate: Double { perConnection * Double(connections) }

    /// Takes in what happened during the last `elapsedNs`, and changes the rate.
    ///
    /// - Parameter connections: those that are open now.
    mutating func observe(
        _ seen: PaceObservation, connections: Int, elapsedNs: UInt64, nowNs: UInt64
    ) {
        let seconds = Double(max(elapsedNs, 1)) / 1e9
        recent.append(Sample(seen: seen, seconds: seconds))
        if recent.count > Self.recentMax { recent.removeFirst() }
        noteLatency(seen.latencyMinNs, nowNs: nowNs)
        if errorsAreMany, nowNs >= errorRestUntilNs {
            backOff(to: min(perConnection, recentRate(\.sent)) / 2, nowNs, Self.errorRestNs)
            errorRestUntilNs = restUntilNs
        } else if nowNs >= restUntilNs {
            if isLate(seen.latencyMinNs) {
                if recent.count == Self.recentMax { considerQueue(nowNs) }
            } else if seen.answers > 0, isTheLimit(seen, seconds) {
                rise(seconds: min(seconds, 0.2))
            }
        }
        self.connections = max(connections, 1)
    }

    /// Whether the pace itself holds the rows back: otherwise a higher rate would mean nothing.
    private func isTheLimit(_ seen: PaceObservation, _ seconds: Double) -> Bool {
        seen.wasHeldBack && Double(seen.sent) >= rate * seconds / 4
    }

    private mutating func rise(seconds: Double) {
        var next = perConnection * exp2(seconds / doublingSeconds)
        if let start = careFrom {
            let step = max(start / 10, Self.floorRate) * seconds
            next = min(next, perConnection + step)
            if next >= 2 * start { careFrom = nil }
        }
        perConnection = min(next, Self.rateMax)
    }

    private mutating func backOff(to target: Double, _ nowNs: UInt64, _ restNs: UInt64) {
        perConnection = max(min(target, perConnection), Self.floorRate)
        careFrom = perConnection
        // Answers to what is under way by now still speak of the old rate.
        let latencyNs = recentLatencyNs == .max ? 0 : recentLatencyNs
        restUntilNs = nowNs + max(restNs, 2 * min(latencyNs, 5_000_000_000))
        recent = []
    }

    // MARK: Signs of trouble

    /// Single errors are about single rows; it takes three, and a tenth of the answers.
    private var errorsAreMany: Bool {
        let latest = recent.suffix(Self.latestMax)
        let troubles = latest.reduce(0) { $0 + $1.seen.troubles }
        let answers = latest.reduce(0) { $0 + max($1.seen.answers, $1.seen.troubles) }
        return troubles >= 3 && troubles * 10 >= answers
    }

    private func recentRate(_ count: KeyPath<PaceObservation, Int>) -> Double {
        let seconds = recent.reduce(0) { $0 + $1.seconds }
        let total = recent.reduce(0) { $0 + $1.seen[keyPath: count] }
        return Double(total) / seconds / Double(connections)
    }

    private var recentLatencyNs: UInt64 {
        recent.reduce(.max) { min($0, $1.seen.latencyMinNs) }
    }

    private mutating func noteLatency(_ latencyNs: UInt64, nowNs: UInt64) {
        if nowNs >= quietWindowEndsNs {
            quietWindowEndsNs = nowNs + Self.quietWindowNs
            quietNs = (.max, quietNs.now)
        }
        quietNs.now = min(quietNs.now, latencyNs)
    }

    private func isLate(_ latencyNs: UInt64) -> Bool {
        let bestNs = min(quietNs.now, quietNs.before)
        guard latencyNs < .max, bestNs < .max else { return false }
        return latencyNs > bestNs / 4 * 5 + Self.latencySlackNs
    }

    /// The latest answers are late. When all of the recent ones are, a queue stands somewhere.
    private mutating func considerQueue(_ nowNs: UInt64) {
        let latencyNs = recentLatencyNs
        guard isLate(latencyNs) else { return }
        let answered = recentRate(\.answers)
        let sent = recentRate(\.sent)
        guard answered < sent * 1.05 else { return }  // it is getting shorter
        if let last = queueBackOff, nowNs - min(nowNs, last.atNs) < 3 * Self.queueRestNs,
            latencyNs >= last.latencyNs / 10 * 9
        {
            // We sent less and it did not help: the way has become longer, it is no queue of ours.
            quietNs = (latencyNs, latencyNs)
            queueBackOff = nil
            careFrom = nil
            return
        }
        queueBackOff = (nowNs, latencyNs)
        backOff(to: answered * 0.85, nowNs, Self.queueRestNs)
    }
}
