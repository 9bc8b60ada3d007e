import Crypto

/// A signing key with the ids that APNs knows it by.
struct Credentials: Sendable {
    let key: SigningKey
    /// The file that holds the key.
    let file: String
    let keyID: String
    let teamID: String
    /// A key that Peal made, which Apple does not know.
    let isDevelopment: Bool
}
