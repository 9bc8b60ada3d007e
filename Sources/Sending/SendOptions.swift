package import Campaign
package import Crypto
package import Transport

/// How a campaign is sent: what the command line decides, beside the manifest.
package struct SendOptions: Sendable {
    /// Where the requests go.
    package var endpoint: Endpoint
    /// A PEM file with the CA to trust instead of the system's.
    package var caFile: String?
    /// The certificate to authenticate with, in place of provider tokens.
    package var identity: CertificatePair?
    /// The run folder, to be created; with ``resumes``, that of the run that goes on.
    package var runDirectory: String
    /// Goes on with a run that was started before.
    package var resumes = false
    /// Replaces the manifest's recipients: a path, or "-" for standard input.
    package var recipients: String?
    /// Who decides how fast; nil leaves it to the manifest.
    package var pacing: Pacing.Mode?
    /// Notifications per second for the whole run; 0 is unlimited.
    package var rate: Double?
    /// Requests per second on each connection; 0 is unlimited.
    package var connectionRate: Double?
    /// Connections of the whole run.
    package var connections: Int?
    /// Streams in flight on each connection, at most.
    package var streams: Int?
    /// Worker threads; never more than connections.
    package var threads: Int?
    /// Send only this many rows from the start of the file.
    package var limit: UInt64?
    /// Fewer rows than this at the end of the input stop the run.
    package var expectRows: UInt64?
    /// What a second is for ``RetryRules``; tests make it short.
    var retrySecondNs: UInt64 = 1_000_000_000

    package init(endpoint: Endpoint, runDirectory: String) {
        self.endpoint = endpoint
        self.runDirectory = runDirectory
    }
}

/// What a run is sized by, worked out once from options, manifest and machine, in that order.
package struct SendPlan: Sendable {
    /// Enough to keep one core busy on loopback and gentle to a real host.
    static let connectionsDefault = 4
    static let connectionsMax = 512
    /// What APNs has allowed since 2020; more is never opened on one connection.
    static let streamsMax = 1000
    static let threadsMax = 64
    /// Full speed after two seconds, where the server bears it.
    static let rampUpMsDefault: UInt64 = 2000

    var threads: Int
    /// Connections of the whole run.
    package var connections: Int
    /// Connections that it may grow to; as many as `connections` where a number was asked for.
    var poolMax: Int
    var streams: Int
    /// Notifications per second for the whole run, at most; 0: no bound.
    package var rate: Double
    /// The same for each connection.
    package var connectionRate: Double
    /// How long an adaptive pace takes to its full rate; nil: the pace is not adaptive.
    package var rampUpMs: UInt64?
    var retrySecondNs: UInt64 = 1_000_000_000

    /// How many of the connections worker `index` keeps.
    func connections(ofWorker index: Int) -> Int { share(of: connections, index) }

    /// How many it may have when its pool has grown.
    func connectionsMax(ofWorker index: Int) -> Int { share(of: poolMax, index) }

    private func share(of count: Int, _ index: Int) -> Int {
        count / threads + (index < count % threads ? 1 : 0)
    }
}
