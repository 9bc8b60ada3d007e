import TestSupport

@testable import Sending

/// A server that exists only as arithmetic: it answers `capacity` requests per second and keeps the
/// others in a queue. It is asked as fast as an adaptive pace allows, on a clock moved by hand.
struct SimulatedServer {
    var pace: AdaptivePace
    var capacity: Double
    var baseLatencySeconds = 0.02
    let connections: Int
    /// Requests that may be under way; the streams of all connections.
    let inFlightMax: Double
    /// Share of the answers that are 503.
    var troubleShare = 0.0
    /// Added to the fastest answer of a tick.
    var noiseSeconds: () -> Double = { 0 }
    /// Requests per second that there are to send.
    var offered = Double.infinity
    private(set) var sentInTick = 0
    private(set) var nowNs: UInt64 = 1_000_000_000
    private var queue = 0.0
    private var troubles = 0.0

    init(rampUpMs: UInt64 = 2000, capacity: Double, connections: Int = 4) {
        pace = AdaptivePace(rampUpMs: rampUpMs)
        self.capacity = capacity
        self.connections = connections
        inFlightMax = Double(connections) * 1000
    }

    var seconds: Double { Double(nowNs) / 1e9 - 1 }

    mutating func tick() {
        var seen = PaceObservation()
        var sent = 0.0
        var answered = 0.0
        for _ in 0..<10 {
            let room = inFlightMax - queue - baseLatencySeconds * capacity
            let allowed = pace.rate / 100
            let arrivals = max(0, min(allowed, room, offered / 100))
            if arrivals == allowed { seen.wasHeldBack = true }
            let done = min(queue + arrivals, capacity / 100)
            queue += arrivals - done
            sent += arrivals
            answered += done
            if done > 0 {
                let latency = baseLatencySeconds + queue / capacity
                seen.latencyMinNs = min(seen.latencyMinNs, UInt64(latency * 1e9))
            }
        }
        if seen.latencyMinNs < .max { seen.latencyMinNs += UInt64(noiseSeconds() * 1e9) }
        seen.sent = Int(sent.rounded())
        seen.answers = Int(answered.rounded())
        troubles += answered * troubleShare
        seen.troubles = Int(troubles)
        troubles -= troubles.rounded(.down)
        sentInTick = seen.sent
        nowNs += 100_000_000
        pace.observe(
            seen, connections: connections, elapsedNs: 100_000_000, nowNs: nowNs)
    }

    /// Lets time pass, and returns the fewest and the most requests per second
    /// that came in any tick of it.
    @discardableResult
    mutating func run(seconds: Double) -> ClosedRange<Double> {
        var (low, high) = (Double.infinity, 0.0)
        for _ in 0..<Int(seconds * 10) {
            tick()
            low = min(low, Double(sentInTick * 10))
            high = max(high, Double(sentInTick * 10))
        }
        return low...high
    }
}
