import Campaign
import Crypto
import MockAPNS
import Report
import Sending
import Transport

/// `peal send`: reads the campaign, decides where it goes, and sends it.
enum SendCommand {
    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitStatus {
        let campaign = try loadCampaign(arguments.operand ?? "")
        let credentials = try CredentialStore.load(for: campaign)
        try SendSettings.checkServerOptions(arguments)
        let mock = arguments.has("mock") ? try startMock(credentials) : nil
        defer { mock?.stop() }
        let options = try SendSettings.options(
            arguments, campaign: campaign, credentials: credentials, mock: mock)
        guard arguments.has("yes") || agrees(campaign, options) else {
            throw .refused("not confirmed: nothing was sent")
        }
        let isQuiet = arguments.has("quiet")
        let summary = try RunWatcher.send(campaign, options, credentials, isQuiet: isQuiet)
        let resume =
            summary.completed
            ? nil
            : SendSettings.resumeCommand(
                arguments, runDirectory: summary.runDirectory,
                needsStandardInput: !summary.inputHasEnded
                    && (options.recipients ?? campaign.recipients) == "-")
        Terminal.standardError(
            isQuiet
                ? warnings(summary, resume)
                : SummaryText.render(summary, resumeCommand: resume))
        if arguments.has("json"), !Terminal.standardOutput(summary.json()) {
            Terminal.standardError(
                "peal: the summary could not be written to standard output; it is in "
                    + "\(summary.runDirectory)/summary.json\n")
        }
        return ExitStatus(rawValue: summary.exitStatus) ?? .internalError
    }

    /// Reads a campaign, with its errors as refusals.
    static func loadCampaign(_ path: String) throws(CommandFailure) -> Campaign {
        do {
            return try Campaign.load(path)
        } catch {
            throw .refused("\(error)")
        }
    }

    /// A local APNs in this process that knows this campaign's key and no other.
    private static func startMock(_ credentials: Credentials) throws(CommandFailure) -> MockServer {
        var options = MockOptions(
            listen: (host: "127.0.0.1", port: 0), stateDirectory: try StatePath.folder("mock"))
        if case .key(let key) = credentials {
            options.keys = [MockKey(keyID: key.keyID, key: key.key.verifyingKey)]
        }
        return try MockCommand.start(options)
    }

    /// Asks before anything goes to Apple, when there is someone to ask: a script never waits.
    private static func agrees(_ campaign: Campaign, _ options: SendOptions) -> Bool {
        guard Terminal.canAsk, SendSettings.isApple(options.endpoint) else { return true }
        let recipients = options.recipients ?? campaign.recipients
        return Terminal.asksYes(
            "Send '\(campaign.name)' to the devices in \(recipients), "
                + "\(campaign.environment.rawValue), \(options.endpoint.host)?")
    }

    /// What `--quiet` does not silence.
    private static func warnings(_ summary: RunSummary, _ resumeCommand: String?) -> String {
        if let resumeCommand {
            return "peal: stopped: \(summary.stoppedBecause ?? "the run did not complete")\n"
                + "peal: to go on: \(resumeCommand)\n"
        }
        return summary.rows == 0 ? "peal: warning: the file has no rows, nothing was sent\n" : ""
    }
}
