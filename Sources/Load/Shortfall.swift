/// The most likely reason why a rate was not reached.
package enum Shortfall: String, Sendable {
    case streams, window, socket, connection
    /// The processors of this machine are the limit.
    case processor
    /// The server answers with errors.
    case serverErrors
    /// The server does not answer, or breaks connections off.
    case noAnswers

    /// A thread that uses so much of a processor has no time to spare,
    private static let threadBusyShareMax = 0.9
    /// and one that waits so long for a processor finds them taken, as a server beside it does.
    private static let threadWaitShareMax = 0.2

    /// What was measured, as far as it tells of the reason.
    struct Evidence {
        /// Requests that were not answered with 200, for whatever reason.
        var missing: UInt64 = 0
        /// Of those, the ones that went out and failed; of those, the ones without any answer.
        var failed: UInt64 = 0
        var unanswered: UInt64 = 0
        var threadBusyShare = 0.0
        var threadWaitShare = 0.0
        /// By `Obstacle`.
        var blockedSeconds: [Double] = Obstacle.allCases.map { _ in 0 }
    }

    init(_ evidence: Evidence) {
        if evidence.failed > 0, evidence.failed * 2 >= evidence.missing {
            self = evidence.unanswered * 2 > evidence.failed ? .noAnswers : .serverErrors
            return
        }
        let worst = Obstacle.allCases.max {
            evidence.blockedSeconds[$0.rawValue] < evidence.blockedSeconds[$1.rawValue]
        }
        guard evidence.threadBusyShare < Self.threadBusyShareMax,
            evidence.threadWaitShare < Self.threadWaitShareMax, let worst,
            evidence.blockedSeconds[worst.rawValue] > 0
        else {
            self = .processor
            return
        }
        switch worst {
        case .streams: self = .streams
        case .window: self = .window
        case .socket: self = .socket
        case .connection: self = .connection
        }
    }
}

extension LoadSummary {
    /// The most likely reason why the rate was not reached; nil when it was, or nothing was sent.
    package var shortfall: Shortfall? {
        guard planned > 0, !isRateReached else { return nil }
        var evidence = Shortfall.Evidence()
        evidence.missing = planned - min(accepted, planned)
        evidence.failed = failed
        evidence.unanswered = failures.reduce(0) { $0 + ($1.status == 0 ? $1.count : 0) }
        evidence.threadBusyShare = threadBusyShare
        evidence.threadWaitShare = threadWaitShare
        evidence.blockedSeconds = blockedSeconds
        return Shortfall(evidence)
    }
}
