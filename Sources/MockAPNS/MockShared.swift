internal import EventLoop
internal import HTTP2
internal import TLS

/// What all workers of a local APNs share: settled before they start, and not changed afterwards.
struct MockShared: Sendable {
    let registry: MockRegistry
    let clock: MockClock
    /// Whether a connection's stream limit starts at one and shrinks after errors.
    let streamLimitMoves: Bool
    let tls: TLSContext
    let settings: ServerSettings
    let limits: MockLimits
    /// One per worker, by its index.
    let counters: [MockCounters]
    let acceptedRequests: AcceptedRequests
    let faults: FaultShared
    let latencies: [ServiceLatency]
    let boards: [ConnectionBoard]
    /// Nil: no log is kept.
    let log: RequestLog?
    /// Nil with `fast`.
    let devices: DeviceRegistry?

    init(options: MockOptions, registry: MockRegistry, tls: TLSContext) throws(MockError) {
        self.registry = registry
        clock = options.clock
        streamLimitMoves = options.streamLimitMoves && !options.fast
        limits = options.limits
        self.tls = tls
        settings = Self.settings(fast: options.fast)
        counters = (0..<options.threads).map { _ in MockCounters() }
        devices = options.fast ? nil : DeviceRegistry()
        acceptedRequests = AcceptedRequests(capacity: options.recordsBodies)
        faults = FaultShared(
            plan: options.faults, seed: options.seed, startNs: monotonicNowNs())
        latencies = counters.map { _ in ServiceLatency() }
        boards = counters.map { [limits] _ in
            ConnectionBoard(connectionsMax: limits.connectionsMax)
        }
        log = if let file = options.logFile { try RequestLog(path: file) } else { nil }
    }

    var statistics: MockStatistics {
        MockStatistics(
            workers: counters, latencies: latencies, boards: boards,
            seed: faults.plan.isEmpty ? nil : faults.seed, logFailure: log?.failure)
    }

    var endpoints: MockEndpoints {
        MockEndpoints(
            statistics: { statistics }, acceptedRequests: acceptedRequests,
            registry: RegistryEndpoints(registry: registry, clock: clock))
    }

    /// The settings that clients of the real service report: the protocol's windows and 8,000 bytes
    /// of headers; the stream limit is the gateway's. In `fast` the windows are out of the way: 1
    /// MiB per stream, and for the connection room for the payloads of 1,000 streams.
    private static func settings(fast: Bool) -> ServerSettings {
        var settings = ServerSettings()
        if fast {
            settings.initialWindowBytes = 1 << 20
            settings.connectionWindowBytes = 8 << 20
        }
        return settings
    }
}
