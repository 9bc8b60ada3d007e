package import Measure

/// What a load test has measured, and how it ended.
package struct LoadSummary: Sendable {
    /// Requests that were not answered with 200, for one reason.
    package struct Failure: Sendable, Equatable {
        /// 0: there was no answer.
        package let status: Int
        /// APNs' word for it, or Peal's; empty when the answer had none that is known.
        package let reason: String
        package let count: UInt64
    }

    /// How the test ended.
    package enum End: Sendable, Equatable {
        /// The schedule went to its end.
        case completed
        case interrupted
        /// Why it could not go on.
        case failed(String)
    }

    package let options: LoadOptions
    package let end: End
    /// How much of the schedule's time has passed.
    package let elapsedNs: UInt64
    /// From the start to the schedule's end, or to the last request if that went out later by
    /// more than a tenth of a second.
    package let seconds: Double
    /// The schedule's rate at the first request that went out more than a tenth of a second late;
    /// nil when none did.
    package let rateBeforeLate: Double?
    /// Requests that were due in that time; of those, the ones that went out.
    package let planned: UInt64
    package let sent: UInt64
    /// Requests that were answered with 200; with something else or not at all.
    package let accepted: UInt64
    package let failed: UInt64
    /// Why they failed, most frequent first.
    package let failures: [Failure]
    /// Requests that went again, because the server had certainly not looked at them.
    package let again: UInt64
    /// Requests that opened connections, which count nowhere else.
    package let warmUps: UInt64
    package let connectionsOpened: UInt64
    package let connectionsGoAway: UInt64
    package let connectionsLost: UInt64
    package let bytesSent: UInt64

    // In nanoseconds.
    /// From the planned time to the answer, of requests that were answered with 200.
    package let latency: Histogram
    /// From the hand-over to the connection to the answer, of the same requests.
    package let service: Histogram
    /// From the planned time to the hand-over, of the same requests.
    package let lag: Histogram
    /// From the planned time to the answer, of those with another answer.
    package let failedLatency: Histogram

    /// Streams that a connection could have open at a time when none was free; 0: one always was.
    package let streamsAllowed: UInt64
    /// How long requests that were due could not be sent, by `Obstacle`; summed over the threads.
    package let blockedSeconds: [Double]
    /// Time of processors that the sending threads used.
    package let processorSeconds: Double
    /// The largest shares of its time that a thread spent on a processor, and waiting for one.
    package let threadBusyShare: Double
    package let threadWaitShare: Double
    /// The share of this machine's processors that was busy; nil when the system does not say.
    package let machineBusyShare: Double?

    /// Requests whose time came and that never went out.
    package var notSent: UInt64 { planned - min(planned, sent) }

    /// The schedule's rate, on average over the time that passed.
    package var askedPerSecond: Double {
        elapsedNs == 0 ? 0 : Double(planned) / (Double(elapsedNs) / 1e9)
    }

    /// Requests answered with 200 per second.
    package var achievedPerSecond: Double { seconds > 0 ? Double(accepted) / seconds : 0 }

    /// Whether the server took what was asked for, but for one in a hundred.
    package var isRateReached: Bool {
        planned > 0 && achievedPerSecond >= askedPerSecond * Self.reachedShareMin
    }

    /// What counts as reached: a server may fail now and then.
    package static let reachedShareMin = 0.99
    /// A request that goes out so late does not make the test longer: a busy machine is late by
    /// milliseconds at any time, also at the end.
    static let latenessNs: UInt64 = 100_000_000
}
