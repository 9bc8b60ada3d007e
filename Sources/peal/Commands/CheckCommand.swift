import APNS
import Campaign
import Check
import Glibc
import Report
import Sending
import Synchronization
import Transport

/// `peal check`: reads a campaign and its recipients as `send` would, and tells what it found.
/// Nothing is sent, no connection is opened.
enum CheckCommand {
    /// Wider lines are hard to read.
    private static let columnsMax = 100

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitStatus {
        try checkOptions(arguments)
        // What `send` does before its first request, in the same order.
        let campaign = try SendCommand.loadCampaign(arguments.operand ?? "")
        _ = try CredentialStore.load(for: campaign)
        let pace = try pace(arguments, campaign)
        let source = arguments.text("recipients") ?? campaign.recipients
        if let row = arguments.whole("row") {
            return try show(row: row, of: source, campaign, isJSON: arguments.has("json"))
        }
        let facts = try read(source, campaign, arguments)
        try tell(facts, campaign, pace, isJSON: arguments.has("json"))
        return expectedRowsAreThere(facts, arguments) ? .completed : .stopped
    }

    private static func checkOptions(_ arguments: ParsedArguments) throws(CommandFailure) {
        for other in ["limit", "expect-rows"] where arguments.has("row") && arguments.has(other) {
            throw .refused("--row looks at one row: leave --\(other) or --row out")
        }
    }

    private static func pace(
        _ arguments: ParsedArguments, _ campaign: Campaign
    ) throws(CommandFailure) -> SendForecast.Pace {
        let host = campaign.environment == .production ? APNSHost.production : APNSHost.sandbox
        var options = SendOptions(
            endpoint: Endpoint(host: host, port: APNSHost.port), runDirectory: "")
        SendSettings.readPace(arguments, into: &options)
        do {
            let plan = try SendPlan(options: options, pacing: campaign.pacing)
            return SendForecast.Pace(
                mode: (options.pacing ?? campaign.pacing.mode).rawValue, rate: plan.rate,
                connectionRate: plan.connectionRate, connections: plan.connections)
        } catch {
            throw .refused(error.description)
        }
    }

    // MARK: The whole file

    private static func read(
        _ source: String, _ campaign: Campaign, _ arguments: ParsedArguments
    ) throws(CommandFailure) -> CheckFacts {
        var options = CheckOptions(source: source, temporaryFolder: temporaryFolder)
        options.limit = arguments.whole("limit")
        let isTerminal = Terminal.showsStandardError
        let line = Mutex(CheckProgressLine(isTerminal: isTerminal))
        defer { Terminal.standardError(line.withLock { $0.erasure }) }
        do {
            return try CampaignCheck(campaign, options).run { progress in
                let text = line.withLock { $0.update(progress) { Terminal.columns } }
                if let text { Terminal.standardError(text) }
            }
        } catch {
            throw failure(error)
        }
    }

    /// Large files belong into /var/tmp; /tmp is often memory.
    private static var temporaryFolder: String {
        if let folder = StatePath.environment("TMPDIR"), !folder.isEmpty { return folder }
        return access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp"
    }

    private static func tell(
        _ facts: CheckFacts, _ campaign: Campaign, _ pace: SendForecast.Pace, isJSON: Bool
    ) throws(CommandFailure) {
        let forecast = SendForecast(
            facts, pace: pace, skipsRepeated: campaign.skipsDuplicates,
            hasAPNSID: campaign.usesAPNSID)
        let findings = CheckFindings.all(
            campaign, facts, forecast, nowSeconds: Int64(time(nil)))
        if isJSON {
            Terminal.standardError(CheckText.headline(campaign, facts) + "\n")
            return try output(
                CheckJSON.render(campaign, facts, forecast, findings: findings))
        }
        let text = CheckText.render(
            campaign, facts, forecast, findings: findings, columns: columns)
        try output(Array(text.utf8))
    }

    /// As `send` ends with `--expect-rows`.
    private static func expectedRowsAreThere(
        _ facts: CheckFacts, _ arguments: ParsedArguments
    ) -> Bool {
        guard let expected = arguments.whole("expect-rows"), facts.rows < expected,
            facts.rows != arguments.whole("limit")
        else { return true }
        Terminal.standardError(
            "peal: the input ended after \(facts.rows) rows, and --expect-rows says \(expected): "
                + "find out why the file is short\n")
        return false
    }

    // MARK: One row

    private static func show(
        row: UInt64, of source: String, _ campaign: Campaign, isJSON: Bool
    ) throws(CommandFailure) -> ExitStatus {
        let checked: CheckedRow
        do {
            checked = try RowFinder.find(
                row: row, of: source, for: campaign, temporaryFolder: temporaryFolder)
        } catch {
            throw failure(error)
        }
        let text = RowText.render(checked, campaign, source: source, columns: columns)
        try output(isJSON ? CheckJSON.render(checked, campaign) : Array(text.utf8))
        return .completed
    }

    // MARK: Helpers

    private static var columns: Int { min(Terminal.outputColumns, columnsMax) }

    private static func output(_ bytes: [UInt8]) throws(CommandFailure) {
        guard Terminal.standardOutput(bytes) else {
            throw CommandFailure(.internalError, "standard output takes no more")
        }
    }

    private static func failure(_ error: CheckError) -> CommandFailure {
        switch error.kind {
        case .refused: .refused(error.description)
        case .stopped: CommandFailure(.stopped, error.description)
        }
    }
}
