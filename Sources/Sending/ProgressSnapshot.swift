package import APNS

/// Where a run stands at one moment: the numbers that a progress line shows.
///
/// *Thread*: a plain value, taken on any thread.
package struct ProgressSnapshot: Sendable {
    /// Records handed to the workers so far.
    package var rowsRead: UInt64 = 0
    /// Rows that APNs answered with 200.
    package var accepted: UInt64 = 0
    /// Rows that are final and were not accepted, held out, suppressed or found twice.
    package var failed: UInt64 = 0
    /// Rows that have no final outcome yet.
    package var open: UInt64 = 0
    /// Final rows by outcome; outcomes without a row may be absent.
    package var outcomes: [Outcome: UInt64] = [:]
    /// The part of the input that was read, 0…1; nil when the input's size is unknown (a pipe).
    package var fractionRead: Double?
    /// Seconds since the run started, by the monotonic clock.
    package var seconds: Double = 0
    /// What the run is waiting for, as the end of "waiting for …" ("a connection to
    /// 127.0.0.1:2197"); nil while rows flow.
    package var waitingFor: String?
    /// What has held rows back so far.
    package var heldBack = HeldBack()

    package init() {}
}

/// How long rows were held back by what, in tenths of a second, summed over the workers. The
/// difference of two snapshots tells what the limit is now.
package struct HeldBack: Sendable, Equatable {
    /// The windows of all connections: bytes that the server takes in one round trip.
    package var window: UInt64 = 0
    /// The server's stream limit on all connections.
    package var streams: UInt64 = 0
    /// The rate asked for, or the pace found.
    package var rate: UInt64 = 0
    /// Nothing was there to send.
    package var input: UInt64 = 0

    package init() {}
}
