import Campaign
import TestSupport
import Testing

/// A campaign in its folder, read as a sender does: manifest, recipients, rows.
@Suite struct CampaignFileTests {
    private static let people = [
        ("tl", "Ana", "Kamusta!"), ("uz", "Otabek", "Salom!"), ("ms", "Siti", "Halo!"),
        ("hi", "नेहा", "नमस्ते!"), ("ru", "Илья \"Р\"", "Привет!"),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: [RecipientFormat.csv, .ndjson])
    func everyRowOfAFileBecomesItsPayload(_ format: RecipientFormat) throws {
        let name = format == .csv ? "people.csv" : "people.ndjson"
        let byLocale = Self.people.map { "\($0.0): {aps: {alert: '\($0.2) {{name}}'}}" }
        let fixture = CampaignFixture([
            "recipients": "'\(name)'", "payloads": "{\(byLocale.joined(separator: ", "))}",
        ])
        let lines = Self.people.map { locale, person, _ in
            format == .csv
                ? "\(locale),\"\(person.replacing("\"", with: "\"\""))\",\(goodToken)\r\n"
                : "{\"locale\":\"\(locale)\",\"name\":\"\(person.replacing("\"", with: "\\\""))\","
                    + "\"token\":\"\(goodToken)\"}\n"
        }
        let header = format == .csv ? "\u{FEFF}locale,name,token\r\n" : ""
        fixture.directory.write(header + lines.joined(), to: name)

        let campaign = try fixture.load()
        let recipients = try RecipientReader(
            path: campaign.recipients, descriptor: nil, format: format, spool: nil)
        let rows = try RowReader(campaign: campaign, format: format, header: recipients.header)
        let chunk = RecordChunk()
        var payloads: [String] = []
        while try recipients.next(into: chunk) {
            for index in 0..<chunk.recordCount {
                #expect(rows.read(chunk.record(at: index)) == nil)
                #expect(rows.render() == nil)
                payloads.append(String(decoding: rows.payload, as: UTF8.self))
            }
        }
        let expected = Self.people.map { _, person, greeting in
            "{\"aps\":{\"alert\":\"\(greeting) \(person.replacing("\"", with: "\\\""))\"}}"
        }
        #expect(payloads == expected)
    }
}
