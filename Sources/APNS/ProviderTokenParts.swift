internal import Crypto
internal import JSON

/// A provider token taken apart, as a server does before it checks the signature.
package struct ProviderTokenParts: Sendable, Equatable {
    /// Bytes of a token, at most; real ones have about 200.
    package static let bytesMax = 4096

    /// The algorithm, as it says of itself; APNs takes only ES256.
    package let alg: String
    /// `kid`: the ten characters of the key.
    package let keyID: String
    /// `iss`: the ten characters of the team.
    package let teamID: String
    /// Seconds since 1970.
    package let issuedAt: Int64
    /// What the signature is over: the first two parts and the dot between them.
    package let signingInput: [UInt8]
    /// As sent; 64 bytes if it is one of ES256. Not checked here.
    package let signature: [UInt8]

    /// Takes the text after `bearer ` apart: three parts in base64url, the first two of them JSON
    /// objects with `alg`, `kid` and `iss`, `iat`. Other members are ignored, as in RFC 7515, but
    /// none may come twice. `iat` may be a number or a numeric string, because a common library
    /// writes a string and lives. Nil for anything else.
    package static func parse(_ text: UnsafeRawBufferPointer) -> ProviderTokenParts? {
        guard text.count <= bytesMax else { return nil }
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = Base64URL.decode(parts[0]),
            let claims = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]), !signature.isEmpty,
            let head = members(of: header, ["alg", "kid"]),
            let body = members(of: claims, ["iss", "iat"]),
            let alg = head[0], let keyID = head[1], let teamID = body[0],
            let issuedAt = body[1].flatMap({ Int64($0) }), issuedAt >= 0
        else { return nil }
        return ProviderTokenParts(
            alg: alg, keyID: keyID, teamID: teamID, issuedAt: issuedAt,
            signingInput: Array(text[..<parts[1].endIndex]), signature: signature)
    }

    /// The text of the named members in the same order; all but `iat` must be strings. Nil if the
    /// bytes are not one whole object, or a name comes twice.
    private static func members(of json: [UInt8], _ names: [StaticString]) -> [String?]? {
        json.withUnsafeBytes { bytes in
            var values = [String?](repeating: nil, count: names.count)
            var scanner = JSONScanner(bytes)
            do throws(JSONError) {
                guard try scanner.next() == .beginObject else { return nil }
                while try scanner.next() == .key {
                    let index = names.firstIndex { scanner.text.equals($0) }
                    let token = try scanner.next()
                    guard let index else {
                        _ = try scanner.finishValue(token)
                        continue
                    }
                    guard values[index] == nil else { return nil }
                    switch token {
                    case .string: values[index] = scanner.text.string
                    case .number where names[index].description == "iat":
                        values[index] = String(decoding: scanner.numberText, as: UTF8.self)
                    default: return nil
                    }
                }
                return try scanner.next() == .end ? values : nil
            } catch { return nil }
        }
    }
}
