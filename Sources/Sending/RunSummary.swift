package import APNS

/// How a run ended: everything that `summary.json` and the summary on the terminal say.
///
/// Rows, outcomes and reasons are exact; they come from the ledger. The others are sums of what the
/// workers counted.
package struct RunSummary: Sendable {
    /// The campaign's name.
    package var name: String
    /// The run folder, as the user can type it.
    package var runDirectory: String
    /// Records handed out.
    package var rows: UInt64 = 0
    /// Final rows by outcome, in the order in which they are shown.
    package var outcomes: [(Outcome, UInt64)] = []
    /// Final rows by final code; accepted rows need not be listed.
    package var reasons: [(FinalCode, UInt64)] = []
    /// Rows without a final outcome whose request was sent and not answered: nobody knows whether
    /// APNs accepted them. Part of the rows that are still open.
    package var inDoubt: UInt64 = 0
    /// Answers that were retried, by the code that each would have had as a final answer.
    package var retriedReasons: [(FinalCode, UInt64)] = []
    /// Requests that were answered, timed out or were lost after their headers were written.
    package var attempts: UInt64 = 0
    /// Attempts after a row's first.
    package var retries: UInt64 = 0
    /// How often the run was resumed.
    package var resumes: UInt64 = 0
    /// Seconds from the first start to the end, by the monotonic clock, pauses left out.
    package var seconds: Double = 0
    /// Accepted notifications by second of the run.
    package var acceptedPerSecond: Double = 0
    package var latencyMilliseconds = LatencyMilliseconds()
    package var connections = ConnectionCounts()
    /// Bytes written to sockets, TLS included.
    package var bytesSent: UInt64 = 0
    /// Whether every row has a final outcome.
    package var completed = false
    /// Whether the input was read to its end. If it was standard input and was not, going on needs
    /// it once more.
    package var inputHasEnded = false
    /// Why the run stopped before its end, as a sentence for people; nil when it completed.
    package var stoppedBecause: String?
    /// The status that `peal send` ends with: 0, 1, 3 or 130.
    package var exitStatus: Int32 = 0

    package init(name: String, runDirectory: String) {
        self.name = name
        self.runDirectory = runDirectory
    }

    /// The rows that ended with `outcome`.
    package func count(of outcome: Outcome) -> UInt64 {
        outcomes.reduce(0) { $1.0 == outcome ? $0 + $1.1 : $0 }
    }
}

/// Time from a request's first byte to its answer, in milliseconds, of answered requests.
package struct LatencyMilliseconds: Sendable {
    package var p50 = 0.0
    package var p90 = 0.0
    package var p99 = 0.0
    package var p999 = 0.0
    package var max = 0.0

    package init() {}
}

/// What became of a run's connections.
package struct ConnectionCounts: Sendable {
    /// Connections that were opened.
    package var opened: UInt64 = 0
    /// Of those, how many the server ended politely (GOAWAY).
    package var goaway: UInt64 = 0
    /// Of those, how many ended without a word.
    package var lost: UInt64 = 0

    package init() {}
}
