internal import APNS
internal import Synchronization
internal import Transport

/// Spaces the openings of connections: `burst` at once, then one in each interval.
///
/// Time is passed in, so tests move it by hand.
struct OpeningGate {
    private let intervalNs: UInt64
    private let burst: UInt64
    private var nextNs: UInt64 = 0

    init(intervalNs: UInt64, burst: UInt64) {
        self.intervalNs = intervalNs
        self.burst = burst
    }

    /// How long an opening has to wait; 0: it may start, and is counted.
    mutating func waitNs(nowNs: UInt64) -> UInt64 {
        guard nextNs <= nowNs else { return nextNs - nowNs }
        let saved = (burst - 1) * intervalNs
        nextNs = max(nextNs, nowNs - min(nowNs, saved)) + intervalNs
        return 0
    }
}

/// What the workers of a run agree on before they open connections: how many in a second, and
/// through which of the server's ports.
///
/// - Thread: any.
final class ConnectionOpenings: Sendable {
    /// Fifty a second in the long run, for any server: a pool is there in no time, and an outage
    /// cannot become a flood of handshakes.
    static let intervalNs: UInt64 = 20_000_000
    static let burst: UInt64 = 50
    /// Apple's hosts see one a second, as its engineers advise.
    static let appleIntervalNs: UInt64 = 1_000_000_000

    private struct State {
        var gate: OpeningGate
        var usesAlternate = false
        var hasFailed = (usual: false, alternate: false)
    }

    private let endpoint: Endpoint
    private let alternate: Endpoint?
    private let state: Mutex<State>

    init(endpoint: Endpoint) {
        self.endpoint = endpoint
        let port =
            endpoint.alternatePort
            ?? APNSHost.otherPort(host: endpoint.host, port: endpoint.port)
        alternate = port.map { Endpoint(host: endpoint.host, port: $0) }
        let isApples = APNSHost.isApples(endpoint.host)
        state = Mutex(
            State(
                gate: isApples
                    ? OpeningGate(intervalNs: Self.appleIntervalNs, burst: 1)
                    : OpeningGate(intervalNs: Self.intervalNs, burst: Self.burst)))
    }

    /// How long an opening has to wait; 0: it may start, and is counted.
    func waitNs(nowNs: UInt64) -> UInt64 { state.withLock { $0.gate.waitNs(nowNs: nowNs) } }

    /// Where the next connection goes.
    var target: Endpoint {
        guard let alternate else { return endpoint }
        return state.withLock { $0.usesAlternate } ? alternate : endpoint
    }

    /// Has the next connection use the other port after `tried` could not be reached. The caller
    /// sees to it that nothing was ever answered: a port that once worked is the right one.
    ///
    /// - Returns: whether the other port may still be the right one.
    func switchPort(from tried: Endpoint) -> Bool {
        guard let alternate else { return false }
        return state.withLock { state in
            if tried.port == alternate.port {
                state.hasFailed.alternate = true
                state.usesAlternate = false
                return !state.hasFailed.usual
            }
            state.hasFailed.usual = true
            state.usesAlternate = true
            return !state.hasFailed.alternate
        }
    }
}
