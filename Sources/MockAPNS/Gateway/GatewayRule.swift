/// The gateway's checks, in the order in which they are made: the first that fails decides the
/// answer. Apple publishes the reasons but not the order; this one goes from the request's line
/// over its headers, the client and the device token to the body, so that a request with one fault
/// always gets that fault's reason.
enum GatewayRule: CaseIterable {
    /// 405 MethodNotAllowed.
    case method
    /// 404 BadPath, 400 MissingDeviceToken.
    case path
    /// 400 DuplicateHeaders.
    case duplicateHeaders
    /// 400 BadMessageId.
    case messageID
    /// 400 InvalidPushType.
    case pushType
    /// 400 MissingTopic, BadTopic.
    case topic
    /// 400 BadPriority.
    case priority
    /// 400 BadExpirationDate.
    case expiration
    /// 400 BadCollapseId.
    case collapseID
    /// With a client certificate 403 BadCertificate, BadCertificateEnvironment. Otherwise 403
    /// MissingProviderToken, InvalidProviderToken, ExpiredProviderToken, BadEnvironmentKeyInToken,
    /// UnrelatedKeyIdInToken, and 429 TooManyProviderTokenUpdates, in this order.
    case authentication
    /// 403 Forbidden, 400 TopicDisallowed; with a client certificate BadTopic.
    case permission
    /// 400 BadDeviceToken, for its form and for the other environment's; then 400
    /// DeviceTokenNotForTopic, 410 ExpiredToken, Unregistered, 429 TooManyRequests.
    case deviceToken
    /// 400 PayloadEmpty, 413 PayloadTooLarge.
    case payload

    /// One array made once: `allCases` may build a new one at each use.
    static let inOrder = allCases
}

/// Why a request is refused.
struct GatewayRefusal {
    var reason: GatewayReason
    /// For 410: since when the device token is no good, in milliseconds since 1970.
    var timestampMs: Int64?

    init(_ reason: GatewayReason, timestampMs: Int64? = nil) {
        self.reason = reason
        self.timestampMs = timestampMs
    }
}
