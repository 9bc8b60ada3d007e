internal import APNS
package import Campaign
package import Check

/// Looks for what is allowed and yet may not be meant: each finding with its remedy, warnings
/// first.
package struct CheckFindings {
    /// A test device gets a message now and then; more of the same is most likely a mistake.
    static let repeatedCountMin: UInt64 = 10
    /// Apps that Xcode installed are those of the team.
    static let sandboxRowsMin: UInt64 = 10_000
    /// A share of rows, in percent, from which an empty column is worth a line.
    static let emptyPercentMin: UInt64 = 20
    static let invalidPercentMin: UInt64 = 1

    private let campaign: Campaign
    private let facts: CheckFacts
    private let forecast: SendForecast
    private let nowSeconds: Int64
    private var findings: [Finding] = []

    /// - Parameter nowSeconds: the time, in seconds since 1970 UTC.
    package static func all(
        _ campaign: Campaign, _ facts: CheckFacts, _ forecast: SendForecast, nowSeconds: Int64
    ) -> [Finding] {
        var lint = CheckFindings(
            campaign: campaign, facts: facts, forecast: forecast, nowSeconds: nowSeconds)
        lint.lookAtRows()
        lint.lookAtTokens()
        lint.lookAtExpiration()
        lint.lookAtPayloads()
        lint.lookAtLocales()
        lint.lookAtHeaders()
        lint.lookAtPacing()
        return lint.findings.filter(\.isWarning) + lint.findings.filter { !$0.isWarning }
    }

    private init(
        campaign: Campaign, facts: CheckFacts, forecast: SendForecast, nowSeconds: Int64
    ) {
        self.campaign = campaign
        self.facts = facts
        self.forecast = forecast
        self.nowSeconds = nowSeconds
    }

    // MARK: Rows and tokens

    private mutating func lookAtRows() {
        if facts.rows == 0 {
            warn(
                "noRows", "The file has no rows, so nothing would be sent.",
                "Check the program that should have written them.")
        } else if facts.validCount == 0 {
            warn(
                "noValidRows", "Not one row can be sent.",
                "Correct the rows; the reasons stand under \"Invalid rows\".")
        } else if facts.invalidCount * 100 >= facts.rows * Self.invalidPercentMin {
            warn(
                "manyInvalidRows",
                "\(percent(facts.invalidCount, of: facts.rows)) of the rows cannot be sent.",
                "Correct them, or make sure that these are the ones you expect.")
        }
    }

    private mutating func lookAtTokens() {
        if let token = facts.mostRepeated, token.count >= Self.repeatedCountMin {
            let rows = NumberText.count(token.count, "row")
            warn(
                "tokenRepeatedOften",
                "One token stands in \(rows), first in row \(token.firstRow)"
                    + (campaign.skipsDuplicates
                        ? "." : ", and each is sent (duplicates: \"send\")."),
                campaign.skipsDuplicates
                    ? "Look where these rows come from: is it a test device or a placeholder?"
                    : "Write duplicates: \"skip\": APNs answers 429 to many pushes for one device.")
        } else if facts.repeatedCount > 0, !campaign.skipsDuplicates {
            note(
                "duplicatesAreSent",
                "\(NumberText.count(facts.repeatedCount, "row")) repeat"
                    + "\(facts.repeatedCount == 1 ? "s" : "") a token, and each is sent.",
                "Write duplicates: \"skip\" to notify a device once.")
        }
        if campaign.environment == .sandbox, campaign.credentials != .development,
            facts.rows >= Self.sandboxRowsMin
        {
            warn(
                "manySandboxRows",
                "\(NumberText.count(facts.rows)) rows go to the sandbox, which knows only apps that "
                    + "Xcode installed.",
                "Write environment: \"production\" for apps of TestFlight and the App Store.")
        }
        if campaign.credentials == .development {
            note(
                "developmentCredentials",
                "The credentials are Peal's own, which only servers on this machine accept.",
                "Send with --mock or --server, or give the campaign Apple's key.")
        }
    }

    // MARK: Expiration

    private mutating func lookAtExpiration() {
        switch campaign.expiration {
        case nil:
            note(
                "noExpiration",
                "There is no expiration: a device that is off may get this up to 30 days late.",
                "Write expiration: \"4h\", or as long as the message stays true.")
        case .zero where campaign.pushType == .voip || campaign.pushType == .pushtotalk: break
        case .zero:
            warn(
                "expirationZero",
                "The expiration is 0: APNs tries once, and devices that are off never get it.",
                "Write a duration, such as expiration: \"1h\", unless that is what you want.")
        case .after(let seconds): lookAtTime(left: Double(seconds), isRelative: true)
        case .at(let end) where end <= nowSeconds:
            warn(
                "expirationPassed", "The expiration has passed, so nothing would be stored.",
                "Write a later instant, or a duration such as \"4h\".")
        case .at(let end): lookAtTime(left: Double(end - nowSeconds), isRelative: false)
        }
    }

    private mutating func lookAtTime(left seconds: Double, isRelative: Bool) {
        if let takes = forecast.secondsMin, takes > seconds {
            warn(
                "expiresWhileSending",
                "Sending takes \(duration(takes)) at least, and notifications expire "
                    + "\(duration(seconds)) after " + (isRelative ? "its start." : "now."),
                "Write a later expiration, or send faster (pacing).")
        }
        if seconds > Double(APNSLimits.storageSecondsMax) {
            note(
                "expirationBeyondStorage",
                "The expiration is \(duration(seconds)) away; APNs stores for 30 days at most.",
                "Write expiration: \"30d\" or less.")
        }
    }

    // MARK: Payloads

    private mutating func lookAtPayloads() {
        if let largest = facts.sizes.largest, largest * 10 >= facts.sizes.bytesMax * 9 {
            warn(
                "payloadNearLimit",
                "The largest payload has \(NumberText.count(UInt64(largest))) of "
                    + "\(NumberText.count(UInt64(facts.sizes.bytesMax))) bytes (row "
                    + "\(facts.sizes.largestRow)).",
                "Shorten the text: with slightly longer values such a row is never sent.")
        }
        for use in facts.placeholders where use.emptyRows * 100 >= use.rows * Self.emptyPercentMin {
            guard use.emptyRows > 0 else { continue }
            let share = percent(use.emptyRows, of: use.rows)
            let column = ScreenText.harmless(use.column)
            if use.defaults.contains(nil) {
                warn(
                    "placeholderOftenMissing",
                    "\"\(column)\" is empty in \(share) of the rows, and "
                        + "such rows are not sent.",
                    "Fill the column, or write a default: {{\(column)|…}}.")
            } else {
                note(
                    "placeholderOftenEmpty",
                    "\"\(column)\" is empty in \(share) of the rows, which "
                        + "get the default.",
                    "Read the message with the default in its place: is it what you want?")
            }
        }
    }

    private mutating func lookAtLocales() {
        let payloads = campaign.payloads
        guard !payloads.byLocale.isEmpty, facts.rows > 0 else { return }
        let unused = payloads.byLocale.indices.filter { facts.rowsByPayload[$0 + 1] == 0 }
        if !unused.isEmpty {
            let names = unused.map { payloads.name(of: $0) }.joined(separator: ", ")
            note(
                "payloadUnused", "No row gets \(names).",
                "Check the column \"\(ScreenText.harmless(campaign.columns.locale))\" and the names "
                    + "of the locales.")
        }
        let own = facts.locales.filter { $0.payloadIndex < 0 && !$0.text.isEmpty }
        guard !own.isEmpty else { return }
        let names = own.prefix(5).map { ScreenText.harmless($0.text) }.joined(separator: ", ")
        let more = own.count > 5 ? ", …" : ""
        let rows = own.reduce(0) { $0 + $1.rows }
        if payloads.standard == nil {
            warn(
                "localeWithoutPayload",
                "\(NumberText.count(rows, "row")) of locales without a payload (\(names)\(more)) "
                    + "cannot be sent.",
                "Add payloads for them, or a \"payload\" for everybody else.")
        } else {
            note(
                "localeWithoutPayload",
                "\(NumberText.count(rows, "row")) of locales without a payload of their own "
                    + "(\(names)\(more)) get \"payload\".",
                "Add payloads for them, or make sure that people there read its language.")
        }
    }

    // MARK: Headers and pace

    private mutating func lookAtHeaders() {
        if let collapseID = campaign.collapseID, !collapseID.isFixed {
            note(
                "collapseIDVaries", "The collapse id differs from row to row.",
                "Right if it names what is replaced, such as an order; else write it without {{…}}."
            )
        }
        if campaign.pushType == .alert, let priority = campaign.priority, priority < 10 {
            note(
                "alertPriority",
                "The priority of this alert is \(priority): devices may show it later, to save power.",
                "Write priority: 10 if it is to be seen at once.")
        }
        if campaign.pushType == .background {
            note(
                "backgroundIsThrottled",
                "Devices wake an app for two or three background pushes an hour, and drop others.",
                "Send them seldom; use an alert for what must arrive.")
        }
    }

    private mutating func lookAtPacing() {
        let pace = forecast.pace
        let ofConnections = pace.connectionRate * Double(pace.connections)
        if pace.rate > 0, ofConnections > 0, ofConnections < pace.rate {
            note(
                "rateOutOfReach",
                "\(NumberText.count(UInt64(pace.connections), "connection")) at "
                    + "\(NumberText.rate(pace.connectionRate)) per second never reach the rate of "
                    + "\(NumberText.rate(pace.rate)).",
                "Open more connections (pacing.connections), or another mode than \"gentle\".")
        }
        if pace.mode == "unlimited", pace.ratePerSecondMax == nil,
            campaign.credentials != .development
        {
            note(
                "paceUnlimited", "The pace is unlimited: nothing slows down but the service.",
                "Write mode: \"adaptive\", or a rate that your own servers bear when people tap.")
        }
    }

    // MARK: Helpers

    private mutating func warn(_ id: String, _ message: String, _ remedy: String) {
        findings.append(Finding(id: id, isWarning: true, message: message, remedy: remedy))
    }

    private mutating func note(_ id: String, _ message: String, _ remedy: String) {
        findings.append(Finding(id: id, isWarning: false, message: message, remedy: remedy))
    }

    private func percent(_ part: UInt64, of whole: UInt64) -> String {
        NumberText.percent(part, of: whole)
    }

    private func duration(_ seconds: Double) -> String {
        NumberText.duration(seconds: seconds, tenths: false)
    }
}
