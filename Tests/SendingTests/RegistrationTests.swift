import APNS
import Foundation
import TestSupport
import Testing

@testable import Sending

/// B81: a token that was registered anew after APNs saw it die is alive.
@Suite(.timeLimit(.minutes(5))) struct RegistrationTests {
    /// `date -u -d @1773478800` says 2026-03-14 09:00:00.
    private static let deadMs: Int64 = 1_773_478_800_000

    @Test func aTokenThatWasRegisteredLaterStaysOffThePruneList() throws {
        let server = try ScriptedServer { request in
            switch request.row {
            case 1...5: .refuse(410, "Unregistered", timestampMs: Self.deadMs)
            case 6: .refuse(400, "BadDeviceToken")
            default: .accept
            }
        }
        var rig = SendingRig(server)
        rig.manifest["columns"] = "{registeredAt: 'since'}"
        let times = [
            "2026-03-14T08:59:59Z", "1773478800", "1773478800001", "2026-03-14T09:00:00.001Z", "",
            "2026-04-01T00:00:00Z", "yesterday", "2026-04-01T00:00:00Z",
        ]
        let rows = times.enumerated().map { "\(SendingRig.token(UInt64($0 + 1))),\($1)\n" }
        rig.options.recipients = rig.folder.write(
            "token,since\n" + rows.joined(), to: "people.csv")
        let sent = try rig.send()
        #expect(sent.summary.completed)
        // The failures say the same of all five; the list leaves out those that are newer.
        #expect((1...5).allSatisfy { sent.outcome($0) == .unregistered })
        let listed = sent.unregistered.dropFirst().map { $0.split(separator: ",")[1] }
        #expect(listed == ["1", "2", "5", "6"])
        #expect(sent.outcome(7) == .invalid)
        #expect(sent.failures[7]?.reason == "BadValue")
        #expect(sent.failures[3]?.registeredAt == "2026-03-14T09:00:00.001Z")
        #expect(sent.failures[5]?.registeredAt == nil)
        #expect(sent.failures[6]?.registeredAt == "2026-04-01T00:00:00.000Z")
        #expect(server.log.requests.count == 7)
    }
}
