import Campaign
import TestSupport

/// A manifest in a folder of its own, with a good value for every key that must be there; a test
/// replaces what it is about.
struct CampaignFixture {
    let directory = TemporaryDirectory()
    var values: [String: String] = [
        "name": "'sale'", "topic": "'com.example.app'", "recipients": "'recipients.csv'",
        "credentials": "'development'", "payload": "{aps: {alert: 'Hello'}}",
    ]

    /// `nil` removes the key.
    init(_ changes: [String: String?] = [:]) {
        for (key, value) in changes { values[key] = value }
    }

    /// One key per line, in the order of the names.
    var text: String {
        let lines = values.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value),\n" }
        return "{\n" + lines.joined() + "}\n"
    }

    func load() throws(CampaignError) -> Campaign {
        try Campaign.load(directory.write(text, to: "campaign.json"))
    }

    /// The error of loading, which must come.
    func refusal() -> CampaignError? {
        do throws(CampaignError) {
            _ = try load()
            return nil
        } catch {
            return error
        }
    }
}
