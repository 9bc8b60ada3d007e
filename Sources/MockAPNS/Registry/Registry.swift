internal import Crypto

/// Which of Apple's two services this one plays.
enum PushEnvironment: String, CaseIterable, Sendable {
    case production
    case sandbox
}

/// What the local APNs knows of teams, keys, apps and device tokens. Empty it knows nobody and
/// takes everybody: any well-formed provider token, app and device token.
struct Registry: Sendable {
    var environment = PushEnvironment.production { didSet { credentialsVersion += 1 } }
    /// Whether a device token that is not listed is good.
    var acceptsUnknownTokens = true
    var inferences = GatewayInferences() { didSet { credentialsVersion += 1 } }
    /// The teams whose provider tokens are good; empty: all.
    var teams: [String] = [] { didSet { credentialsVersion += 1 } }
    /// The keys whose provider tokens are good; empty: all, and signatures are not checked.
    var keys: [RegistryKey] = [] { didSet { credentialsVersion += 1 } }
    /// By bundle id (or the whole topic where it has no push type's suffix); empty: all.
    var apps = ByteTable<RegistryApp>()
    /// By token in lower case.
    var tokens = ByteTable<RegistryToken>()
    /// Grows with everything that a judged provider token depends on.
    private(set) var credentialsVersion = 0

    /// Teams, keys and apps, at most each: far more than an account has.
    static let entriesMax = 1_000
    /// Device tokens, at most: about 100 MB.
    static let tokensMax = 500_000

    /// The key with this id.
    func key(id: String) -> RegistryKey? { keys.first { $0.id == id } }
}

/// A key that signs provider tokens. Apple, Establishing a token-based connection to APNs.
struct RegistryKey: Sendable {
    /// The `kid` of its tokens; nil when any will do.
    var id: String?
    /// The `iss` of its tokens; nil when any will do.
    var team: String?
    var key: VerifyingKey
    /// nil: a legacy key, good for both.
    var environment: PushEnvironment?
    /// The bundle ids of a topic-specific key; empty: a key for the whole team.
    var topics: [String] = []
    /// The id of the one key that may share a connection with this topic-specific one.
    var related: String?
    var isRevoked = false

    var isTopicSpecific: Bool { !topics.isEmpty }

    /// Whether a connection that began with this key may go on with `other`.
    ///
    /// A team's key may be followed by another one of its team, a topic-specific key only by the
    /// one that it is related to.
    func mayBeFollowed(by other: RegistryKey) -> Bool {
        if !isTopicSpecific { return !other.isTopicSpecific }
        guard other.isTopicSpecific, environment == other.environment else { return false }
        return (related != nil && related == other.id)
            || (other.related != nil && other.related == id)
    }
}

/// An app that may receive pushes.
struct RegistryApp: Sendable {
    /// Whose provider tokens may push to it; nil: any team's.
    var team: String?
}

/// What is known of a device token.
struct RegistryToken: Sendable {
    /// The `apns-topic` that it is for, exactly; nil: any.
    var topic: String?
    /// nil: both.
    var environment: PushEnvironment?
    /// From when on pushes are answered 410 Unregistered, in milliseconds since 1970.
    var unregisteredSinceMs: Int64?
    /// From when on pushes are answered 410 ExpiredToken, in milliseconds since 1970.
    var expiredSinceMs: Int64?
}
