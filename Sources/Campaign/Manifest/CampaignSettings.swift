/// When APNs may stop trying to deliver.
package enum Expiration: Sendable, Equatable {
    /// One attempt, nothing is stored.
    case zero
    /// Seconds after the first start of the run.
    case after(seconds: Int64)
    /// Seconds since 1970 UTC.
    case at(unixSeconds: Int64)
}

/// Apple's two services.
package enum CampaignEnvironment: String, Sendable {
    case production
    case sandbox
}

/// How the sender proves who it is.
package enum CampaignCredentials: Sendable, Equatable {
    /// A signing key with key ID and team ID of ten characters; the environment variable holds its
    /// passphrase.
    case key(KeySource, keyID: String, teamID: String, passphraseEnv: String?)
    /// A certificate with its key in a p12 or PEM file; the environment variable holds its
    /// passphrase.
    case identity(path: String, passphraseEnv: String?)
    /// A key of Peal's own, for servers on this machine only.
    case development
}

/// Where a signing key is.
package enum KeySource: Sendable, Equatable {
    /// In a file, its path resolved.
    case file(String)
    /// In an environment variable, its name.
    case environment(String)
}

/// The names of the columns (CSV) or keys (NDJSON) that mean something to Peal.
package struct ColumnNames: Sendable, Equatable {
    package let token: String
    package let locale: String
    /// Since when the token is known to the sender; nil: no column says it.
    package let registeredAt: String?
    /// Reading it is not supported yet: always nil.
    package let timeZone: String?
}

/// How fast to send, as written: nil where the manifest says nothing.
package struct Pacing: Sendable, Equatable {
    /// Who decides how fast. `rate` and `perConnection` are upper bounds in every mode.
    package enum Mode: String, Sendable, CaseIterable {
        /// The server, by how it answers.
        case adaptive
        /// 100 requests per second on each connection, at most.
        case gentle
        /// Nobody: as fast as the bounds allow.
        case unlimited
    }

    package let mode: Mode
    /// Notifications per second for the whole run; 0: unlimited.
    package let rate: Double?
    /// Notifications per second and connection; 0: unlimited.
    package let perConnection: Double?
    package let connections: Int?
    /// Requests in flight per connection.
    package let streams: Int?
    /// Milliseconds that an adaptive pace takes from its start to full speed, at least.
    package let rampUpMs: UInt64?
}

/// What happens to a row after a transient failure.
package struct RetryPolicy: Sendable, Equatable {
    /// What to do when a request was sent and its answer never came.
    package enum OnUnknown: String, Sendable {
        /// Send again: at least once.
        case resend
        /// Do not: at most once.
        case skip
    }

    /// Including the first.
    package let attempts: Int
    /// The wait after a server error, chosen at random from this range.
    package let serverErrorDelaySeconds: ClosedRange<Double>
    /// How long after their last attempt rows that failed for server errors are sent once more;
    /// nil: they are not.
    package let secondPassMs: UInt64?
    /// What to do with a request that may have arrived.
    package let onUnknown: OnUnknown
}

/// How long to wait, in milliseconds.
package struct Timeouts: Sendable, Equatable {
    package let connectMs: UInt64
    package let requestMs: UInt64
    package let drainMs: UInt64
}
