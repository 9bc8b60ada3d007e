internal import APNS

/// One request with all that it is judged by. The checks that need nothing but the request are in
/// GatewayJudge+Request.swift.
struct GatewayJudge: ~Copyable {
    let request: GatewayRequest
    /// The device token in lower case; empty when its form is not a token's.
    let deviceToken: UnsafeRawBufferPointer
    let connection: GatewayConnection
    let providerTokens: ProviderTokenChecker
    let snapshot: MockRegistry.Snapshot
    let devices: DeviceRegistry?
    let wallSeconds: Int64
    /// The push type that the request names; nil when it names none or an unknown one. Found once,
    /// for several rules ask for it.
    let pushType: PushTypeRow?

    var registry: Registry {
        _read { yield snapshot.registry }
    }

    /// The first reason to refuse the request; nil when it is accepted.
    func firstRefusal() -> GatewayRefusal? {
        for rule in GatewayRule.inOrder {
            if rule == .deviceToken {
                if let refusal = deviceTokenRefusal() { return refusal }
            } else if let reason = reason(of: rule) {
                return GatewayRefusal(reason)
            }
        }
        return nil
    }

    private func reason(of rule: GatewayRule) -> GatewayReason? {
        switch rule {
        case .method: request.method.equals("POST") ? nil : .methodNotAllowed
        case .path: pathReason
        case .duplicateHeaders: hasRepeatedHeader ? .duplicateHeaders : nil
        case .messageID: isMessageIDGood ? nil : .badMessageID
        case .pushType: pushTypeReason
        case .topic: topicReason
        case .priority: priorityReason
        case .expiration: isExpirationGood ? nil : .badExpirationDate
        case .collapseID: isCollapseIDGood ? nil : .badCollapseID
        case .authentication: authenticationReason()
        case .permission: permissionReason
        case .deviceToken: nil
        case .payload: payloadReason
        }
    }

    private func authenticationReason() -> GatewayReason? {
        if let identity = connection.identity { return identity.fault }
        return providerTokens.check(
            request.authorization.value, on: connection, registry: registry,
            wallSeconds: wallSeconds)
    }

    /// Whether this client may push to this topic.
    private var permissionReason: GatewayReason? {
        guard let topic = request.topic.value else { return nil }
        if let identity = connection.identity {
            if request.pushType.value?.equals("location") ?? false {
                return registry.inferences.certificateLocationReason
            }
            let isNamed = identity.topics.contains { $0.utf8.elementsEqual(topic) }
            return isNamed ? nil : registry.inferences.certificateTopicReason
        }
        let claims = connection.token?.claims
        let keyTopics = claims?.key?.topics ?? []
        guard !keyTopics.isEmpty || !registry.apps.isEmpty else { return nil }
        let bundleID = GatewayInferences.bundleID(of: topic)
        if !keyTopics.isEmpty, !keyTopics.contains(where: { $0.utf8.elementsEqual(bundleID) }) {
            return .topicDisallowed
        }
        guard !registry.apps.isEmpty else { return nil }
        guard let app = registry.apps.value(for: bundleID) else {
            return registry.inferences.unlistedAppReason
        }
        return app.team == nil || app.team == claims?.teamID
            ? nil : registry.inferences.unlistedAppReason
    }

    private func deviceTokenRefusal() -> GatewayRefusal? {
        if deviceToken.isEmpty || !isCaseOfTokenGood { return GatewayRefusal(.badDeviceToken) }
        switch devices?.standing(token: deviceToken, of: request) ?? .unknown {
        case .unknown: if let refusal = registryRefusal { return refusal }
        case .registered: break
        case .otherTopic: return GatewayRefusal(.deviceTokenNotForTopic)
        case .unregistered(let sinceMs):
            return GatewayRefusal(.unregistered, timestampMs: sinceMs)
        }
        let inferences = registry.inferences
        guard inferences.consecutiveRequestsMax > 0 else { return nil }
        let isTooOften = connection.isRepeatedTooOften(
            TokenDigest.fnv1a64(deviceToken), wallSeconds: wallSeconds, inferences: inferences)
        return isTooOften ? GatewayRefusal(.tooManyRequests) : nil
    }

    private var isCaseOfTokenGood: Bool {
        registry.inferences.acceptsUpperCaseDeviceToken
            || request.deviceToken?.elementsEqual(deviceToken) ?? false
    }

    /// What the registry has against the device token.
    private var registryRefusal: GatewayRefusal? {
        guard !registry.tokens.isEmpty || !registry.acceptsUnknownTokens else { return nil }
        guard let known = registry.tokens.value(for: deviceToken) else {
            return registry.acceptsUnknownTokens
                ? nil : GatewayRefusal(registry.inferences.unknownTokenReason)
        }
        if let environment = known.environment, environment != registry.environment {
            return GatewayRefusal(.badDeviceToken)
        }
        if let topic = known.topic, let asked = request.topic.value,
            !topic.utf8.elementsEqual(asked)
        {
            return GatewayRefusal(.deviceTokenNotForTopic)
        }
        if let sinceMs = known.expiredSinceMs, sinceMs / 1000 <= wallSeconds {
            return GatewayRefusal(.expiredToken, timestampMs: sinceMs)
        }
        if let sinceMs = known.unregisteredSinceMs, sinceMs / 1000 <= wallSeconds {
            return GatewayRefusal(.unregistered, timestampMs: sinceMs)
        }
        return nil
    }
}
