import APNS
import Campaign
import Report
import Sending

/// `peal report`: the summary of a run that has ended, and its report and list written anew.
enum ReportCommand {
    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitStatus {
        let run: StoredRun
        do {
            run = try StoredRun(arguments.operand ?? "")
        } catch {
            throw CommandFailure(RunWatcher.status(of: error), error.description)
        }
        let (facts, summary) = (run.facts, run.facts.summary)
        // The summary comes first: it needs no disk that takes what is written.
        let text = SummaryText.render(
            summary, resumeCommand: summary.completed ? nil : resumeCommand(facts))
        let bytes = arguments.has("json") ? summary.json() : Array(text.utf8)
        guard Terminal.standardOutput(bytes) else {
            throw CommandFailure(.internalError, "standard output takes no more")
        }
        do {
            try run.writeUnregisteredList()
            try run.write(report: ReportPage.render(facts))
        } catch {
            throw CommandFailure(RunWatcher.status(of: error), error.description)
        }
        return .completed
    }

    /// Writes the report of a run that `send` has ended. That it cannot be written changes nothing
    /// about the run: it is a warning.
    static func write(_ run: CampaignRun, _ summary: RunSummary) {
        do {
            try run.write(report: ReportPage.render(run.facts(summary)))
        } catch {
            Terminal.standardError(
                "peal: warning: there is no report: \(error); then: "
                    + "peal report \(SendSettings.quoted(summary.runDirectory))\n")
        }
    }

    /// How to go on with the run. The campaign's own folder is not known here.
    private static func resumeCommand(_ facts: RunFacts) -> String {
        var words = "peal send CAMPAIGN"
        if !isAppleOfCampaign(facts) {
            words += " --server \(SendSettings.quoted(facts.server)) --ca-file PEM"
        }
        if facts.input == "-", !facts.summary.inputHasEnded { words += " --recipients -" }
        return words + " --resume --run-dir \(SendSettings.quoted(facts.summary.runDirectory))"
    }

    /// Whether the run went where `send` goes without `--server`.
    private static func isAppleOfCampaign(_ facts: RunFacts) -> Bool {
        let environment = facts.campaign?.environment ?? .production
        let host = environment == .production ? APNSHost.production : APNSHost.sandbox
        return facts.server == "https://\(host):\(APNSHost.port)"
    }
}
