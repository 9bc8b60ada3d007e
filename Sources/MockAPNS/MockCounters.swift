internal import Measure

/// What one worker has counted. The worker writes, anybody reads: plain loads and stores that cost
/// nothing extra, and no lock per request.
///
/// *Thread:* `add` on the worker's thread only; `value` on any. Sums over workers are no snapshot
/// of one instant, but each counter is exact for every request whose answer has been received.
final class MockCounters: Sendable {
    enum Counter: Int, CaseIterable {
        /// Requests to the provider API, accepted or refused.
        case requests
        /// Requests that were answered 200.
        case accepted
        /// The wrapping sum of the hashes of the accepted requests' tokens.
        case digest
        /// Connections whose TLS handshake was done.
        case connectionsOpened
        /// Connections that were closed after their handshake.
        case connectionsClosed
        /// Connections that ended before their handshake was done: most often clients that do not
        /// trust `ca.pem`.
        case handshakesFailed
        /// Sockets that were closed at once because the worker had as many as it may have.
        case connectionsRefused
        /// Answers that a fault wanted to delay, and that were given at once because too many wait.
        case delaysRefused
    }

    /// One cell per counter, reason and kind of fault.
    private let slab = CounterSlab(
        count: Counter.allCases.count + GatewayReason.allCases.count + FaultKind.allCases.count)
    private static let reasonsStart = Counter.allCases.count
    private static let faultsStart = reasonsStart + GatewayReason.allCases.count

    func add(_ amount: UInt64 = 1, to counter: Counter) { slab.add(amount, at: counter.rawValue) }

    func add(to reason: GatewayReason) { slab.add(1, at: Self.reasonsStart + reason.rawValue) }

    func add(to fault: FaultKind) { slab.add(1, at: Self.faultsStart + fault.rawValue) }

    func value(of counter: Counter) -> UInt64 { slab[counter.rawValue] }

    func value(of reason: GatewayReason) -> UInt64 { slab[Self.reasonsStart + reason.rawValue] }

    func value(of fault: FaultKind) -> UInt64 { slab[Self.faultsStart + fault.rawValue] }
}
