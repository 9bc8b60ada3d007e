import Campaign
import Foundation
import Report
import TestSupport

@testable import Check

/// A campaign that is checked in a folder of its own, and what is told of it.
struct CheckRig {
    let folder = TemporaryDirectory()
    let campaign: Campaign
    var facts: CheckFacts
    var pace = SendForecast.Pace(mode: "adaptive", rate: 0, connectionRate: 0, connections: 4)
    /// 2026-12-01T00:00:00Z.
    var nowSeconds: Int64 = 1_796_083_200

    /// `changes` replace, add or (nil) remove keys of the manifest.
    init(_ changes: [String: String?] = [:], recipients: String? = nil) throws {
        var keys = [
            "name": "'trial'", "topic": "'com.example.app'", "recipients": "'r.csv'",
            "environment": "'production'", "expiration": "'4h'",
            "credentials": "{ key: 'k.p8', keyID: 'ABC123DEFG', teamID: 'DEF123GHIJ' }",
            "payload": "{ aps: { alert: 'Hi {{name|friend}}' } }",
        ]
        for (key, value) in changes { keys[key] = value }
        let text = keys.map { "\($0.key): \($0.value)" }.joined(separator: ",\n")
        campaign = try Campaign.load(folder.write("{ \(text) }", to: "campaign.json"))
        let rows = (1...30).map { "\(CheckRig.token($0)),de,Ann\n" }.joined()
        let source = folder.write(recipients ?? "token,locale,name\n" + rows, to: "r.csv")
        facts = try CampaignCheck(
            campaign, CheckOptions(source: source, temporaryFolder: folder.path)
        ).run { _ in }
    }

    static func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    var forecast: SendForecast {
        SendForecast(
            facts, pace: pace, skipsRepeated: campaign.skipsDuplicates,
            hasAPNSID: campaign.usesAPNSID)
    }

    var findings: [Finding] {
        CheckFindings.all(campaign, facts, forecast, nowSeconds: nowSeconds)
    }

    var ids: [String] { findings.map(\.id) }

    func text(columns: Int = 80) -> String {
        CheckText.render(campaign, facts, forecast, findings: findings, columns: columns)
    }
}
