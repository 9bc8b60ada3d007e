import Campaign
import Check
import TestSupport

/// A campaign in a folder of its own, with its recipients.
struct CheckFixture {
    let folder = TemporaryDirectory()
    let campaign: Campaign
    let source: String

    init(
        _ recipients: some Sequence<UInt8>, named name: String = "recipients.csv",
        payload: String = "{ aps: { alert: 'Hi {{name|friend}}' } }", changes: [String] = []
    ) throws {
        source = folder.write(recipients, to: name)
        let keys =
            [
                "name: 'trial'", "topic: 'com.example.app'", "credentials: 'development'",
                "recipients: '\(name)'",
            ] + (payload.isEmpty ? [] : ["payload: \(payload)"]) + changes
        campaign = try Campaign.load(
            folder.write("{ \(keys.joined(separator: ",\n")) }", to: "campaign.json"))
    }

    func check(threads: Int = 1, limit: UInt64? = nil) throws -> CheckFacts {
        var options = CheckOptions(source: source, temporaryFolder: folder.path)
        options.threads = threads
        options.limit = limit
        return try CampaignCheck(campaign, options).run { _ in }
    }

    func row(_ row: UInt64) throws -> CheckedRow {
        try RowFinder.find(row: row, of: source, for: campaign, temporaryFolder: folder.path)
    }
}

/// A device token that a number makes, 64 characters.
func token(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 64 - digits.count) + digits
}
