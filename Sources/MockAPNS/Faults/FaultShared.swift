internal import APNS
internal import Crypto

/// What the faults of all workers have in common.
struct FaultShared: Sendable {
    let plan: FaultPlan
    /// Given, or drawn; it is told, so that a run can be repeated.
    let seed: UInt64
    let startNs: UInt64
    /// By the rule's index; nil for rules without a rate.
    let rates: [RateTable?]

    init(plan: FaultPlan, seed: UInt64?, startNs: UInt64) {
        self.plan = plan
        self.startNs = startNs
        // Short enough to be typed.
        self.seed = seed ?? randomBytes(4).reduce(0) { $0 << 8 | UInt64($1) }
        rates = plan.rules.map { rule in
            switch rule.action {
            case .tokenRate(let rate): RateTable(perSecond: rate, placeCount: 65_536)
            case .connectionRate(let rate): RateTable(perSecond: rate, placeCount: 1)
            default: nil
            }
        }
    }
}

/// One worker's faults: decides which strike, in the order of the rules.
///
/// *Thread*: the worker's. Decisions depend on the seed, the worker's index, and the order of its
/// requests and connections; with several threads the system decides which connection comes to
/// which.
final class WorkerFaults {
    private struct State {
        var random: FaultRandom
        var matched: UInt64 = 0
        var fired: UInt64 = 0
    }

    let rules: [FaultRule]
    private let shared: FaultShared
    private let counters: MockCounters
    private var states: [State]

    init?(shared: FaultShared, worker: Int, counters: MockCounters) {
        guard !shared.plan.isEmpty else { return nil }
        self.shared = shared
        self.counters = counters
        rules = shared.plan.rules
        states = rules.indices.map {
            State(random: FaultRandom(seed: shared.seed, worker: worker, rule: $0))
        }
    }

    /// Whether the rule strikes now; if so it is counted.
    ///
    /// `token` is empty for a connection.
    func strikes(_ index: Int, token: UnsafeRawBufferPointer, nowNs: UInt64) -> Bool {
        let trigger = rules[index].trigger
        guard trigger.admits(nowNs: nowNs - shared.startNs, token: token),
            isAboveRate(index, token, nowNs)
        else { return false }
        states[index].matched += 1
        guard states[index].matched % trigger.every == 0, states[index].fired < trigger.times
        else { return false }
        // Drawn only where it decides, so that the numbers do not depend on other triggers.
        if trigger.probability < 1, states[index].random.fraction() >= trigger.probability {
            return false
        }
        states[index].fired += 1
        counters.add(to: rules[index].action.kind)
        return true
    }

    /// A delay of the rule's own random numbers.
    func draw(_ delay: FaultDelay, for index: Int) -> UInt64 {
        states[index].random.nanoseconds(delay)
    }

    /// When the rule's time begins, by the loop's clock.
    func beginNs(_ index: Int) -> UInt64 {
        shared.startNs + rules[index].trigger.fromNs
    }

    private func isAboveRate(
        _ index: Int, _ token: UnsafeRawBufferPointer, _ nowNs: UInt64
    ) -> Bool {
        guard let rate = shared.rates[index] else { return true }
        return rate.isTooMuch(TokenDigest.fnv1a64(token), nowNs: nowNs)
    }
}

/// What the faults of accepted sockets come to.
struct AcceptFaults {
    var isReset = false
    var isClosed = false
    var closesAfterTLS = false
    var handshakeDelayNs: UInt64 = 0
    var roundTripNs: UInt64 = 0
}

extension WorkerFaults {
    /// Asks the rules that concern a socket that was just accepted.
    func judgeSocket(nowNs: UInt64) -> AcceptFaults {
        var result = AcceptFaults()
        let noToken = UnsafeRawBufferPointer(start: nil, count: 0)
        for (index, rule) in rules.enumerated()
        where rule.action.kind.row.moment == .connection
            && strikes(index, token: noToken, nowNs: nowNs)
        {
            switch rule.action {
            case .connectionRate: result.isReset = true
            case .hangUp(let afterTLS):
                if afterTLS { result.closesAfterTLS = true } else { result.isClosed = true }
            case .slowHandshake(let ns): result.handshakeDelayNs += ns
            case .roundTrip(let ns): result.roundTripNs += ns
            default: break
            }
        }
        return result
    }
}
