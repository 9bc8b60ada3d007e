import APNS
import Campaign
import Crypto
import Foundation
import TestSupport
import Testing
import Transport

@testable import Sending

/// A campaign in a folder of its own, sent by the engine in this process to a scripted server.
struct SendingRig {
    /// Signed with once for all tests; making a key takes long.
    private static let key = try! SigningKey.generate()

    let folder = TemporaryDirectory()
    var rows = 20
    /// Lines of the recipients file behind its header; nil makes one for each row.
    var recipients: String?
    /// Members of the manifest beside those that must be there.
    var manifest: [String: String] = [:]
    var options: SendOptions
    /// Without them, as with a certificate.
    var hasProviderTokens = true

    init(_ server: ScriptedServer, rows: Int = 20) {
        options = SendOptions(endpoint: server.endpoint, runDirectory: folder.path + "/run")
        options.caFile = ScriptedPKI.shared.caFile
        options.connections = 1
        options.pacing = .unlimited  // what a test is about, it says itself
        options.threads = 1
        self.rows = rows
    }

    /// The token of a row: its number in hex.
    static func token(_ row: UInt64) -> String {
        let digits = String(row, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// Sends all and checks what holds of every run.
    func send(sourceLocation: SourceLocation = #_sourceLocation) throws -> SentRun {
        try start().finish(sourceLocation: sourceLocation)
    }

    func start() throws -> RunningCampaign {
        let campaign = try load()
        let tokens =
            hasProviderTokens
            ? ProviderTokenSource(key: Self.key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ") : nil
        let ended = DispatchSemaphore(value: 0)
        let run = try CampaignRun.start(campaign: campaign, options: options, tokens: tokens) {
            ended.signal()
        }
        return RunningCampaign(rig: self, run: run, ended: ended)
    }

    /// Writes the recipients and the manifest, and reads it.
    func load() throws -> Campaign {
        let lines =
            recipients
            ?? (0..<rows).map { Self.token(UInt64($0 + 1)) + "\n" }.joined()
        if options.recipients == nil { folder.write("token\n" + lines, to: "recipients.csv") }
        var members = [
            "name": "'scripted'", "topic": "'com.example.app'", "recipients": "'recipients.csv'",
            "credentials": "'development'", "payload": "{aps: {alert: 'Hello'}}",
            "retry": "{serverErrorDelay: '1ms..2ms'}",
        ]
        members.merge(manifest) { $1 }
        let text = members.map { "\($0.key): \($0.value),\n" }.joined()
        return try Campaign.load(folder.write("{\n\(text)}\n", to: "campaign.json"))
    }
}

struct RunningCampaign {
    let rig: SendingRig
    let run: CampaignRun
    fileprivate let ended: DispatchSemaphore

    /// Whether nothing is waited for any more.
    var hasEnded: Bool {
        guard ended.wait(timeout: .now()) == .success else { return false }
        ended.signal()
        return true
    }

    /// Waits for the end; a run that hangs is an issue and not a test that hangs.
    func finish(sourceLocation: SourceLocation = #_sourceLocation) throws -> SentRun {
        let summary = wait(sourceLocation: sourceLocation)
        let sent = try SentRun(summary, folder: rig.folder.path + "/run")
        try sent.check(sourceLocation)
        return sent
    }

    /// As ``finish(sourceLocation:)``, of a run that cannot leave all its files behind.
    func wait(sourceLocation: SourceLocation = #_sourceLocation) -> RunSummary {
        if ended.wait(timeout: .now() + 40) != .success {
            Issue.record("the run does not end", sourceLocation: sourceLocation)
            run.interrupt()
            run.interrupt()
        }
        return run.wait()
    }
}
