import Campaign
import Crypto

/// Turns what a campaign says about its credentials into a key.
enum CredentialStore {
    /// The ids of the development key. Apple gives out ids of ten characters too, and none like
    /// these.
    static let developmentKeyID = "PEALDEV001"
    static let developmentTeamID = "PEALTEAM01"

    /// The key that `campaign` names.
    ///
    /// *Errors*: a refusal that names the file and says what to do.
    static func load(for campaign: Campaign) throws(CommandFailure) -> Credentials {
        switch campaign.credentials {
        case .key(let path, let keyID, let teamID):
            return Credentials(
                key: try readKey(path), file: path, keyID: keyID, teamID: teamID,
                isDevelopment: false)
        case .identity:
            throw .refused(
                "\(campaign.manifestPath): credentials.identity is not yet supported; use a p8 key: "
                    + "credentials: { key, keyID, teamID }")
        case .development:
            return try development()
        }
    }

    /// The key in the p8 file `path`.
    static func readKey(_ path: String) throws(CommandFailure) -> SigningKey {
        let bytes = try SmallFile.read(path)
        do {
            return try SigningKey.p8(bytes)
        } catch {
            throw .refused("\(path): \(error)")
        }
    }

    /// Peal's own key on this machine, made on first use.
    static func development() throws(CommandFailure) -> Credentials {
        let folder = try StatePath.folder("development")
        let file = "\(folder)/AuthKey_\(developmentKeyID).p8"
        try StatePath.create(folder)
        // Of several processes that start at once, the first one's key is everyone's.
        if !SmallFile.exists(file) { _ = try SmallFile.create(file, try makeKey().p8PEM()) }
        return Credentials(
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
