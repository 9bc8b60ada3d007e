internal import APNS
package import Campaign
package import Check

/// What a check found, for people.
package struct CheckText {
    private static let localesMax = 12
    /// On less, the terminal breaks lines.
    private static let columnsMin = 60
    private static let barColumnsMax = 32

    private let campaign: Campaign
    private let facts: CheckFacts
    private let forecast: SendForecast
    private let findings: [Finding]
    private let columns: Int

    /// The whole text, with a line end at its end, no line wider than `columns` (but for the names
    /// of files).
    package static func render(
        _ campaign: Campaign, _ facts: CheckFacts, _ forecast: SendForecast,
        findings: [Finding], columns: Int
    ) -> String {
        let text = CheckText(
            campaign: campaign, facts: facts, forecast: forecast, findings: findings,
            columns: max(columnsMin, columns))
        let sections = [
            [headline(campaign, facts)], text.rows, text.invalidRows, text.repeatedRows,
            text.payloads, text.locales, text.placeholders, text.sending, text.sample, text.lookAt,
        ]
        return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") + "\n" }
            .joined(separator: "\n")
    }

    /// "spring-sale: 1,000 rows checked in 12 ms, nothing sent".
    package static func headline(_ campaign: Campaign, _ facts: CheckFacts) -> String {
        "\(campaign.name): \(NumberText.count(facts.rows, "row")) checked in "
            + "\(NumberText.duration(seconds: facts.seconds)), nothing sent"
    }

    // MARK: Rows

    private var rows: [String] {
        var table = [(forecast.requests, "would be sent")]
        if facts.invalidCount > 0 { table.append((facts.invalidCount, "invalid, not sent")) }
        if facts.suppressedCount > 0 {
            table.append((facts.suppressedCount, "on a suppression list, not sent"))
        }
        if campaign.skipsDuplicates, facts.repeatedCount > 0 {
            table.append((facts.repeatedCount, "with the token of an earlier row, not sent"))
        }
        return counted(table, of: facts.rows)
    }

    private var invalidRows: [String] {
        guard !facts.invalid.isEmpty else { return [] }
        let width = facts.invalid.map { NumberText.count($0.count).count }.max() ?? 0
        let indent = String(repeating: " ", count: width + 4)
        var lines = ["Invalid rows"]
        for kind in facts.invalid {
            let count = ScreenText.right(NumberText.count(kind.count), in: width)
            lines.append("  \(count)  \(kind.code.reason)")
            lines += wrapped(kind.code.advice, indent: indent)
            lines += kind.examples.map { place in
                indent + RowText.place(place, source: facts.source, reason: kind.code.reason)
            }
            if kind.count > UInt64(kind.examples.count) { lines.append(indent + "…") }
        }
        return lines
    }

    private var repeatedRows: [String] {
        guard facts.repeatedCount > 0 else { return [] }
        let fate = campaign.skipsDuplicates ? "only the first is sent" : "each is sent"
        var lines = ["Repeated tokens (\(fate))"]
        lines += facts.repeatedRows.map { repeated in
            "  row \(NumberText.count(repeated.row)) has the token of row "
                + NumberText.count(repeated.firstRow)
        }
        if facts.repeatedCount > UInt64(facts.repeatedRows.count) {
            let more = facts.repeatedCount - UInt64(facts.repeatedRows.count)
            lines.append("  … and \(NumberText.count(more, "more row"))")
        }
        if let most = facts.mostRepeated, most.count > 2 {
            lines.append(
                "  the most: the token of row \(NumberText.count(most.firstRow)), in "
                    + NumberText.count(most.count, "row"))
        }
        return lines
    }

    // MARK: What is sent

    private var payloads: [String] {
        let sizes = facts.sizes
        guard let smallest = sizes.smallest, let median = sizes.median, let largest = sizes.largest
        else { return [] }
        let limit = NumberText.count(UInt64(sizes.bytesMax))
        var lines = [
            "Payload sizes in bytes (APNs takes \(limit))",
            "  smallest \(NumberText.count(UInt64(smallest))) · median "
                + "\(NumberText.count(UInt64(median))) · largest "
                + "\(NumberText.count(UInt64(largest))), in row "
                + NumberText.count(sizes.largestRow),
        ]
        let buckets = sizes.buckets()
        guard buckets.count > 1 else { return lines }
        let names = buckets.map { bucket in
            let from = NumberText.count(UInt64(bucket.from))
            return bucket.from == bucket.to
                ? from : "\(from) to \(NumberText.count(UInt64(bucket.to)))"
        }
        let nameWidth = names.map(\.count).max() ?? 0
        let countWidth = buckets.map { NumberText.count($0.rows).count }.max() ?? 0
        let most = buckets.map(\.rows).max() ?? 1
        let barColumns = max(8, min(Self.barColumnsMax, columns - nameWidth - countWidth - 6))
        for (name, bucket) in zip(names, buckets) {
            let line =
                "  \(ScreenText.right(name, in: nameWidth))  "
                + ScreenText.right(NumberText.count(bucket.rows), in: countWidth)
            let bar = Self.bar(bucket.rows, of: most, columns: barColumns)
            lines.append(bar.isEmpty ? line : line + "  " + bar)
        }
        return lines
    }

    /// A bar in eighths of a column; nothing only for nothing.
    private static func bar(_ count: UInt64, of most: UInt64, columns: Int) -> String {
        guard count > 0 else { return "" }
        let eighths = max(1, Int((Double(count) / Double(most) * Double(columns) * 8).rounded()))
        let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
        return String(repeating: "█", count: eighths / 8) + rest
    }

    private var locales: [String] {
        guard !facts.locales.isEmpty else { return [] }
        let shown = facts.locales.prefix(Self.localesMax)
        let names = shown.map { use in
            use.text.isEmpty
                ? "(none)" : ColumnWidth.truncated(ScreenText.harmless(use.text), to: 20)
        }
        let nameWidth = names.map(ColumnWidth.of).max() ?? 0
        var table = zip(names, shown).map { name, use in
            (use.rows, "\(ScreenText.padded(name, to: nameWidth))  \(fate(of: use))")
        }
        let rest =
            facts.locales.dropFirst(Self.localesMax).reduce(0) { $0 + $1.rows }
            + facts.otherLocaleRows
        if rest > 0 { table.append((rest, "other locales")) }
        return ["Locales"] + counted(table, of: facts.rows)
    }

    private func fate(of use: LocaleUse) -> String {
        let name = ScreenText.harmless(campaign.payloads.name(of: use.payloadIndex))
        guard use.payloadIndex < 0 else { return name }
        if campaign.payloads.standard == nil { return "no payload: not sent" }
        return use.text.isEmpty ? name : name + ", having none of its own"
    }

    private var placeholders: [String] {
        guard !facts.placeholders.isEmpty, facts.rows > 0 else { return [] }
        let shares = facts.placeholders.map { NumberText.percent($0.emptyRows, of: $0.rows) }
        let names = facts.placeholders.map {
            ColumnWidth.truncated(ScreenText.harmless($0.column), to: 24)
        }
        let shareWidth = shares.map(\.count).max() ?? 0
        let nameWidth = names.map(ColumnWidth.of).max() ?? 0
        var lines = ["Empty placeholders, and what takes their place"]
        for (index, use) in facts.placeholders.enumerated() {
            let line =
                "  \(ScreenText.right(shares[index], in: shareWidth))  "
                + ScreenText.padded(names[index], to: nameWidth) + "  " + Self.inPlace(of: use)
            lines.append(ColumnWidth.truncated(line, to: columns))
        }
        return lines
    }

    private static func inPlace(of use: PlaceholderUse) -> String {
        let texts = use.defaults.map { text in
            text.map { $0.isEmpty ? "empty" : "“\(ScreenText.harmless($0))”" }
                ?? "nothing: the row is not sent"
        }
        return texts.joined(separator: " or ")
    }

    // MARK: What it takes

    private var sending: [String] {
        guard forecast.requests > 0 else { return [] }
        return [
            "Sending",
            "  \(NumberText.count(forecast.requests, "request")), about "
                + "\(NumberText.bytes(forecast.bytes)) to the service",
        ] + wrapped(paceText, indent: "  ")
    }

    /// How long it takes, and why.
    private var paceText: String {
        let pace = forecast.pace
        guard let rate = pace.ratePerSecondMax, let seconds = forecast.secondsMin else {
            let slowSeconds = Double(forecast.requests) / 1000
            let asFast = "as fast as the service allows (\(pace.mode))"
            if slowSeconds < 10 { return asFast + ": a few seconds" }
            let slow = NumberText.duration(seconds: slowSeconds, tenths: false)
            let fast = NumberText.duration(
                seconds: Double(forecast.requests) / 20_000, tenths: false)
            return asFast + ": \(slow) at 1,000 per second, \(fast) at 20,000"
        }
        let isByConnection = pace.rate <= 0 || rate < pace.rate
        let reason =
            isByConnection
            ? "\(NumberText.count(UInt64(pace.connections), "connection")) at "
                + "\(NumberText.rate(pace.connectionRate)) per second each"
            : "\(NumberText.rate(rate)) per second"
        return "\(NumberText.duration(seconds: seconds)) at least: \(pace.mode), \(reason) at most"
    }

    private var lookAt: [String] {
        guard !findings.isEmpty else { return [] }
        return ["To look at"]
            + findings.flatMap { finding in
                let head = finding.isWarning ? "WARNING: " : ""
                return wrapped(head + finding.message, indent: "    ", first: "  - ")
                    + wrapped(finding.remedy, indent: "    ")
            }
    }

    private var sample: [String] {
        guard let row = facts.sample else { return [] }
        return ["Row \(NumberText.count(row.row)) on a phone (another: --row N)"]
            + RowText.phone(row, campaign, columns: columns)
    }

    // MARK: Helpers

    /// Lines of a number, its share, and what it counts.
    private func counted(_ table: [(UInt64, String)], of whole: UInt64) -> [String] {
        let shares = table.map { NumberText.percent($0.0, of: whole) }
        let countWidth = table.map { NumberText.count($0.0).count }.max() ?? 0
        let shareWidth = shares.map(\.count).max() ?? 0
        return zip(table, shares).map { row, share in
            let line =
                "  \(ScreenText.right(NumberText.count(row.0), in: countWidth))  "
                + "\(ScreenText.right(share, in: shareWidth))  \(row.1)"
            return ColumnWidth.truncated(line, to: columns)
        }
    }

    private func wrapped(_ text: String, indent: String, first: String? = nil) -> [String] {
        ScreenText.wrapped(text, to: columns - indent.count).enumerated().map { index, line in
            (index == 0 ? first ?? indent : indent) + line
        }
    }
}
