import APNS
import Foundation
import TestSupport
import Testing

@testable import Campaign

@Suite struct ManifestTests {
    @Test func everyKeyIsRead() throws {
        let directory = TemporaryDirectory()
        let text = """
            {
              name: "spring-sale_1.0",
              topic: "com.example.app",
              pushType: "alert",
              priority: 5,
              expiration: "4h",
              collapseID: "sale-{{id}}",
              apnsID: false,
              environment: "production",
              credentials: { key: "AuthKey.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ" },
              recipients: "list.ndjson",
              columns: { token: "device", locale: "language", registeredAt: "since" },
              suppress: ["unregistered.csv", "/lists/opted-out.txt"],
              duplicates: "send",
              payload: { aps: { alert: "Hi {{name|you}}" } },
              payloads: { "pt-BR": { aps: { alert: "Oi" } } },
              pacing: {
                mode: "adaptive", rate: 50000, perConnection: 2.5, connections: 8, streams: 1000,
                rampUp: "10s",
              },
              retry: { attempts: 2, serverErrorDelay: "500ms..5s", onUnknown: "skip" },
              timeouts: { connect: "5s", request: "1m", drain: "20s" },
            }
            """
        let path = directory.write(text, to: "campaign.json")
        let campaign = try Campaign.load(directory.path)
        #expect(campaign.name == "spring-sale_1.0")
        #expect(campaign.topic == "com.example.app")
        #expect(campaign.pushType == .alert)
        #expect(campaign.priority == 5)
        #expect(campaign.expiration == .after(seconds: 14_400))
        #expect(campaign.collapseID?.columns.map(\.name) == ["id"])
        #expect(campaign.usesAPNSID == false)
        #expect(campaign.environment == .production)
        #expect(
            campaign.credentials
                == .key(
                    .file(directory.path + "/AuthKey.p8"), keyID: "ABC123DEFG",
                    teamID: "DEF123GHIJ", passphraseEnv: nil)
        )
        #expect(campaign.recipients == directory.path + "/list.ndjson")
        #expect(campaign.columns.token == "device")
        #expect(campaign.columns.locale == "language")
        #expect(campaign.columns.registeredAt == "since")
        #expect(
            campaign.suppress == [directory.path + "/unregistered.csv", "/lists/opted-out.txt"])
        #expect(campaign.skipsDuplicates == false)
        #expect(campaign.payloads.standard?.columns.map(\.name) == ["name"])
        #expect(campaign.payloads.byLocale.map(\.locale) == ["pt-BR"])
        #expect(
            campaign.pacing
                == Pacing(
                    mode: .adaptive, rate: 50_000, perConnection: 2.5, connections: 8,
                    streams: 1000, rampUpMs: 10_000))
        #expect(
            campaign.retry
                == RetryPolicy(
                    attempts: 2, serverErrorDelaySeconds: 0.5...5, secondPassMs: nil,
                    onUnknown: .skip))
        #expect(campaign.timeouts == Timeouts(connectMs: 5000, requestMs: 60_000, drainMs: 20_000))
        #expect(campaign.manifestPath == path)
        #expect(campaign.manifestBytes == Array(text.utf8))
    }

    /// B12: a connection that leaves is waited for as long as a request may take.
    @Test func absentKeysHaveTheirDefaults() throws {
        let campaign = try CampaignFixture().load()
        #expect(campaign.pushType == .alert)
        #expect(campaign.priority == nil)
        #expect(campaign.expiration == nil)  // lesson B93: no header, never a silent 0
        #expect(campaign.collapseID == nil)
        #expect(campaign.usesAPNSID)
        #expect(campaign.skipsDuplicates)
        #expect(campaign.columns.token == "token")
        #expect(campaign.columns.locale == "locale")
        #expect(campaign.pacing.mode == .adaptive)
        #expect(campaign.pacing.rate == nil)
        #expect(campaign.pacing.rampUpMs == nil)
        #expect(campaign.retry.attempts == 3)
        #expect(campaign.retry.onUnknown == .resend)
        #expect(campaign.timeouts.requestMs == 30_000)
        #expect(campaign.timeouts.drainMs >= campaign.timeouts.requestMs)
    }

    @Test func pathsAreRelativeToTheManifest() throws {
        #expect(
            try CampaignFixture(["recipients": "'/data/all.csv'"]).load().recipients
                == "/data/all.csv")
        #expect(try CampaignFixture(["recipients": "'-'"]).load().recipients == "-")
        let fixture = CampaignFixture(["recipients": "'../all.jsonl'"])
        #expect(try fixture.load().recipients == fixture.directory.path + "/../all.jsonl")
    }

    @Test(arguments: [
        ("0", Expiration.zero), ("'0s'", .after(seconds: 0)), ("'2d'", .after(seconds: 172_800)),
        ("'1500ms'", .after(seconds: 2)), ("'1970-01-01T00:00:01Z'", .at(unixSeconds: 1)),
        ("'2100-01-01T00:00:00Z'", .at(unixSeconds: 4_102_444_800)),  // past 32 bits: lesson B93
    ])
    func expirationIsADurationAnInstantOrZero(_ text: String, _ expected: Expiration) throws {
        #expect(try CampaignFixture(["expiration": text]).load().expiration == expected)
    }

    @Test(arguments: PushType.all)
    func topicsMustFitThePushType(_ type: PushType) throws {
        let payload =
            type == .background ? "{aps: {'content-available': 1}}" : "{aps: {alert: 'x'}}"
        var fixture = CampaignFixture([
            "pushType": "'\(type.name)'", "payload": payload,
            "topic": "'com.example.app\(type.topicSuffix)'",
        ])
        #expect(try fixture.load().topic == "com.example.app\(type.topicSuffix)")
        for other in PushType.all where other.topicSuffix != type.topicSuffix && type != .mdm {
            fixture.values["topic"] = "'com.example.app\(other.topicSuffix)'"
            let error = try #require(fixture.refusal())
            #expect(error.remedy.contains("\"com.example.app\(type.topicSuffix)\""))
        }
    }

    /// Lesson B85: a background push has priority 5 and shows nothing.
    @Test func backgroundPushesAreCheckedAsAppleAsks() throws {
        var fixture = CampaignFixture([
            "pushType": "'background'", "payload": "{aps: {'content-available': 1}, id: 7}",
        ])
        #expect(try fixture.load().priority == 5)
        fixture.values["priority"] = "5"
        #expect(try fixture.load().priority == 5)
        fixture.values["priority"] = "10"
        #expect(fixture.refusal()?.remedy == "write 5")
        fixture.values["priority"] = nil
        for shown in ["alert: 'x'", "badge: 1", "sound: 'default'"] {
            fixture.values["payload"] = "{aps: {'content-available': 1, \(shown)}}"
            #expect(fixture.refusal()?.message.contains("is shown") == true)
        }
        for missing in ["{aps: {}}", "{aps: {'content-available': 0}}", "{id: 7}"] {
            fixture.values["payload"] = missing
            #expect(fixture.refusal()?.description.contains("content-available") == true)
        }
        let silent = CampaignFixture(["payload": "{aps: {'content-available': 1}}"])
        #expect(silent.refusal()?.remedy.contains("background") == true)
    }

    @Test func pushTypesOtherThanAlertAndBackgroundNeedNoAps() throws {
        _ = try CampaignFixture(["pushType": "'mdm'", "payload": "{mdm: 'magic'}"]).load()
        _ = try CampaignFixture([
            "pushType": "'voip'", "topic": "'com.example.app.voip'", "payload": "{call: 1}",
        ]).load()
    }
}
