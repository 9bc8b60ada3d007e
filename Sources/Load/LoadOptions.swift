internal import Glibc
package import Transport

/// What a load test is to do.
package struct LoadOptions: Sendable {
    package static let connectionsMax = 512
    /// What APNs has allowed on a connection since 2020.
    package static let streamsMax = 1000
    package static let threadsMax = 64
    /// No notification is larger (VoIP pushes aside).
    package static let payloadBytesMax = 4096

    /// Where the requests go.
    package var endpoint: Endpoint
    /// Which servers may be meant.
    package var target = LoadTarget(isOwned: false)
    /// A PEM file with the CA to trust instead of the system's.
    package var caFile: String?
    package var schedule: LoadSchedule
    /// Connections in all.
    package var connections = 4
    /// Requests in flight on each connection, at most.
    package var streams = LoadOptions.streamsMax
    /// Threads; never more than connections. Nil: one for each processor.
    package var threads: Int?
    package var payloadBytes = 227
    /// How many device tokens there are; nil: so many that each is hit once a minute at most.
    package var tokens: UInt64?
    /// The app that the notifications are for.
    package var topic = "com.example.app"
    /// How long an answer is waited for.
    package var requestMsMax: UInt64 = 30_000
    /// How long the server may be away once it was there.
    package var outageMsMax: UInt64 = 10_000

    package init(endpoint: Endpoint, schedule: LoadSchedule) {
        self.endpoint = endpoint
        self.schedule = schedule
    }

    /// The number of threads that work.
    package var threadCount: Int {
        let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        return min(threads ?? processors, connections, Self.threadsMax)
    }

    /// The number of device tokens.
    package var tokenCount: UInt64 {
        tokens ?? UInt64((schedule.peakRate * 60).rounded(.up))
    }

    /// How many of the connections thread `index` keeps.
    func connections(ofWorker index: Int) -> Int {
        connections / threadCount + (index < connections % threadCount ? 1 : 0)
    }
}

/// Why a load test cannot begin, or ended before its time.
package struct LoadError: Error, Sendable, CustomStringConvertible {
    /// What kind of end it is.
    package enum Kind: Sendable {
        /// Nothing was sent.
        case refused
        /// The server could not be reached, or refused everything.
        case connection
        case `internal`
    }

    package let kind: Kind
    package let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
