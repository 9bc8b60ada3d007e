import APNS
import Crypto
import Testing

@testable import MockAPNS

/// Provider tokens on a clock that the test moves. The rules are Apple's, Establishing a
/// token-based connection to APNs: ES256, ten-character ids, an `iat` within the last hour.
struct ProviderTokenCheckerTests {
    private static let nowSeconds: Int64 = 1_772_000_000
    private let key: SigningKey

    init() throws { key = try SigningKey.generate() }

    private func token(
        keyID: String = "ABC123DEFG", teamID: String = "DEF123GHIJ", ageSeconds: Int64 = 0
    ) throws -> String {
        try ProviderToken.make(
            key: key, keyID: keyID, teamID: teamID, issuedAt: Self.nowSeconds - ageSeconds
        ).text
    }

    /// A token with header and claims as given, signed with the right key.
    private func token(header: String, claims: String) throws -> String {
        let input = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        return input + "." + Base64URL.encode(try key.signES256(Array(input.utf8)))
    }

    /// A checker with the registry that it is asked about.
    private struct Rig {
        let checker = ProviderTokenChecker()
        var registry = Registry()

        init(_ keys: [RegistryKey]) { registry.keys = keys }

        var verificationCount: Int { checker.verificationCount }

        /// Checks a token on a connection of its own, unless one is given.
        func check(
            _ token: String, on connection: GatewayConnection? = nil,
            at seconds: Int64 = ProviderTokenCheckerTests.nowSeconds
        ) -> GatewayReason? {
            let connection =
                connection
                ?? GatewayConnection(inferences: registry.inferences, limitMoves: true)
            return Array("bearer \(token)".utf8).withUnsafeBytes {
                checker.check($0, on: connection, registry: registry, wallSeconds: seconds)
            }
        }
    }

    private func check(
        _ rig: Rig, _ token: String, at seconds: Int64 = nowSeconds
    ) -> GatewayReason? {
        rig.check(token, at: seconds)
    }

    private func checker(keyID: String? = "ABC123DEFG") -> Rig {
        Rig([RegistryKey(id: keyID, key: key.verifyingKey)])
    }

    @Test("a token is good for one hour and expired from the next second on")
    func age() throws {
        let checker = checker()
        let token = try token()
        #expect(check(checker, token, at: Self.nowSeconds + 3600) == nil)
        #expect(check(checker, token, at: Self.nowSeconds + 3601) == .expiredProviderToken)
        #expect(check(checker, token, at: Self.nowSeconds - 3600) == nil)
        #expect(check(checker, token, at: Self.nowSeconds - 3601) == .invalidProviderToken)
    }

    @Test("a signature of another key is invalid, and stays so for the same token")
    func anotherKey() throws {
        let other = try SigningKey.generate()
        let checker = Rig([RegistryKey(id: "ABC123DEFG", key: other.verifyingKey)])
        let token = try token()
        #expect(check(checker, token) == .invalidProviderToken)
        #expect(check(checker, token) == .invalidProviderToken)
        #expect(checker.verificationCount == 1)
    }

    @Test("a key that names its id takes tokens with that kid only, one without takes any")
    func keyIDs() throws {
        let token = try token(keyID: "ZZZ123DEFG")
        #expect(check(checker(), token) == .invalidProviderToken)
        #expect(check(checker(keyID: nil), token) == nil)
    }

    @Test("a changed claim breaks the signature")
    func changedClaim() throws {
        let parts = try token().split(separator: ".")
        let claims = Base64URL.encode(
            #"{"iss":"DEF123GHIJ","iat":\#(Self.nowSeconds - 1)}"#.utf8)
        #expect(check(checker(), "\(parts[0]).\(claims).\(parts[2])") == .invalidProviderToken)
    }

    @Test(
        "a signed token of the wrong form is invalid",
        arguments: [
            (#"{"alg":"RS256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1772000000}"#),
            (#"{"alg":"none","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":1772000000}"#),
            (#"{"alg":"ES256"}"#, #"{"iss":"DEF123GHIJ","iat":1772000000}"#),
            (#"{"alg":"ES256","kid":"ABC"}"#, #"{"iss":"DEF123GHIJ","iat":1772000000}"#),
            (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF","iat":1772000000}"#),
            (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ"}"#),
            (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":-5}"#),
            (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, #"{"iss":"DEF123GHIJ","iat":"soon"}"#),
            (#"{"alg":"ES256","kid":"ABC123DEFG"}"#, "hello"),
        ])
    func wrongForm(header: String, claims: String) throws {
        let token = try token(header: header, claims: claims)
        #expect(check(checker(keyID: nil), token) == .invalidProviderToken)
        #expect(check(Rig([]), token) == .invalidProviderToken)
    }

    @Test("B55: an iat that is a numeric string is taken, as the real service seems to do")
    func issuedAtAsString() throws {
        let token = try token(
            header: #"{"alg":"ES256","kid":"ABC123DEFG"}"#,
            claims: #"{"iss":"DEF123GHIJ","iat":"1772000000"}"#)
        #expect(check(checker(), token) == nil)
    }

    @Test("without keys the signature is not checked, but form and age are")
    func withoutKeys() throws {
        let checker = Rig([])
        let parts = try token().split(separator: ".")
        let signature = Base64URL.encode([UInt8](repeating: 7, count: 64))
        #expect(check(checker, "\(parts[0]).\(parts[1]).\(signature)") == nil)
        let short = Base64URL.encode([UInt8](repeating: 7, count: 63))
        #expect(check(checker, "\(parts[0]).\(parts[1]).\(short)") == .invalidProviderToken)
        #expect(check(checker, try token(ageSeconds: 3601)) == .expiredProviderToken)
    }

    @Test("each token is verified once while it is remembered, and never more than 64 are")
    func memoryIsBounded() throws {
        let checker = checker()
        let tokens = try (0...64).map { try token(ageSeconds: Int64($0)) }
        for token in tokens.prefix(64) { #expect(check(checker, token) == nil) }
        for token in tokens.prefix(64) { #expect(check(checker, token) == nil) }
        #expect(checker.verificationCount == 64)
        #expect(check(checker, tokens[64]) == nil)  // Takes the place of the first.
        #expect(check(checker, tokens[63]) == nil)
        #expect(checker.verificationCount == 65)
        #expect(check(checker, tokens[0]) == nil)
        #expect(checker.verificationCount == 66)
    }

    // MARK: What a connection remembers

    private func connection() -> GatewayConnection {
        GatewayConnection(inferences: GatewayInferences(), limitMoves: true)
    }

    @Test("a connection takes one new token freely, and further ones 20 minutes apart")
    func updates() throws {
        let rig = checker()
        let connection = connection()
        let tokens = try (0..<4).map { try token(ageSeconds: Int64($0)) }
        let now = Self.nowSeconds
        #expect(rig.check(tokens[0], on: connection, at: now) == nil)
        #expect(rig.check(tokens[1], on: connection, at: now + 10) == nil)
        for token in [tokens[2], tokens[0]] {
            let reason = rig.check(token, on: connection, at: now + 1209)
            #expect(reason == .tooManyProviderTokenUpdates)
        }
        #expect(rig.check(tokens[1], on: connection, at: now + 1209) == nil)  // Not given up.
        #expect(rig.check(tokens[2], on: connection, at: now + 1210) == nil)
        #expect(
            rig.check(tokens[1], on: connection, at: now + 1220) == .tooManyProviderTokenUpdates)
        #expect(rig.check(tokens[3], at: now + 1220) == nil)  // On another connection.
    }

    @Test("the first good token fixes the team; a bad one fixes nothing")
    func oneTeam() throws {
        let rig = checker()
        let connection = connection()
        let other = try token(teamID: "OTHERTEAM0", ageSeconds: 3601)
        #expect(rig.check(other, on: connection) == .expiredProviderToken)
        #expect(rig.check(try token(), on: connection) == nil)
        let fresh = try token(teamID: "OTHERTEAM0")
        #expect(rig.check(fresh, on: connection) == .invalidProviderToken)
        #expect(rig.check(try token(), on: connection) == nil)
    }

    private func key(
        _ id: String, topics: [String] = [], environment: PushEnvironment? = nil,
        related: String? = nil
    ) -> RegistryKey {
        RegistryKey(
            id: id, key: key.verifyingKey, environment: environment, topics: topics,
            related: related)
    }

    /// Apple: Establishing a token-based connection to APNs, on keys that share a connection.
    @Test(
        "which key may follow which on one connection",
        arguments: [
            ("TEAMKEY001", "TEAMKEY002", true), ("TEAMKEY001", "TOPICKEY01", false),
            ("TOPICKEY01", "TEAMKEY001", false), ("TOPICKEY01", "TOPICKEY02", true),
            ("TOPICKEY02", "TOPICKEY01", true), ("TOPICKEY01", "TOPICKEY03", false),
        ])
    func relatedKeys(first: String, second: String, fits: Bool) throws {
        let rig = Rig([
            key("TEAMKEY001"), key("TEAMKEY002"),
            key("TOPICKEY01", topics: ["a"], environment: .production, related: "TOPICKEY02"),
            key("TOPICKEY02", topics: ["b"], environment: .production),
            key("TOPICKEY03", topics: ["c"], environment: .production),
        ])
        let connection = connection()
        #expect(rig.check(try token(keyID: first), on: connection) == nil)
        let reason = rig.check(try token(keyID: second), on: connection)
        #expect(reason == (fits ? nil : .unrelatedKeyIDInToken))
    }

    @Test("a key that is taken away makes its tokens invalid, remembered or not")
    func removedKey() throws {
        var rig = checker()
        let connection = connection()
        let token = try token()
        #expect(rig.check(token, on: connection) == nil)
        rig.registry.keys = [key("OTHERKEY00")]
        #expect(rig.check(token, on: connection) == .invalidProviderToken)
        rig.registry.keys = [key("ABC123DEFG")]
        #expect(rig.check(token, on: connection) == nil)
        rig.registry.keys[0].isRevoked = true
        #expect(rig.check(token, on: connection) == .invalidProviderToken)
    }
}
