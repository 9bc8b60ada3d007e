internal import APNS

/// What no Apple document says, and the gateway must decide all the same: each point once, here, so
/// that it can be changed in one place when somebody sees what the real service does. A registry
/// changes any of them under `inferences`, by the names in `fields`.
struct GatewayInferences: Sendable, Equatable {
    /// A message id in upper case is refused: Apple documents lower case, and no report says that
    /// the service takes the other.
    var acceptsUpperCaseMessageID = false

    /// A topic whose suffix contradicts the push type is a bad topic. Apple calls the mismatch an
    /// error and names no reason for it.
    var topicMismatchReason = GatewayReason.badTopic

    /// A priority that the push type does not allow, such as 10 with background. Apple calls it an
    /// error and names no reason. A push without the header passes, although the default is 10.
    var priorityOfTypeReason = GatewayReason.badPriority

    /// A provider token from further in the future than this is invalid. Apple wants `iat` within
    /// an hour of now and names no reason; users with wrong clocks have reported several.
    var futureTokenSecondsMax = 3600
    var futureTokenReason = GatewayReason.invalidProviderToken

    /// Whether a connection's first change of its provider token counts for the rule of one update
    /// in 20 minutes. No: a connection may be opened just before its token is due for renewal.
    var countsFirstTokenChange = false

    /// A key of the other environment: Apple's page says BadEnvironmentKeyIdInToken, the service is
    /// reported to say this.
    var environmentKeyReason = GatewayReason.badEnvironmentKeyInToken

    /// A provider token of another team than the connection's first one. Apple calls it an error.
    var otherTeamReason = GatewayReason.invalidProviderToken

    /// An app that the registry does not list, or lists for another team.
    var unlistedAppReason = GatewayReason.topicDisallowed

    /// A topic that the client's certificate does not name.
    var certificateTopicReason = GatewayReason.badTopic

    /// A push of type `location` with a client certificate, for which Apple wants provider tokens.
    var certificateLocationReason = GatewayReason.forbidden

    /// A bad client certificate is told by GOAWAY and the end of the connection, as users report
    /// it; true: by status 403 for each request, as Apple's page lists it.
    var answersCertificateFaults = false

    /// A device token in upper case is the same as in lower case: clients of the old protocol sent
    /// both.
    var acceptsUpperCaseDeviceToken = true

    /// A device token that the registry does not know, where it is told to refuse those.
    var unknownTokenReason = GatewayReason.badDeviceToken

    /// More requests in a row than this for one device token, on one connection and within so many
    /// seconds, are answered TooManyRequests. Apple gives no numbers; 0: never.
    var consecutiveRequestsMax = 0
    var consecutiveRequestsSeconds = 60

    /// A body that is not one JSON object is answered like no body: for device pushes Apple
    /// documents no reason of its own for it.
    var unreadablePayloadReason = GatewayReason.payloadEmpty

    /// A path below the device path that goes on after the token (`/3/device/TOKEN/more`) is a bad
    /// path, while any other text in the token's place is a bad token.
    var longerPathReason = GatewayReason.badPath

    /// The stream limit: in general, before the first valid provider token (Apple: one), and after
    /// an answer 4xx other than 410 until the next 200 (seen by users from 2016 to 2020; Apple
    /// confirms the direction).
    var streamsMax = 1000
    var streamsBeforeToken = 1
    var streamsAfterError = 1

    /// Body bytes after which WINDOW_UPDATE gives them back. A public log of a connection to the
    /// service shows steps of 32,822, about half of its window, which is what 0 means.
    var windowStepBytes = 0
}

extension GatewayInferences {
    /// How a point is written in a registry.
    enum Field: Sendable {
        case reason(any WritableKeyPath<GatewayInferences, GatewayReason> & Sendable)
        case truth(any WritableKeyPath<GatewayInferences, Bool> & Sendable)
        case number(any WritableKeyPath<GatewayInferences, Int> & Sendable, ClosedRange<Int>)
    }

    /// Every point by its name in a registry.
    static let fields: [(name: String, field: Field)] = [
        ("acceptsUpperCaseMessageID", .truth(\.acceptsUpperCaseMessageID)),
        ("topicMismatchReason", .reason(\.topicMismatchReason)),
        ("priorityOfTypeReason", .reason(\.priorityOfTypeReason)),
        ("futureTokenSecondsMax", .number(\.futureTokenSecondsMax, 0...1_000_000_000)),
        ("futureTokenReason", .reason(\.futureTokenReason)),
        ("countsFirstTokenChange", .truth(\.countsFirstTokenChange)),
        ("environmentKeyReason", .reason(\.environmentKeyReason)),
        ("otherTeamReason", .reason(\.otherTeamReason)),
        ("unlistedAppReason", .reason(\.unlistedAppReason)),
        ("certificateTopicReason", .reason(\.certificateTopicReason)),
        ("certificateLocationReason", .reason(\.certificateLocationReason)),
        ("answersCertificateFaults", .truth(\.answersCertificateFaults)),
        ("acceptsUpperCaseDeviceToken", .truth(\.acceptsUpperCaseDeviceToken)),
        ("unknownTokenReason", .reason(\.unknownTokenReason)),
        ("consecutiveRequestsMax", .number(\.consecutiveRequestsMax, 0...1_000_000)),
        ("consecutiveRequestsSeconds", .number(\.consecutiveRequestsSeconds, 1...1_000_000)),
        ("unreadablePayloadReason", .reason(\.unreadablePayloadReason)),
        ("longerPathReason", .reason(\.longerPathReason)),
        // 0 would be a connection on which nothing can ever raise the limit again.
        ("streamsMax", .number(\.streamsMax, 1...100_000)),
        ("streamsBeforeToken", .number(\.streamsBeforeToken, 1...100_000)),
        ("streamsAfterError", .number(\.streamsAfterError, 1...100_000)),
        ("windowStepBytes", .number(\.windowStepBytes, 0...65_535)),
    ]

    /// The bundle id in a topic: what stands before the suffix of a push type.
    static func bundleID(of topic: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        for type in PushType.all
        where !type.topicSuffix.isEmpty && topic.ends(with: type.topicSuffix.utf8) {
            return UnsafeRawBufferPointer(
                rebasing: topic.dropLast(type.topicSuffix.utf8.count))
        }
        return topic
    }
}
