import JSON
import Testing

@testable import MockAPNS

/// From a request to what a device gets, and to what a person reads.
struct DeviceNotificationTests {
    private static let now: Int64 = 1_800_000_000

    private func notification(_ sample: SampleRequest) -> DeviceNotification {
        let id = Array("123e4567-e89b-12d3-a456-426655440000".utf8)
        return sample.withView { request in
            id.withUnsafeBytes {
                DeviceNotification(
                    request, topic: Array("com.example.app".utf8), messageID: $0,
                    nowSeconds: Self.now)
            }
        }
    }

    @Test("a device gets one line of JSON, with the payload's own bytes in it")
    func line() throws {
        var sample = SampleRequest()
        sample.set("apns-priority", "5")
        sample.set("apns-expiration", "1800000060")
        sample.set("apns-collapse-id", "score \"1\"")
        sample.body = Array("{\r\n  \"aps\": {\"badge\": 1.50},\n  \"x\": \"\\u00e9\"\n}".utf8)
        let text = String(decoding: notification(sample).line, as: UTF8.self)
        #expect(text.hasSuffix("}\n"))
        #expect(text.dropLast().utf8.allSatisfy { $0 >= 0x20 })
        #expect(text.contains(#"{"badge": 1.50}"#) && text.contains(#"\u00e9"#))
        let node = try JSONDocument.parse(Array(text.utf8), dialect: .strict)
        #expect(
            node.members?.map(\.key) == [
                "id", "topic", "pushType", "collapseID", "priority", "expiration", "payload",
            ])
        #expect(node["id"]?.asString == "123e4567-e89b-12d3-a456-426655440000")
        #expect(node["topic"]?.asString == "com.example.app")
        #expect(node["pushType"]?.asString == "alert")
        #expect(node["collapseID"]?.asString == "score \"1\"")
        #expect(node["priority"]?.asInt == 5)
        #expect(node["expiration"]?.asInt == 1_800_000_060)
        #expect(node["payload"]?["x"]?.asString == "é")
    }

    @Test("headers that a request leaves out are left out")
    func absentHeaders() throws {
        var sample = SampleRequest()
        sample.remove("apns-push-type")
        sample.remove("apns-topic")
        let node = try JSONDocument.parse(notification(sample).line, dialect: .strict)
        #expect(node.members?.map(\.key) == ["id", "topic", "payload"])
    }

    /// Apple: 0 is never stored; otherwise the earlier of the date and 30 days.
    @Test(
        "it is stored until the expiration, at most 30 days, by default 30 days",
        arguments: [
            (nil, now + 2_592_000), ("0", 0), ("1", 1), ("1800000060", now + 60),
            ("1802592001", now + 2_592_000), ("9223372036854775807", now + 2_592_000),
        ] as [(String?, Int64)])
    func storedUntil(expiration: String?, expected: Int64) {
        var sample = SampleRequest()
        if let expiration { sample.set("apns-expiration", expiration) }
        #expect(notification(sample).storedUntilSeconds == expected)
    }
}

struct NotificationTextTests {
    private func render(_ notification: String, isReplacement: Bool = false) -> String {
        NotificationText.render(
            Array(notification.utf8), margin: "14:05:09", isReplacement: isReplacement)
    }

    @Test("a person reads title and body first, then the rest, then the app's fields")
    func whole() {
        let text = render(
            """
            {"id":"1","topic":"t","pushType":"alert","priority":5,"payload":{"aps":{"alert":\
            {"title":"Halo, Budi","subtitle":"Promo","body":"Satu\\nDua"},"badge":3,\
            "sound":"default"},"city":"Bandung","offer":{"percent":20}}}
            """)
        #expect(
            text == """
                14:05:09  Halo, Budi
                          Promo
                          Satu
                          Dua
                          badge 3, sound default, priority 5
                          city: Bandung
                          offer: {"percent":20}

                """)
    }

    @Test(
        "alerts of other forms",
        arguments: [
            (#"{"aps":{"alert":"Привет"}}"#, "Привет"),
            (#"{"aps":{"alert":{"title-loc-key":"T","loc-key":"B"}}}"#, "[T]\n          [B]"),
            (
                #"{"aps":{"content-available":1}}"#,
                "(nothing to show)\n          content-available 1"
            ),
            (#"{"call":7}"#, "(nothing to show)\n          call: 7"),
            ("{}", "(nothing to show)"),
            (
                #"{"aps":{"alert":"a\u001b[31mb\r\nc\u202ed"}}"#,
                "a\u{FFFD}[31mb\u{FFFD}\n          c\u{FFFD}d"
            ),
            (#"{"aps":7}"#, "(nothing to show)"),
        ])
    func alert(payload: String, expected: String) {
        #expect(render("{\"payload\":\(payload)}") == "14:05:09  \(expected)\n")
    }

    @Test("push types other than alert, and replacements, are named")
    func facts() {
        let voip = #"{"pushType":"voip","priority":10,"payload":{"aps":{"alert":"Ring"}}}"#
        #expect(render(voip) == "14:05:09  Ring\n          voip\n")
        let goal = #"{"collapseID":"score","payload":{"aps":{"alert":"2:1"}}}"#
        #expect(render(goal) == "14:05:09  2:1\n")
        #expect(
            render(goal, isReplacement: true)
                == "14:05:09  2:1\n          replaces the one before with collapse id score\n")
        #expect(NotificationText.collapseID(Array(goal.utf8)) == "score")
        #expect(NotificationText.collapseID(Array(voip.utf8)) == nil)
    }

    @Test("what is no JSON is said to be so")
    func broken() {
        #expect(render("{") == "14:05:09  (a notification that is no JSON)\n")
    }
}
