internal import HTTP2

/// One fault: what it does, and when.
struct FaultRule: Sendable, Equatable {
    var action: FaultAction
    var trigger = FaultTrigger()
}

/// What a fault does, with everything that its kind needs.
enum FaultAction: Sendable, Equatable {
    case status(FaultAnswer)
    case latency(FaultDelay)
    case roundTrip(ns: UInt64)
    case goAway(FaultGoAway)
    case reset(HTTP2ErrorCode)
    case silence
    case halfOpen
    case cut
    case hangUp(afterTLS: Bool)
    case settings(FaultSettings)
    case noWindowUpdate
    case stuck(FaultAnswer)
    case slowHandshake(ns: UInt64)
    case tokenRate(perSecond: Double)
    case connectionRate(perSecond: Double)

    /// Whether it settles what becomes of the request at hand.
    var decidesRequest: Bool {
        switch self {
        case .status, .tokenRate, .reset, .silence, .halfOpen, .cut, .goAway: true
        default: false
        }
    }

    var kind: FaultKind {
        switch self {
        case .status: .status
        case .latency: .latency
        case .roundTrip: .roundTrip
        case .goAway: .goAway
        case .reset: .reset
        case .silence: .silence
        case .halfOpen: .halfOpen
        case .cut: .cut
        case .hangUp: .hangUp
        case .settings: .settings
        case .noWindowUpdate: .noWindowUpdate
        case .stuck: .stuck
        case .slowHandshake: .slowHandshake
        case .tokenRate: .tokenRate
        case .connectionRate: .connectionRate
        }
    }
}

/// An answer that a fault gives in the gateway's place.
struct FaultAnswer: Sendable, Equatable {
    var status: UInt16
    /// Nil: the answer has no body.
    var reason: String?
    /// Of a 410, in milliseconds since 1970; nil: the time of the answer.
    var timestampMs: Int64?
}

/// How long an answer waits.
enum FaultDelay: Sendable, Equatable {
    /// Uniform between the two; equal for a fixed delay.
    case uniform(fromNs: UInt64, toNs: UInt64)
    /// The median, and the standard deviation of the natural logarithm.
    case logNormal(medianNs: UInt64, sigma: Double)
}

/// A GOAWAY.
struct FaultGoAway: Sendable, Equatable {
    /// First an announcement that refuses nothing, then, `waitNs` later, the true one
    /// (RFC 9113 section 6.8).
    var isGraceful: Bool
    var code = HTTP2ErrorCode.noError
    var debugData: [UInt8] = []
    /// How many of the newest streams were not processed, as it says.
    var unprocessed = 0
    var waitNs: UInt64 = 1_000_000_000
}

/// The settings that a SETTINGS changes; nil leaves one as it is.
struct FaultSettings: Sendable, Equatable {
    var streams: Int?
    var windowBytes: Int?
    var tableBytes: Int?
}

/// When a fault strikes: all that is given has to hold.
struct FaultTrigger: Sendable, Equatable {
    /// Of those that the rest lets through; 1 is always.
    var probability = 1.0
    /// Each n-th of those that token and time let through, counted by each thread.
    var every: UInt64 = 1
    /// The device token begins so, in lower case; empty is any.
    var tokenPrefix: [UInt8] = []
    /// Since the start of the server.
    var fromNs: UInt64 = 0
    var toNs: UInt64 = .max
    /// At most this often on each thread.
    var times: UInt64 = .max
    /// Asked once for each connection, when it opens or at `fromNs`, and not at requests.
    var isPerConnection = false

    /// What holds of time and token; the counted parts come behind.
    func admits(nowNs: UInt64, token: UnsafeRawBufferPointer) -> Bool {
        nowNs >= fromNs && nowNs < toNs && begins(token)
    }

    private func begins(_ token: UnsafeRawBufferPointer) -> Bool {
        guard token.count >= tokenPrefix.count else { return false }
        // Of hexadecimal digits this bit is the letters' case; the digits have it set.
        return tokenPrefix.indices.allSatisfy { token[$0] | 0x20 == tokenPrefix[$0] }
    }
}
