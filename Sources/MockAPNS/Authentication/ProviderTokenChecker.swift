internal import APNS
internal import Crypto

/// Judges provider tokens (Apple: Establishing a token-based connection to APNs): form, algorithm,
/// key, signature, age, and whether the token fits those that the connection has seen. What does
/// not change with time is remembered by the token's text, so that a signature is verified once and
/// not for every request.
///
/// *Thread:* one thread; each worker has its own, and so its own memory of tokens.
/// *Limits:* `rememberedMax` tokens; then the oldest makes room.
final class ProviderTokenChecker {
    /// More tokens than a handful of teams uses in an hour, and few enough to search one by one.
    static let rememberedMax = 64

    /// An ES256 signature: two numbers of 32 bytes (RFC 7518 section 3.4).
    private static let signatureBytes = 64

    private var remembered: [JudgedToken] = []
    private var latestIndex = 0
    private var oldestIndex = 0
    private var credentialsVersion = -1
    /// How many tokens were looked at in full, for tests.
    private(set) var verificationCount = 0

    init() { remembered.reserveCapacity(Self.rememberedMax) }

    /// The reason to refuse a request with this `authorization` on this connection; nil if the
    /// token is good, and then it is `connection.token`.
    func check(
        _ authorization: UnsafeRawBufferPointer?, on connection: GatewayConnection,
        registry: borrowing Registry, wallSeconds: Int64
    ) -> GatewayReason? {
        guard let authorization, let text = Self.bearerToken(authorization) else {
            return .missingProviderToken
        }
        let isCurrent: Bool
        let token: JudgedToken
        if let current = connection.token,
            current.credentialsVersion == registry.credentialsVersion, current.isText(text)
        {
            token = current
            isCurrent = true
        } else {
            token = judged(text, registry)
            isCurrent = false
        }
        guard let claims = token.claims else { return .invalidProviderToken }
        // Never overflows: no form of a token has a negative `issuedAt`.
        let ageSeconds = wallSeconds - claims.issuedAt
        if ageSeconds > APNSLimits.providerTokenAgeSecondsMax { return .expiredProviderToken }
        if ageSeconds < -Int64(registry.inferences.futureTokenSecondsMax) {
            return registry.inferences.futureTokenReason
        }
        if isCurrent { return nil }
        if let reason = Self.misfit(claims, connection.firstClaims, registry) { return reason }
        let isAdopted = connection.adopt(
            token, claims: claims, wallSeconds: wallSeconds,
            countsFirst: registry.inferences.countsFirstTokenChange)
        return isAdopted ? nil : .tooManyProviderTokenUpdates
    }

    /// Why a good token may not be used on this server, or on this connection after its first one.
    private static func misfit(
        _ claims: JudgedToken.Claims, _ first: JudgedToken.Claims?, _ registry: borrowing Registry
    ) -> GatewayReason? {
        if let environment = claims.key?.environment, environment != registry.environment {
            return registry.inferences.environmentKeyReason
        }
        guard let first else { return nil }
        guard first.teamID == claims.teamID else { return registry.inferences.otherTeamReason }
        guard first.keyID != claims.keyID, let key = claims.key,
            let firstKey = registry.key(id: first.keyID) ?? first.key
        else { return nil }
        return firstKey.mayBeFollowed(by: key) ? nil : .unrelatedKeyIDInToken
    }

    /// What follows `bearer `, whose letters may be of either case (RFC 9110 section 11.1).
    private static func bearerToken(
        _ authorization: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        let scheme: StaticString = "bearer "
        let count = scheme.utf8CodeUnitCount
        guard authorization.count > count else { return nil }
        for index in 0..<count where authorization[index] | 0x20 != scheme.utf8Start[index] {
            return nil
        }
        return UnsafeRawBufferPointer(rebasing: authorization[count...])
    }

    private func judged(
        _ text: UnsafeRawBufferPointer, _ registry: borrowing Registry
    ) -> JudgedToken {
        if credentialsVersion != registry.credentialsVersion {
            credentialsVersion = registry.credentialsVersion
            remembered.removeAll(keepingCapacity: true)
            latestIndex = 0
            oldestIndex = 0
        }
        if let index = rememberedIndex(of: text) {
            latestIndex = index
            return remembered[index]
        }
        verificationCount += 1
        let token = JudgedToken(
            text: Array(text), claims: Self.claims(of: text, registry),
            credentialsVersion: credentialsVersion)
        if remembered.count < Self.rememberedMax {
            latestIndex = remembered.count
            remembered.append(token)
        } else {
            latestIndex = oldestIndex
            remembered[oldestIndex] = token
            oldestIndex = (oldestIndex + 1) % Self.rememberedMax
        }
        return token
    }

    /// Looks at the token of the previous request first: often it is the same.
    private func rememberedIndex(of text: UnsafeRawBufferPointer) -> Int? {
        if latestIndex < remembered.count, remembered[latestIndex].isText(text) {
            return latestIndex
        }
        return remembered.indices.first { remembered[$0].isText(text) }
    }

    /// Everything but the age: form, algorithm, team, key id, signature. Nil for an invalid token.
    private static func claims(
        of token: UnsafeRawBufferPointer, _ registry: borrowing Registry
    ) -> JudgedToken.Claims? {
        guard let parts = ProviderTokenParts.parse(token), parts.alg == "ES256",
            parts.keyID.utf8.count == APNSLimits.idCharacters,
            parts.teamID.utf8.count == APNSLimits.idCharacters,
            parts.signature.count == signatureBytes,
            registry.teams.isEmpty || registry.teams.contains(parts.teamID)
        else { return nil }
        var signer: RegistryKey?
        if !registry.keys.isEmpty {
            signer = registry.keys.first { candidate in
                (candidate.id == nil || candidate.id == parts.keyID)
                    && (candidate.team == nil || candidate.team == parts.teamID)
                    && candidate.key.verifyES256(
                        message: parts.signingInput, signature: parts.signature)
            }
            guard let signer, !signer.isRevoked else { return nil }
        }
        return JudgedToken.Claims(parts, key: signer)
    }
}
