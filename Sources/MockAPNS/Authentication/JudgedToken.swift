internal import APNS
internal import Glibc

/// A provider token that was looked at: everything about it that does not change with time.
final class JudgedToken {
    /// What a good token says. A class, because each request looks at it and a copy would count
    /// the references of everything in it.
    final class Claims {
        let issuedAt: Int64
        let teamID: String
        let keyID: String
        /// The key that has signed it; nil where no keys are known and signatures are not checked.
        let key: RegistryKey?

        init(_ parts: ProviderTokenParts, key: RegistryKey?) {
            issuedAt = parts.issuedAt
            teamID = parts.teamID
            keyID = parts.keyID
            self.key = key
        }
    }

    let text: [UInt8]
    /// nil: it is invalid.
    let claims: Claims?
    /// The state of the registry by which it was judged.
    let credentialsVersion: Int

    init(text: [UInt8], claims: Claims?, credentialsVersion: Int) {
        self.text = text
        self.claims = claims
        self.credentialsVersion = credentialsVersion
    }

    func isText(_ other: UnsafeRawBufferPointer) -> Bool {
        guard text.count == other.count, let start = other.baseAddress else { return false }
        return text.withUnsafeBytes { memcmp($0.baseAddress!, start, other.count) == 0 }
    }
}
