/// What happens to a row after a failure that may pass: the one table of these rules, as pure code.
///
/// | failure | in the slot | then |
/// | --- | --- | --- |
/// | 429 | four answers, random waits up to 1, 2, 4 s | passes 1–4, one attempt each |
/// | 5xx | `attempts`, waits as `serverErrorDelay` says | the second pass, `attempts` anew |
/// | no answer, IdleTimeout | `attempts`, random waits that double from ¼ s | nothing |
///
/// Then it is exhausted. `Retry-After` makes a wait longer. Up to 30 s a row waits in its slot; for
/// longer, in the ledger, and a later pass reads it again from the file. The passes of a row only
/// go up, so they end: 1, 2, 3, 4, second.
struct RetryRules: Sendable {
    /// In which reading of the input a row is sent, by the ledger byte in which it waited for it.
    enum Pass: UInt8, Sendable, CaseIterable {
        case first = 0
        /// For rows that were in doubt once: they keep that byte while they wait, so that
        /// nobody who wants at most one sending ever takes them for not sent.
        case inDoubt = 1
        case second = 3
        case later1 = 5
        case later2, later3, later4

        var mask: UInt16 { 1 << UInt16(rawValue) }
        /// The passes behind the first.
        static let later = allCases.filter { $0 != .first }
    }

    /// What went wrong.
    enum Failure: Sendable, Equatable {
        case tooManyRequests, serverError, noAnswer

        init(status: UInt16) {
            switch status {
            case 429: self = .tooManyRequests
            case 500...599: self = .serverError
            default: self = .noAnswer
            }
        }
    }

    enum Decision: Equatable {
        /// The row stays in its slot.
        case wait(ns: UInt64)
        /// The row waits in the ledger, at least so long.
        case later(Pass, ns: UInt64)
        case exhausted
    }

    /// What the rules must know of a row.
    struct Row {
        var pass = Pass.first
        /// Attempts in this pass, the one that failed included; of them, those answered with 429.
        var attempts = 1
        var tooManyRequests = 0
        var isInDoubt = false
    }

    /// Answers of 429 after which a row leaves its slot.
    static let tooManyRequestsInSlotMax = 4
    /// Longer waits hold no slot.
    static let slotWaitSecondsMax: UInt64 = 30
    /// More than this is not believed of a `Retry-After`.
    static let retryAfterSecondsMax: UInt64 = 3600
    /// How long the first to fourth later pass waits.
    private static let laterSeconds: [UInt64] = [60, 120, 240, 480]

    let attempts: Int
    let serverErrorDelaySeconds: ClosedRange<Double>
    let secondPassNs: UInt64?
    /// Whether the input can be read again; otherwise no row waits for a later pass.
    var hasLaterPasses = true
    /// What a second is where the table says seconds; tests make it short.
    var secondNs: UInt64 = 1_000_000_000

    /// - Parameters:
    ///   - retryAfterSeconds: the answer's; negative: none.
    ///   - random: 0 to 1, the lot that spreads rows over their wait.
    func decide(
        _ failure: Failure, of row: Row, retryAfterSeconds: Int, random: Double
    ) -> Decision {
        let askedSeconds = min(UInt64(max(0, retryAfterSeconds)), Self.retryAfterSecondsMax)
        let isLong = askedSeconds > Self.slotWaitSecondsMax
        let askedNs = askedSeconds * secondNs
        switch failure {
        case .tooManyRequests:
            let answersMax = isOneAttempt(row.pass) ? 1 : Self.tooManyRequestsInSlotMax
            guard row.tooManyRequests < answersMax, !isLong else {
                return nextLater(row, atLeastNs: askedNs)
            }
            let boundNs = Double(secondNs << UInt64(max(0, row.tooManyRequests - 1)))
            return .wait(ns: max(UInt64(boundNs * random), askedNs))
        case .serverError:
            guard row.attempts - row.tooManyRequests < attempts else {
                return second(row, atLeastNs: askedNs)
            }
            guard !isLong else { return nextLater(row, atLeastNs: askedNs) }
            let range = serverErrorDelaySeconds
            let seconds = range.lowerBound + (range.upperBound - range.lowerBound) * random
            return .wait(ns: max(UInt64(seconds * 1e9), askedNs))
        case .noAnswer:
            guard row.attempts - row.tooManyRequests < attempts else { return .exhausted }
            let boundMs = min(250 << UInt64(min(row.attempts, 16)), 30_000)
            return .wait(ns: UInt64(Double(boundMs) * (0.25 + 0.75 * random) * 1e6))
        }
    }

    /// Attempts that rows of a pass have behind them, as the table says.
    func attemptsBefore(_ pass: Pass) -> Int {
        switch pass {
        case .first, .inDoubt: 0
        case .second: attempts
        case .later1, .later2, .later3, .later4:
            Self.tooManyRequestsInSlotMax + Int(pass.rawValue - Pass.later1.rawValue)
        }
    }

    private func isOneAttempt(_ pass: Pass) -> Bool {
        Pass.later1.rawValue...Pass.later4.rawValue ~= pass.rawValue
    }

    private func nextLater(_ row: Row, atLeastNs: UInt64) -> Decision {
        let next: Pass? =
            switch row.pass {
            case .first: .later1
            case .later1: .later2
            case .later2: .later3
            case .later3: .later4
            case .later4, .second, .inDoubt: nil
            }
        guard hasLaterPasses, let next else { return .exhausted }
        let seconds = Self.laterSeconds[Int(next.rawValue - Pass.later1.rawValue)]
        return later(next, row, ns: max(seconds * secondNs, atLeastNs))
    }

    private func second(_ row: Row, atLeastNs: UInt64) -> Decision {
        guard hasLaterPasses, let secondPassNs, row.pass != .second, row.pass != .inDoubt else {
            return .exhausted
        }
        return later(.second, row, ns: max(secondPassNs, atLeastNs))
    }

    /// A row in doubt has one later pass, because its byte has no room to say which.
    private func later(_ pass: Pass, _ row: Row, ns: UInt64) -> Decision {
        .later(row.isInDoubt ? .inDoubt : pass, ns: ns)
    }
}
