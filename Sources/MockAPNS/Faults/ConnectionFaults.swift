internal import HTTP2

/// What faults have made of one connection. *Thread*: its worker's.
struct ConnectionFaults {
    /// Ends as soon as TLS is done.
    var closesAfterTLS = false
    /// What the connection's distance adds to a round trip.
    var roundTripNs: UInt64 = 0
    /// Nothing is answered any more, because of this fault.
    var mutedBy: FaultKind?
    /// Every request is answered so.
    var stuck: FaultAnswer?
    /// The highest stream that was processed.
    var lastStream: Int32 = 0
    /// No stream above this is processed: a GOAWAY has said so, or is about to.
    var lastAllowed = Int32.max
    /// A GOAWAY that waits until so many requests were left unprocessed.
    var goAway: FaultGoAway?
    var unprocessedLeft = 0
}
