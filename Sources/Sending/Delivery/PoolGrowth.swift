/// Decides when a worker's pool gets one more connection.
///
/// A connection carries no more than its window or its streams allow in one round trip; when those
/// of all are used up while rows wait and no rate holds them back, another connection carries more.
/// That has to go on for a second or so, and answers have to come. When the last connection that
/// was added has brought nothing, the server itself is the limit, and more would only make its
/// queue longer: growth rests for a while.
///
/// Time is passed in; there is no clock inside.
struct PoolGrowth {
    /// What holds rows back.
    enum Limit {
        /// The server's connection windows, or its stream limits, on every connection.
        case window, streams
        /// The rate asked for, or the pace found.
        case rate
        /// Nothing is there to send.
        case input
        case other
    }

    /// Connections of a run that may become of a number that nobody asked for.
    static let connectionsMax = 32
    /// Looks that must find all connections used up, at ten a second; one that does not takes three
    /// of them away.
    static let boundLooks = 10
    static let otherLookCost = 3
    /// How long after an addition the next one comes at the earliest.
    static let pauseNs: UInt64 = 1_000_000_000
    /// How long growth rests after an addition that was of no use.
    static let restNs: UInt64 = 60_000_000_000

    /// Connections added so far.
    private(set) var added = 0
    private let addedMax: Int
    private var bound: (looks: Int, sinceNs: UInt64, answers: UInt64)?
    private var earliestNs: UInt64 = 0
    /// Answers per second before the latest addition.
    private var rateBefore: Double?

    init(addedMax: Int) { self.addedMax = addedMax }

    /// Looks at what holds rows back now, about ten times a second.
    ///
    /// - Parameters:
    ///   - answers: all that have come so far.
    ///   - connections: those that are open now.
    /// - Returns: whether the pool has just grown.
    mutating func observe(
        _ limit: Limit, answers: UInt64, connections: Int, nowNs: UInt64
    ) -> Bool {
        guard added < addedMax else { return false }
        guard limit == .window || limit == .streams else {
            bound?.looks -= Self.otherLookCost
            if let looks = bound?.looks, looks <= 0 { bound = nil }
            return false
        }
        var bound = bound ?? (0, nowNs, answers)
        bound.looks += 1
        self.bound = bound
        guard bound.looks > Self.boundLooks, nowNs >= earliestNs else { return false }
        self.bound = (1, nowNs, answers)
        let elapsedNs = max(nowNs - min(nowNs, bound.sinceNs), 1)
        let rate = Double(answers &- bound.answers) / (Double(elapsedNs) / 1e9)
        guard rate > 0 else { return false }
        // Of what one more of so many should bring, a quarter is enough.
        if let rateBefore, rate < rateBefore * (1 + 0.25 / Double(max(connections, 1))) {
            self.rateBefore = nil
            earliestNs = nowNs + Self.restNs
            return false
        }
        rateBefore = rate
        earliestNs = nowNs + Self.pauseNs
        added += 1
        return true
    }
}
