import APNS
import Crypto
import Foundation
import Testing

@Suite struct ProviderTokenTests {
    private let key: SigningKey

    init() throws { key = try SigningKey.generate() }

    private func make(_ issuedAt: Int64 = 1_700_000_000) throws -> ProviderToken {
        try ProviderToken.make(
            key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", issuedAt: issuedAt)
    }

    /// Lesson B55: only `iss` and `iat` in the claims, and `iat` a number. The expected texts come
    /// from `printf '…' | base64 | tr '+/' '-_' | tr -d =`.
    @Test func theBytesBeforeTheSignatureAreExactlyWhatAppleAsksFor() throws {
        let parts = try make().text.split(separator: ".")
        #expect(parts.count == 3)
        #expect(parts[0] == "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ")
        #expect(parts[1] == "eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNzAwMDAwMDAwfQ")
        #expect(try make().issuedAt == 1_700_000_000)
    }

    @Test func anIndependentJSONReaderFindsTheSameMembers() throws {
        let parts = try make().text.split(separator: ".")
        let claims = try #require(Base64URL.decode(parts[1].utf8))
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(claims)) as? [String: Any])
        #expect(object.count == 2)
        #expect(object["iss"] as? String == "DEF123GHIJ")
        #expect((object["iat"] as? NSNumber)?.int64Value == 1_700_000_000)
        #expect(object["iat"] as? String == nil)
    }

    @Test func theSignatureIsOverHeaderAndClaims() throws {
        let token = try make()
        let parts = token.text.split(separator: ".")
        let signature = try #require(Base64URL.decode(parts[2].utf8))
        #expect(signature.count == 64)
        #expect(
            key.verifyingKey.verifyES256(
                message: Array("\(parts[0]).\(parts[1])".utf8), signature: signature))
    }

    @Test(arguments: [
        "", "ABC\"123", "ABC 123", "ABC\n", "ÄBC123DEFG", String(repeating: "A", count: 65),
    ])
    func idsThatAreNoneAreRefused(id: String) {
        #expect(throws: CryptoError.self) {
            try ProviderToken.make(key: key, keyID: id, teamID: "DEF123GHIJ", issuedAt: 1)
        }
        #expect(throws: CryptoError.self) {
            try ProviderToken.make(key: key, keyID: "ABC123DEFG", teamID: id, issuedAt: 1)
        }
    }

    @Test func aTokenIsNeverShownWhenPrinted() throws {
        let token = try make()
        #expect(!"\(token)".contains(token.text.prefix(10)))
    }
}

@Suite struct ProviderTokenPartsTests {
    private func parse(_ text: String) -> ProviderTokenParts? {
        withBytes(text, ProviderTokenParts.parse)
    }

    private func token(_ header: String, _ claims: String, signature: String = "c2ln") -> String {
        Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8) + "." + signature
    }

    private let header = #"{"alg":"ES256","kid":"ABC123DEFG"}"#
    private let claims = #"{"iss":"DEF123GHIJ","iat":1700000000}"#

    @Test func takesATokenOfOursApart() throws {
        let key = try SigningKey.generate()
        let token = try ProviderToken.make(
            key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", issuedAt: 1_700_000_000)
        let parts = try #require(parse(token.text))
        #expect(parts.alg == "ES256")
        #expect(parts.keyID == "ABC123DEFG")
        #expect(parts.teamID == "DEF123GHIJ")
        #expect(parts.issuedAt == 1_700_000_000)
        #expect(
            key.verifyingKey.verifyES256(
                message: parts.signingInput, signature: parts.signature))
    }

    /// A common library writes `iat` as a string and repeats `kid` in the claims, and APNs takes
    /// it.
    @Test func takesIatAsAStringAndOtherMembers() throws {
        let other = #"{"kid":"ABC123DEFG","iss":"DEF123GHIJ","iat":"1700000000","x":{"iat":1}}"#
        let parts = try #require(
            parse(token(#"{"typ":"JWT","alg":"ES256","kid":"ABC123DEFG"}"#, other)))
        #expect(parts.issuedAt == 1_700_000_000)
        #expect(parts.keyID == "ABC123DEFG")
    }

    @Test func refusesEveryOtherShape() {
        let good = token(header, claims)
        #expect(parse(good) != nil)
        let signature = "." + "c2ln"
        let bad = [
            "", ".", "..", "...", "a.b.c", good + ".", "." + good, good + signature,
            good.replacing(signature, with: "."), good.replacing(signature, with: ""),
            good + "=", good + " ", "bearer " + good,
            token("{}", claims), token(header, "{}"),
            token(#"{"alg":"ES256"}"#, claims), token(#"{"kid":"A"}"#, claims),
            token(#"{"alg":1,"kid":"A"}"#, claims),
            token(header + "x", claims), token(header, claims + claims),
            token("[" + header + "]", claims), token(String(header.dropLast()), claims),
            token(header, #"{"iss":"T","iat":true}"#), token(header, #"{"iss":"T","iat":""}"#),
            token(header, #"{"iss":"T","iat":"soon"}"#), token(header, #"{"iss":"T","iat":-1}"#),
            token(header, #"{"iss":"T","iat":1.5}"#),
            token(header, #"{"iss":"T","iat":99999999999999999999}"#),
            token(header, #"{"iss":1,"iat":1}"#),
            token(header, #"{"iss":"T","iat":1,"iat":2}"#),
            token(#"{"alg":"none","alg":"ES256","kid":"A"}"#, claims),
            String(repeating: "A", count: 5000),
        ]
        for text in bad { #expect(parse(text) == nil, "\(text)") }
    }

    @Test func leavesTheAlgorithmToTheCaller() throws {
        #expect(parse(token(#"{"alg":"none","kid":"A"}"#, claims))?.alg == "none")
    }
}
