import APNS
import Campaign
import Crypto
import Glibc

/// `peal auth`: what a campaign's credentials are, and whether they work as far as this machine can
/// tell. Apple is not asked.
enum AuthCommand {
    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitStatus {
        let subject = try load(arguments)
        try verify(subject)
        if arguments.has("print-token") {
            let token = try makeToken(subject)
            guard Terminal.standardOutput(token + "\n") else {
                throw CommandFailure(.internalError, "the token could not be written")
            }
        } else {
            Terminal.standardError(describe(subject))
        }
        return .completed
    }

    /// What is described: a key, and what is known of it.
    private struct Subject {
        let key: SigningKey
        let file: String
        let keyID: String?
        let teamID: String?
        let isDevelopment: Bool
    }

    private static func load(_ arguments: ParsedArguments) throws(CommandFailure) -> Subject {
        let name = arguments.operand ?? ""
        let keyID = arguments.text("key-id")
        let teamID = arguments.text("team-id")
        if [".p8", ".pem", ".key"].contains(where: name.hasSuffix) {
            return Subject(
                key: try CredentialStore.readKey(name), file: name,
                keyID: keyID ?? idInFileName(name), teamID: teamID, isDevelopment: false)
        }
        guard keyID == nil, teamID == nil else {
            throw .refused(
                "--key-id and --team-id go with a p8 file: the campaign \(name) names its own ids")
        }
        let credentials = try CredentialStore.load(for: SendCommand.loadCampaign(name))
        return Subject(
            key: credentials.key, file: credentials.file, keyID: credentials.keyID,
            teamID: credentials.teamID, isDevelopment: credentials.isDevelopment)
    }

    /// Apple names its files `AuthKey_ABC123DEFG.p8`.
    static func idInFileName(_ path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        let id = name.dropFirst("AuthKey_".count).dropLast(".p8".count)
        return id.count == 10 ? String(id) : nil
    }

    /// Signs something and verifies it: the two halves of the key belong together.
    private static func verify(_ subject: Subject) throws(CommandFailure) {
        let message = randomBytes(32)
        do {
            let signature = try subject.key.signES256(message)
            if subject.key.verifyingKey.verifyES256(message: message, signature: signature) {
                return
            }
        } catch {
            throw .refused("\(subject.file): the key cannot sign: \(error)")
        }
        throw .refused(
            "\(subject.file): a signature of this key does not verify: download the key again")
    }

    private static func makeToken(_ subject: Subject) throws(CommandFailure) -> String {
        guard let keyID = subject.keyID else {
            throw .refused(
                "a token names its key: add --key-id (ten characters, from Apple's page)")
        }
        guard let teamID = subject.teamID else {
            throw .refused(
                "a token names its team: add --team-id (ten characters, from Apple's page)")
        }
        do {
            return try ProviderToken.make(
                key: subject.key, keyID: keyID, teamID: teamID, issuedAt: Int64(time(nil))
            ).text
        } catch {
            throw .refused("\(subject.file): no token can be made: \(error)")
        }
    }

    private static func describe(_ subject: Subject) -> String {
        let publicKey = String(decoding: subject.key.verifyingKey.pem(), as: UTF8.self)
            .split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        var lines = [
            "Key file:   \(subject.file)",
            "Key ID:     \(subject.keyID ?? "not known; --key-id gives it")",
            "Team ID:    \(subject.teamID ?? "not known; --team-id gives it")",
            "Key:        private key, P-256, unencrypted",
            "Public key: \(publicKey)",
            "Expires:    never; it can be revoked on Apple's page",
            "Check:      a signature of this key verifies",
        ]
        if subject.isDevelopment {
            lines[5] = "Expires:    never"
            lines.append(
                "Note:       made by Peal for servers on this machine; Apple does not know it")
        }
        if SmallFile.isReadableByOthers(subject.file) {
            lines.append(
                "WARNING:    others can read the file; run: chmod 600 '\(subject.file)'")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
