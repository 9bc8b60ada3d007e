package import Crypto

/// How a local APNs is to run.
package struct MockOptions: Sendable {
    /// Where to listen: `localhost` or a numeric address; port 0 picks a free port.
    package var listen: (host: String, port: UInt16)
    /// The folder of its authority and certificate, made on first use.
    package var stateDirectory: String
    /// The keys whose provider tokens are good; with none, signatures are not checked.
    package var keys: [MockKey] = []
    /// What it knows of teams, keys, apps and device tokens, a JSON5 file; nil: `registry.json5` in
    /// the state folder, and without that it takes everybody's.
    package var registryFile: String?
    /// The time of day by which provider tokens and certificates are judged.
    package var clock = MockClock.system
    /// Larger flow-control windows and a stream limit that never moves, for load tests. Every check
    /// stays on.
    package var fast = false
    /// How many threads serve connections, 1…64.
    package var threads = 1
    /// How many of the latest accepted requests are kept for `GET /mock/requests`, 0…256.
    package var recordsBodies = 0
    /// Whether it may listen on an address that other machines can reach. It takes tokens and
    /// payloads of real people from anybody who asks, so this is off.
    package var allowsOtherHosts = false
    /// How it is to misbehave.
    package var faults = FaultPlan()
    /// The same seed and order of requests on each thread give the same faults; nil: a random one.
    package var seed: UInt64?
    /// A file that gets one line per request; nil: none is kept.
    package var logFile: String?
    /// What one thread puts up with; tests make it less.
    var limits = MockLimits()
    /// Whether the limit of streams moves as the service's does; tests of other things do without.
    var streamLimitMoves = true

    package init(listen: (host: String, port: UInt16), stateDirectory: String) {
        self.listen = listen
        self.stateDirectory = stateDirectory
    }
}

/// What one thread of the local APNs puts up with.
struct MockLimits: Sendable {
    /// Far more connections than a sender opens; each holds about 100 KB of buffers at the least.
    var connectionsMax = 1024
    /// A client that has not finished its TLS handshake after ten seconds never will.
    var handshakeMsMax: UInt64 = 10_000
}

/// A key whose provider tokens the local APNs accepts.
package struct MockKey: Sendable {
    /// The `kid` that a token of this key must name; nil when any will do.
    package var keyID: String?
    package var key: VerifyingKey

    package init(keyID: String?, key: VerifyingKey) {
        self.keyID = keyID
        self.key = key
    }
}
