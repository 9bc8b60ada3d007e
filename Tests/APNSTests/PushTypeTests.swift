import APNS
import Testing

@Suite struct PushTypeTests {
    /// Apple, "Sending notification requests to APNs", the table of `apns-push-type`.
    @Test(arguments: [
        ("alert", "", 4096, [10, 5, 1]),
        ("background", "", 4096, [5]),
        ("voip", ".voip", 5120, [10, 5, 1]),
        ("complication", ".complication", 4096, [10, 5, 1]),
        ("fileprovider", ".pushkit.fileprovider", 4096, [10, 5, 1]),
        ("mdm", "", 4096, [10, 5, 1]),
        ("liveactivity", ".push-type.liveactivity", 4096, [10, 5]),
        ("pushtotalk", ".voip-ptt", 4096, [10]),
        ("location", ".location-query", 4096, [10, 5]),
        ("controls", ".push-type.controls", 4096, [10, 5, 1]),
        ("widgets", ".push-type.widgets", 4096, [10, 5, 1]),
    ])
    func hasApplesRules(name: String, suffix: String, bytes: Int, priorities: [Int]) throws {
        let type = try #require(PushType.named(name))
        #expect(type.topicSuffix == suffix)
        #expect(type.payloadBytesMax == bytes)
        #expect(type.allowedPriorities == priorities)
    }

    @Test func thereAreElevenWithDifferentNames() {
        #expect(PushType.all.count == 11)
        #expect(Set(PushType.all.map(\.name)).count == 11)
    }

    @Test(arguments: ["", "Alert", "alert ", "liveActivity", "newsstand"])
    func otherNamesAreNone(name: String) {
        #expect(PushType.named(name) == nil)
    }
}
