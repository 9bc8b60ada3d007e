internal import TLS
internal import Transport

extension ConnectionFailure {
    /// Whether trying again cannot help: somebody has to change something first.
    var isPermanent: Bool {
        switch self {
        case .tls(let error): error.isVerification
        case .noHTTP2: true
        default: false
        }
    }
}

/// What a worker remembers of connections that led to no answer, and what it does about them.
///
/// A server that has answered this run will be back: its outage is waited for, with attempts so
/// close that hardly any time is lost once it is over. One that never answered is given up soon,
/// because then something is set wrong.
///
/// Time is passed in; there is no clock inside.
struct ConnectFailures {
    /// How a connection disappointed.
    enum Kind {
        /// It could not be had, or ended before its first answer.
        case noAnswer
        /// As before, and another attempt cannot end otherwise.
        case hopeless
        /// It refused every request without looking at it.
        case refused
        /// It answered all requests with server errors.
        case serverErrors
    }

    enum Verdict: Equatable {
        /// The next attempt may start after so long.
        case again(waitNs: UInt64)
        /// There was no answer since then; nil: there never was one, or answers are no question.
        case giveUp(sinceNs: UInt64?)
    }

    /// A server that never answered is given up after this many attempts in a row,
    static let firstAttemptsMax = 3
    /// and one that did, after this long without an answer to any worker: longer than a deployment,
    /// a failover or a reboot takes.
    static let outageNsMax: UInt64 = 900_000_000_000
    /// Connections in a row that refuse all requests; answers that spend no attempt need an end.
    static let refusedInARowMax = 3
    /// The bound of the first wait; it doubles with each failure up to the last one. The last one
    /// is what an outage costs beyond itself, at most: on average half of it.
    static let firstWaitMs: UInt64 = 200
    static let waitMsMax: UInt64 = 2_000

    private(set) var inARow = 0
    private var sinceNs: UInt64 = 0
    private var refusedInARow = 0
    private var refusedSinceNs: UInt64 = 0
    private var latestID: Int32 = 0
    /// Before this no connection is opened.
    private(set) var nextAttemptNs: UInt64 = 0

    /// Counts connection `id` as a failure.
    ///
    /// - Parameter lastAnswerNs: when any worker last had an answer; 0: none ever had.
    mutating func count(
        _ id: Int32, _ kind: Kind, nowNs: UInt64, lastAnswerNs: UInt64,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        if inARow == 0 { sinceNs = nowNs }
        inARow += 1
        latestID = max(latestID, id)
        noteRefusal(kind == .refused, nowNs: nowNs, lastAnswerNs: lastAnswerNs)
        if refusedInARow >= Self.refusedInARowMax { return .giveUp(sinceNs: nil) }
        if lastAnswerNs == 0 {
            if kind == .hopeless || inARow >= Self.firstAttemptsMax { return .giveUp(sinceNs: nil) }
        }
        // Another worker's answers count, too: then the server is there.
        let quietSinceNs = max(sinceNs, lastAnswerNs)
        if nowNs - min(nowNs, quietSinceNs) > Self.outageNsMax {
            return .giveUp(sinceNs: quietSinceNs)
        }
        // Full jitter: all of the time up to the bound, so that many senders spread over it.
        let boundMs = min(Self.firstWaitMs << UInt64(min(inARow - 1, 16)), Self.waitMsMax)
        let waitNs = UInt64.random(in: 0...boundMs * 1_000_000, using: &generator)
        wait(untilNs: nowNs + waitNs)
        return .again(waitNs: waitNs)
    }

    /// Lets no connection be opened before `untilNs`.
    mutating func wait(untilNs: UInt64) { nextAttemptNs = max(nextAttemptNs, untilNs) }

    /// An older connection that goes on answering does not make the next attempt more promising:
    /// only a newer one ends the row. Otherwise attempts beside a busy connection would know no
    /// backoff.
    mutating func connectionAnswered(_ id: Int32) {
        if id > latestID { inARow = 0 }
    }

    private mutating func noteRefusal(_ isOne: Bool, nowNs: UInt64, lastAnswerNs: UInt64) {
        if !isOne || lastAnswerNs > refusedSinceNs { refusedInARow = 0 }
        guard isOne else { return }
        if refusedInARow == 0 { refusedSinceNs = nowNs }
        refusedInARow += 1
    }
}
