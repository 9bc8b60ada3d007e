import Campaign
import Crypto

/// How the sender proves who it is, read and ready.
enum Credentials: Sendable {
    case key(SigningCredentials)
    case identity(IdentityCredentials)

    /// A key that Peal made, which Apple does not know.
    var isDevelopment: Bool {
        if case .key(let key) = self { key.isDevelopment } else { false }
    }

    /// What TLS shows the server; nil with a signing key.
    var identity: CertificatePair? {
        if case .identity(let identity) = self { identity.identity.pair } else { nil }
    }
}

/// A signing key with the ids that APNs knows it by.
struct SigningCredentials: Sendable {
    let key: SigningKey
    /// The file that holds the key, or the variable, for people.
    let file: String
    let keyID: String
    let teamID: String
    /// A key that Peal made, which Apple does not know.
    let isDevelopment: Bool
}

/// A certificate with its key.
struct IdentityCredentials: Sendable {
    let identity: PushIdentity
    let file: String
}
