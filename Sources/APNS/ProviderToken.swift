package import Crypto

/// A signed provider token, as it stands after `bearer` in the header `authorization`.
///
/// Apple, "Establishing a token-based connection to APNs"; the form is RFC 7515's compact one.
package struct ProviderToken: Sendable, Equatable, CustomStringConvertible {
    /// A secret for an hour: never for a message.
    package let text: String
    /// The claim `iat`: seconds since 1970.
    package let issuedAt: Int64

    /// Shows nothing of the text, wherever the value is printed.
    package var description: String { "ProviderToken(issuedAt: \(issuedAt))" }

    /// Signs a token. Header and claims hold what Apple asks for and no more; `iat` is a number.
    /// - Parameters:
    ///   - keyID: letters and digits, of the key's file name.
    ///   - teamID: letters and digits, of the developer account.
    package static func make(
        key: SigningKey, keyID: String, teamID: String, issuedAt: Int64
    ) throws(CryptoError) -> ProviderToken {
        try requirePlain(keyID, "key ID")
        try requirePlain(teamID, "team ID")
        let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
        let claims = #"{"iss":"\#(teamID)","iat":\#(issuedAt)}"#
        let input = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        let signature = try key.signES256(Array(input.utf8))
        return ProviderToken(
            text: input + "." + Base64URL.encode(signature), issuedAt: issuedAt)
    }

    /// Only letters and digits go into the JSON, so nothing needs escaping.
    private static func requirePlain(_ id: String, _ what: String) throws(CryptoError) {
        let isPlain = id.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        guard isPlain, !id.isEmpty, id.utf8.count <= 64 else {
            throw CryptoError(
                "the \(what) may only hold letters and digits, \(APNSLimits.idCharacters) of them: "
                    + "copy it from your Apple developer account")
        }
    }
}
