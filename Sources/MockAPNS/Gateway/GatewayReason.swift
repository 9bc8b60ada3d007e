/// Why the gateway refuses a request, in Apple's words, with the status that Apple gives it.
///
/// The table stands here on its own, and is not the sender's: two lists written apart can be
/// compared by a test over the wire, one shared list can only agree with itself.
/// Source: Apple, Handling notification responses from APNs.
enum GatewayReason: Int, CaseIterable, Sendable {
    case methodNotAllowed
    case badPath
    case missingDeviceToken
    case duplicateHeaders
    case badMessageID
    case invalidPushType
    case missingTopic
    case badTopic
    case badPriority
    case badExpirationDate
    case badCollapseID
    case badCertificate
    case badCertificateEnvironment
    case missingProviderToken
    case invalidProviderToken
    case expiredProviderToken
    /// A key of the other environment, as the service is reported to spell it.
    case badEnvironmentKeyInToken
    /// The same as Apple's page spells it.
    case badEnvironmentKeyIDInToken
    case unrelatedKeyIDInToken
    case tooManyProviderTokenUpdates
    case topicDisallowed
    case forbidden
    case badDeviceToken
    case deviceTokenNotForTopic
    case expiredToken
    case unregistered
    case tooManyRequests
    case payloadEmpty
    case payloadTooLarge
    case idleTimeout
    case internalServerError
    case serviceUnavailable
    case shutdown

    /// The HTTP status of the answer.
    var status: UInt16 {
        switch self {
        case .badCertificate, .badCertificateEnvironment, .missingProviderToken,
            .invalidProviderToken, .expiredProviderToken, .badEnvironmentKeyInToken,
            .badEnvironmentKeyIDInToken, .unrelatedKeyIDInToken, .forbidden:
            403
        case .badPath: 404
        case .methodNotAllowed: 405
        case .expiredToken, .unregistered: 410
        case .payloadTooLarge: 413
        case .tooManyProviderTokenUpdates, .tooManyRequests: 429
        case .internalServerError: 500
        case .serviceUnavailable, .shutdown: 503
        default: 400
        }
    }

    /// The reason as it stands in the answer's JSON.
    var name: String {
        switch self {
        case .methodNotAllowed: "MethodNotAllowed"
        case .badPath: "BadPath"
        case .missingDeviceToken: "MissingDeviceToken"
        case .duplicateHeaders: "DuplicateHeaders"
        case .badMessageID: "BadMessageId"
        case .invalidPushType: "InvalidPushType"
        case .missingTopic: "MissingTopic"
        case .badTopic: "BadTopic"
        case .badPriority: "BadPriority"
        case .badExpirationDate: "BadExpirationDate"
        case .badCollapseID: "BadCollapseId"
        case .badCertificate: "BadCertificate"
        case .badCertificateEnvironment: "BadCertificateEnvironment"
        case .missingProviderToken: "MissingProviderToken"
        case .invalidProviderToken: "InvalidProviderToken"
        case .expiredProviderToken: "ExpiredProviderToken"
        case .badEnvironmentKeyInToken: "BadEnvironmentKeyInToken"
        case .badEnvironmentKeyIDInToken: "BadEnvironmentKeyIdInToken"
        case .unrelatedKeyIDInToken: "UnrelatedKeyIdInToken"
        case .tooManyProviderTokenUpdates: "TooManyProviderTokenUpdates"
        case .topicDisallowed: "TopicDisallowed"
        case .forbidden: "Forbidden"
        case .badDeviceToken: "BadDeviceToken"
        case .deviceTokenNotForTopic: "DeviceTokenNotForTopic"
        case .expiredToken: "ExpiredToken"
        case .unregistered: "Unregistered"
        case .tooManyRequests: "TooManyRequests"
        case .payloadEmpty: "PayloadEmpty"
        case .payloadTooLarge: "PayloadTooLarge"
        case .idleTimeout: "IdleTimeout"
        case .internalServerError: "InternalServerError"
        case .serviceUnavailable: "ServiceUnavailable"
        case .shutdown: "Shutdown"
        }
    }

    /// The reason of this name; nil when Apple has none.
    static func named(_ name: String) -> GatewayReason? { allCases.first { $0.name == name } }
}
