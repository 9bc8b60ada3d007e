internal import APNS
package import Campaign
package import Check

/// One row of a campaign for people: the notification on a phone, the JSON, the headers; or why
/// there is none.
package enum RowText {
    /// The whole text, with a line end at its end.
    ///
    /// - Parameters:
    ///   - source: the file, for the row's place.
    ///   - columns: the width to keep within; the JSON, which is one line, does not.
    package static func render(
        _ row: CheckedRow, _ campaign: Campaign, source: String, columns: Int
    ) -> String {
        var lines = [title(row)]
        if let problem = row.problem {
            lines += problemLines(problem, source: source, columns: columns)
        } else {
            lines += [""] + phone(row, campaign, columns: columns)
            lines += ["", "JSON, \(size(row, campaign)):", exact(row.payload), "", "Headers:"]
            lines += RequestText.headers(campaign, row).map { header in
                "  \(header.name): \(ScreenText.harmless(header.value))"
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The notification alone, indented.
    static func phone(_ row: CheckedRow, _ campaign: Campaign, columns: Int) -> [String] {
        PhoneText.lines(payload: row.payload, topic: campaign.topic, columns: columns - 2)
            .map { "  " + $0 }
    }

    /// "recipients.csv:17:3: what is wrong".
    static func place(_ place: RowPlace, source: String, reason: String) -> String {
        let name = source == "-" ? "standard input" : source
        let text = place.detail ?? reason
        return ScreenText.harmless("\(name):\(place.line):\(place.column): \(text)")
    }

    private static func title(_ row: CheckedRow) -> String {
        var parts = ["Row \(NumberText.count(row.row))", "line \(NumberText.count(row.line))"]
        if let token = row.token { parts.append("token \(token)") }
        parts.append(
            row.problem == nil ? ScreenText.harmless(row.payloadName) : "INVALID, not sent")
        if row.isSuppressed { parts.append("on a suppression list, not sent") }
        return parts.joined(separator: " · ")
    }

    private static func size(_ row: CheckedRow, _ campaign: Campaign) -> String {
        "\(NumberText.count(UInt64(row.payload.count))) of the "
            + "\(NumberText.count(UInt64(campaign.pushType.payloadBytesMax))) bytes that APNs takes"
    }

    private static func problemLines(
        _ problem: CheckedRow.Problem, source: String, columns: Int
    ) -> [String] {
        [place(problem.place, source: source, reason: problem.code.reason)].map { "  " + $0 }
            + ScreenText.wrapped(
                "\(problem.code.reason): \(problem.code.advice)", to: columns - 2
            ).map { "  " + $0 }
    }

    /// The JSON as it is sent, but for characters that could steer a terminal: JSON has another way
    /// to write those, and they stand in strings only.
    private static func exact(_ payload: [UInt8]) -> String {
        String(decoding: payload, as: UTF8.self).unicodeScalars.map { scalar in
            let text = String(scalar)
            guard ScreenText.harmless(text) != text else { return text }
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
