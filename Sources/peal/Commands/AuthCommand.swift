import APNS
import Campaign
import Crypto
import Glibc

/// `peal auth`: what a campaign's credentials are, and whether they work as far as this machine can
/// tell. Apple is not asked.
enum AuthCommand {
    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitStatus {
        switch try load(arguments) {
        case .key(let subject): try tell(subject, arguments)
        case .identity(let credentials, let campaign): try tell(credentials, campaign, arguments)
        }
        return .completed
    }

    private enum Subject {
        case key(KeySubject)
        case identity(IdentityCredentials, Campaign?)
    }

    /// A key, and what is known of it.
    private struct KeySubject {
        let key: SigningKey
        let file: String
        let keyID: String?
        let teamID: String?
        let isDevelopment: Bool
    }

    // MARK: Loading

    private static func load(_ arguments: ParsedArguments) throws(CommandFailure) -> Subject {
        let name = arguments.operand ?? ""
        // A manifest is a folder or JSON5; whatever else a file holds are credentials.
        if !SmallFile.isFolder(name), case let bytes = try SmallFile.read(name),
            !isManifest(bytes)
        {
            return try load(name, bytes, arguments)
        }
        for option in ["key-id", "team-id", "passphrase-env"] where arguments.has(option) {
            throw .refused(
                "--\(option) goes with a key or certificate file: the campaign \(name) names its "
                    + "own")
        }
        let campaign = try SendCommand.loadCampaign(name)
        switch try CredentialStore.read(for: campaign) {
        case .identity(let identity): return .identity(identity, campaign)
        case .key(let key):
            return .key(
                KeySubject(
                    key: key.key, file: key.file, keyID: key.keyID, teamID: key.teamID,
                    isDevelopment: key.isDevelopment))
        }
    }

    /// Whether a file begins as a manifest does: with an object or a comment.
    private static func isManifest(_ bytes: [UInt8]) -> Bool {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let first = text.first { $0 != 0x20 && !(0x09...0x0D ~= $0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "/")
    }

    private static func load(
        _ name: String, _ bytes: [UInt8], _ arguments: ParsedArguments
    ) throws(CommandFailure) -> Subject {
        let passphraseEnv = arguments.text("passphrase-env")
        if PushIdentity.isLikely(bytes) {
            return .identity(
                try CredentialStore.identity(bytes, name, passphraseEnv: passphraseEnv), nil)
        }
        return .key(
            KeySubject(
                key: try CredentialStore.key(bytes, name, passphraseEnv: passphraseEnv), file: name,
                keyID: arguments.text("key-id") ?? idInFileName(name),
                teamID: arguments.text("team-id"), isDevelopment: false))
    }

    /// Apple names its files `AuthKey_ABC123DEFG.p8`.
    static func idInFileName(_ path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
        let id = name.dropFirst("AuthKey_".count).dropLast(".p8".count)
        return id.count == 10 ? String(id) : nil
    }

    // MARK: Keys

    private static func tell(
        _ subject: KeySubject, _ arguments: ParsedArguments
    ) throws(CommandFailure) {
        try verify(subject)
        guard arguments.has("print-token") else {
            return Terminal.standardError(describe(subject))
        }
        let token = try makeToken(subject)
        guard Terminal.standardOutput(token + "\n") else {
            throw CommandFailure(.internalError, "the token could not be written")
        }
    }

    /// Signs something and verifies it: the two halves of the key belong together.
    private static func verify(_ subject: KeySubject) throws(CommandFailure) {
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

    private static func makeToken(_ subject: KeySubject) throws(CommandFailure) -> String {
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

    private static func describe(_ subject: KeySubject) -> String {
        let publicKey = String(decoding: subject.key.verifyingKey.pem(), as: UTF8.self)
            .split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        var lines = [
            "Key file:    \(subject.file)",
            "Key ID:      \(subject.keyID ?? "not known; --key-id gives it")",
            "Team ID:     \(subject.teamID ?? "not known; --team-id gives it")",
            "Key:         private key, P-256",
            "Public key:  \(publicKey)",
            "Expires:     never; it can be revoked on Apple's page",
            "Check:       a signature of this key verifies",
        ]
        if subject.isDevelopment {
            lines[5] = "Expires:     never"
            lines.append(
                "Note:        made by Peal for servers on this machine; Apple does not know it")
        }
        return text(lines, file: subject.file)
    }

    // MARK: Certificates

    /// Describes first, so that a certificate that is refused can be looked at, too.
    private static func tell(
        _ credentials: IdentityCredentials, _ campaign: Campaign?, _ arguments: ParsedArguments
    ) throws(CommandFailure) {
        guard !arguments.has("print-token") else {
            throw .refused(
                "\(credentials.file) is a certificate, which authenticates by itself: a provider "
                    + "token is made with a p8 key")
        }
        let check = CertificateCheck(credentials, nowSeconds: Int64(time(nil)))
        Terminal.standardError(describe(credentials, check))
        try check.requireValid()
        if let campaign {
            try check.requireFit(topic: campaign.topic, environment: campaign.environment)
            let isSilent = credentials.identity.certificate.allowedTopics.isEmpty
            Terminal.standardError(
                isSilent
                    ? "Campaign:    the certificate does not say whether it is for the topic "
                        + "\(campaign.topic)\n"
                    : "Campaign:    topic \(campaign.topic) and environment "
                        + "\(campaign.environment.rawValue) fit\n")
        }
        if let warning = check.warning { Terminal.standardError("WARNING:     \(warning)\n") }
    }

    private static func describe(
        _ credentials: IdentityCredentials, _ check: CertificateCheck
    ) -> String {
        let identity = credentials.identity
        let certificate = identity.certificate
        let valid = certificate.validSeconds
        let topics = certificate.allowedTopics
        var lines = [
            "Certificate: \(credentials.file) (\(identity.form))",
            "Subject:     \(UTCText.printable(certificate.subject))",
            "Issuer:      \(UTCText.printable(certificate.issuer))",
        ]
        lines += identity.chain.map { "Chain:       \(UTCText.printable($0))" }
        lines += [
            "Topics:      "
                + (topics.isEmpty
                    ? "none; this is probably no certificate for APNs"
                    : topics.map(UTCText.printable).joined(separator: ", ")),
            "Environment: \(environments(certificate))",
            "Key:         private key, \(identity.keyText)",
            "Valid:       \(UTCText.of(valid.lowerBound)) to \(UTCText.of(valid.upperBound))",
            "Days left:   \(max(0, check.daysLeft))",
            "Check:       the key fits the certificate, and a signature verifies",
        ]
        return text(lines, file: credentials.file)
    }

    private static func environments(_ certificate: PushCertificate) -> String {
        switch (certificate.isForSandbox, certificate.isForProduction) {
        case (true, true): "sandbox and production"
        case (true, false): "sandbox alone"
        case (false, true): "production alone"
        case (false, false): "not said; probably both"
        }
    }

    private static func text(_ lines: [String], file: String) -> String {
        var lines = lines
        if SmallFile.isReadableByOthers(file) {
            lines.append(
                "WARNING:     others can read the file; run: chmod 600 \(SendSettings.quoted(file))"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
