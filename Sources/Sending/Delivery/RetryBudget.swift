/// How many retries a worker may start: a tenth of the rows that it sends for the first time, and
/// at least its share of ten a second. So a service in trouble is never asked for twice as much.
///
/// When no row is left to be sent for the first time, a retry that is accepted pays for two more:
/// what an outage has left over is sent as fast as the service shows that it is well again, and at
/// ten a second as long as it does not.
///
/// A token bucket; time is passed in.
struct RetryBudget {
    static let perSend = 0.1
    static let perSecond = 10.0

    private let perSecond: Double
    private let most: Double
    private var tokens: Double
    private var countedNs: UInt64

    /// - Parameters:
    ///   - workers: among how many the run's ten a second are shared out.
    ///   - most: what can be saved up at most.
    init(workers: Int, most: Int, nowNs: UInt64) {
        perSecond = Self.perSecond / Double(workers)
        self.most = Double(max(most, 1))
        tokens = perSecond
        countedNs = nowNs
    }

    /// A row was sent that did not come from a retry.
    mutating func countSend() { tokens = min(most, tokens + Self.perSend) }

    /// A retry was accepted, and only retries are left.
    mutating func countAcceptedRetryAtEnd() { tokens = min(most, tokens + 2) }

    /// Takes what one retry costs; false: it has to wait.
    mutating func take(nowNs: UInt64) -> Bool {
        let seconds = Double(nowNs - min(nowNs, countedNs)) / 1e9
        countedNs = max(nowNs, countedNs)
        tokens = min(most, tokens + seconds * perSecond)
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
