import Campaign
import Crypto
import Glibc

/// Turns what a campaign says about its credentials into a key or a certificate.
enum CredentialStore {
    /// The ids of the development key. Apple gives out ids of ten characters too, and none like
    /// these.
    static let developmentKeyID = "PEALDEV001"
    static let developmentTeamID = "PEALTEAM01"

    /// The credentials that `campaign` names, as far as this machine can tell good for it. Warns of
    /// their end on standard error.
    ///
    /// *Errors*: a refusal that names the file and says what to do.
    static func load(for campaign: Campaign) throws(CommandFailure) -> Credentials {
        let credentials = try read(for: campaign)
        if case .identity(let identity) = credentials {
            let check = CertificateCheck(identity, nowSeconds: Int64(time(nil)))
            try check.requireValid()
            try check.requireFit(topic: campaign.topic, environment: campaign.environment)
            if let warning = check.warning {
                Terminal.standardError("peal: warning: \(warning)\n")
            }
        }
        return credentials
    }

    /// The credentials that `campaign` names, whether they are good for it or not.
    static func read(for campaign: Campaign) throws(CommandFailure) -> Credentials {
        switch campaign.credentials {
        case .key(let source, let keyID, let teamID, let passphraseEnv):
            let (key, name) = try readKey(source, passphraseEnv: passphraseEnv)
            return .key(
                SigningCredentials(
                    key: key, file: name, keyID: keyID, teamID: teamID, isDevelopment: false))
        case .identity(let path, let passphraseEnv):
            let bytes = try SmallFile.read(path, tooLarge: tooLarge)
            return .identity(try identity(bytes, path, passphraseEnv: passphraseEnv))
        case .development:
            return .key(try development())
        }
    }

    private static let tooLarge =
        "a key or certificate: name the p8 file that Apple gave out, or a p12 or PEM file"

    // MARK: Keys

    /// The key in the p8 file `path`.
    static func readKey(
        _ path: String, passphraseEnv: String? = nil
    ) throws(CommandFailure) -> SigningKey {
        try key(SmallFile.read(path), path, passphraseEnv: passphraseEnv)
    }

    private static func readKey(
        _ source: KeySource, passphraseEnv: String?
    ) throws(CommandFailure) -> (SigningKey, String) {
        switch source {
        case .file(let path):
            return (try readKey(path, passphraseEnv: passphraseEnv), path)
        case .environment(let name):
            let text = try SecretVariable.value(of: name, namedBy: "credentials.keyEnv")
            let place = SecretVariable.place(name, namedBy: "credentials.keyEnv")
            return (try key(Array(text.utf8), place, passphraseEnv: passphraseEnv), place)
        }
    }

    static func key(
        _ bytes: [UInt8], _ place: String, passphraseEnv: String?
    ) throws(CommandFailure) -> SigningKey {
        let passphrase = try SecretVariable.passphrase(passphraseEnv)
        do {
            return try SigningKey.p8(bytes, passphrase: passphrase)
        } catch {
            throw refusal(place, error)
        }
    }

    // MARK: Certificates

    /// The certificate and key in the content of the file `path`.
    static func identity(
        _ bytes: [UInt8], _ path: String, passphraseEnv: String?
    ) throws(CommandFailure) -> IdentityCredentials {
        let passphrase = try SecretVariable.passphrase(passphraseEnv)
        do {
            let identity = try PushIdentity.read(bytes, passphrase: passphrase)
            try identity.verifySignature()
            return IdentityCredentials(identity: identity, file: path)
        } catch {
            throw refusal(path, error)
        }
    }

    /// Puts the file's name into the commands of the message, so that they can be typed.
    private static func refusal(_ place: String, _ error: CryptoError) -> CommandFailure {
        let text = error.description.split(separator: "THIS_FILE", omittingEmptySubsequences: false)
            .joined(separator: SendSettings.quoted(place))
        return .refused("\(place): \(text)")
    }

    // MARK: Development

    /// Peal's own key on this machine, made on first use.
    static func development() throws(CommandFailure) -> SigningCredentials {
        let folder = try StatePath.folder("development")
        let file = "\(folder)/AuthKey_\(developmentKeyID).p8"
        try StatePath.create(folder)
        // Of several processes that start at once, the first one's key is everyone's.
        if !SmallFile.exists(file) { _ = try SmallFile.create(file, try makeKey().p8PEM()) }
        return SigningCredentials(
            key: try readKey(file), file: file, keyID: developmentKeyID, teamID: developmentTeamID,
            isDevelopment: true)
    }

    private static func makeKey() throws(CommandFailure) -> SigningKey {
        do {
            return try SigningKey.generate()
        } catch {
            throw CommandFailure(.internalError, "cannot make a development key: \(error)")
        }
    }
}
