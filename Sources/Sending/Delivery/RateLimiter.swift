/// A token bucket in nanoseconds: it allows `perSecond` requests, evenly, with bursts of at most 2
/// ms.
///
/// It keeps only the time at which the next request is due (the "generic cell rate algorithm").
/// Time is passed in, so tests move it by hand.
struct RateLimiter {
    /// How far a late caller may catch up. More would burst, less would lose rate to timer ticks of
    /// 1 ms.
    static let burstNs: Double = 2_000_000

    private var intervalNs: Double
    private var nextNs: Double = 0
    /// Requests that may still start before the rate counts.
    private var head: Int

    /// - Parameters:
    ///   - perSecond: requests per second; 0 means no limit.
    ///   - head: the first so many start at once.
    init(perSecond: Double, head: Int = 0) {
        self.head = head
        intervalNs = perSecond > 0 ? 1e9 / perSecond : 0
    }

    var isUnlimited: Bool { intervalNs == 0 }

    /// Changes the rate; what was saved up for the old one is kept as time, not as requests.
    mutating func setRate(perSecond: Double) {
        intervalNs = perSecond > 0 ? 1e9 / perSecond : 0
    }

    /// Whether a request may start at `nowNs`.
    func allows(nowNs: UInt64) -> Bool {
        isUnlimited || head > 0 || nextNs <= Double(nowNs)
    }

    /// Counts one request that starts at `nowNs`.
    mutating func take(nowNs: UInt64) {
        guard !isUnlimited else { return }
        if head > 0 {
            head -= 1
            return
        }
        nextNs = max(nextNs, Double(nowNs) - Self.burstNs) + intervalNs
    }

    /// How long after `nowNs` the next request may start.
    func waitNs(nowNs: UInt64) -> UInt64 {
        allows(nowNs: nowNs) ? 0 : UInt64(nextNs - Double(nowNs)) + 1
    }
}
