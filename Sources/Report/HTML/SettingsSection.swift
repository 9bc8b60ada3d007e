internal import APNS
internal import Campaign
internal import Sending

/// What was sent with which settings, the facts of the run, and where its lists are. Credentials
/// are left out.
enum SettingsSection {
    /// Locales that are listed; the others are counted.
    private static let localesMax = 20

    static func write(_ facts: RunFacts, to page: inout HTMLWriter) {
        page.element("section", ["aria-labelledby": "settings"]) { page in
            page.element("h2", ["id": "settings"], "Settings")
            page.element("dl") { page in
                if let campaign = facts.campaign { settings(campaign, to: &page) }
                if let pace = facts.pace { pacing(pace, to: &page) }
                entry("Server", to: &page) { $0.outside(host(facts.server)) }
            }
            if facts.campaign == nil {
                page.element(
                    "p", ["class": "soft"],
                    "The copy of the campaign in the run folder cannot be read.")
            }
        }
        page.element("section", ["aria-labelledby": "run"]) { page in
            page.element("h2", ["id": "run"], "The run")
            page.element("dl") { run(facts, to: &$0) }
        }
        page.element("section", ["aria-labelledby": "lists"]) { page in
            page.element("h2", ["id": "lists"], "Where the lists are")
            lists(facts, to: &page)
        }
    }

    private static func settings(_ campaign: Campaign, to page: inout HTMLWriter) {
        entry("Topic (the app)", to: &page) { $0.outside(campaign.topic) }
        entry("Push type", campaign.pushType.name, to: &page)
        entry("Environment", campaign.environment.rawValue, to: &page)
        entry("Priority", campaign.priority.map(String.init) ?? "not set: APNs takes 10", to: &page)
        entry("Expiration", expiration(campaign.expiration), to: &page)
        if campaign.collapseID != nil {
            entry("Collapse id", "set: a later notification replaces an earlier one", to: &page)
        }
        let locales = campaign.payloads.byLocale.map(\.locale)
        if !locales.isEmpty {
            entry("Texts by locale", to: &page) { page in
                page.outside(locales.prefix(localesMax).joined(separator: ", "))
                let more = locales.count - min(locales.count, localesMax)
                if more > 0 { page.write(" and \(more) more") }
            }
        }
        entry(
            "Repeated tokens", campaign.skipsDuplicates ? "sent once" : "sent each time", to: &page)
        if !campaign.suppress.isEmpty {
            entry(
                "Suppression lists", NumberText.count(UInt64(campaign.suppress.count)), to: &page)
        }
        let retry = campaign.retry
        let unknown = retry.onUnknown == .resend ? "sent again" : "not sent again"
        entry(
            "Attempts",
            "up to \(retry.attempts) for each row; a request without an answer is \(unknown)",
            to: &page)
    }

    private static func expiration(_ expiration: Expiration?) -> String {
        switch expiration {
        case nil: "not set: APNs stores for up to 30 days"
        case .zero: "0: one attempt, nothing is stored"
        case .after(let seconds):
            "\(NumberText.duration(seconds: Double(seconds))) after the start"
        case .at(let unixSeconds): InstantText.utc(unixSeconds: unixSeconds)
        }
    }

    private static func pacing(_ pace: RunPace, to page: inout HTMLWriter) {
        var parts = [pace.mode.rawValue]
        if pace.rate > 0 { parts.append("at most \(NumberText.rate(pace.rate)) per second in all") }
        if pace.connectionRate > 0 {
            parts.append(
                "at most \(NumberText.rate(pace.connectionRate)) per second and connection")
        }
        parts.append(
            NumberText.count(UInt64(max(0, pace.connections)), "connection") + " to start with")
        parts.append(NumberText.count(UInt64(max(0, pace.threads)), "thread"))
        entry("Pacing", parts.joined(separator: ", "), to: &page)
    }

    private static func run(_ facts: RunFacts, to page: inout HTMLWriter) {
        let summary = facts.summary
        entry("Started", to: &page) { ResultSection.time(facts.startedAt, to: &$0) }
        entry("Time of sending", to: &page) { page in
            page.figure(
                "seconds", SpeedSection.exact(summary.seconds),
                NumberText.duration(seconds: summary.seconds))
            if summary.resumes > 0 { page.write(", pauses left out") }
        }
        entry("Resumed", to: &page) { page in
            page.count("resumes", summary.resumes)
            page.write(summary.resumes == 1 ? " time" : " times")
        }
        entry("Recipients", to: &page) { page in
            if facts.input == "-" {
                page.write("standard input")
            } else {
                page.outside(facts.input)
            }
            if let limit = facts.limit { page.write(", the first \(NumberText.count(limit)) rows") }
        }
        entry("Run folder", to: &page) { $0.outside(summary.runDirectory) }
    }

    private static func lists(_ facts: RunFacts, to page: inout HTMLWriter) {
        page.element(
            "p",
            "In the run folder. They hold device tokens, which are personal data: do not pass them on."
        )
        page.element("dl") { page in
            for (name, words) in [
                ("unregistered.csv", "the tokens to remove from your lists"),
                ("failures.ndjson", "every row that was not accepted, with its reason"),
                ("retries.ndjson", "every answer after which a row was tried again"),
                ("connections.ndjson", "every connection that has ended, and why"),
            ] {
                page.element("dt") { $0.element("code", name) }
                page.element("dd", words)
            }
        }
    }

    private static func entry(_ name: String, _ value: String, to page: inout HTMLWriter) {
        entry(name, to: &page) { $0.write(value) }
    }

    private static func entry(
        _ name: String, to page: inout HTMLWriter, value: (inout HTMLWriter) -> Void
    ) {
        page.element("dt", name)
        page.element("dd") { value(&$0) }
    }

    /// Without the scheme: it is always the same, and a report names no address to go to.
    private static func host(_ url: String) -> String {
        url.hasPrefix("https://") ? String(url.dropFirst("https://".count)) : url
    }
}
