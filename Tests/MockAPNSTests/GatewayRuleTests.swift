import APNS
import Crypto
import Testing

@testable import MockAPNS

/// The provider API's checks, each by a request with that fault and no other. Statuses and reasons
/// are those of Apple's page Handling notification responses from APNs.
struct GatewayRuleTests {
    private static let nowSeconds: Int64 = 1_772_000_000
    private let good: SampleRequest
    private let gateway: Gateway
    private let counters = MockCounters()

    init() throws {
        let key = try SigningKey.generate()
        let token = try ProviderToken.make(
            key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", issuedAt: Self.nowSeconds)
        var good = SampleRequest()
        good.set("authorization", "bearer \(token.text)")
        self.good = good
        gateway = Gateway(
            keys: [MockKey(keyID: "ABC123DEFG", key: key.verifyingKey)], counters: counters,
            acceptedRequests: AcceptedRequests(capacity: 0))
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var name: String
        var status: UInt16
        var reason: String
        var spoil: @Sendable (inout SampleRequest) -> Void
        var testDescription: String { name }

        init(
            _ name: String, _ status: UInt16, _ reason: String,
            _ spoil: @escaping @Sendable (inout SampleRequest) -> Void
        ) {
            (self.name, self.status, self.reason, self.spoil) = (name, status, reason, spoil)
        }

        static func header(
            _ name: String, _ value: String, _ reason: String, status: UInt16 = 400
        ) -> Fault {
            Fault("\(name): \(value.prefix(70))", status, reason) { $0.set(name, value) }
        }

        static func topic(_ pushType: String, _ topic: String, _ reason: String) -> Fault {
            Fault("\(pushType) to \(topic)", 400, reason) {
                $0.set("apns-push-type", pushType)
                $0.set("apns-topic", topic)
            }
        }

        static func path(_ path: String, _ status: UInt16, _ reason: String) -> Fault {
            Fault("path \(path)", status, reason) { $0.path = path }
        }

        static func token(_ name: String, _ token: String) -> Fault {
            Fault("token \(name)", 400, "BadDeviceToken") { $0.path = "/3/device/" + token }
        }

        static func body(_ name: String, _ text: String, _ reason: String) -> Fault {
            Fault("body \(name)", 400, reason) { $0.body = Array(text.utf8) }
        }
    }

    static let lineFaults: [Fault] = [
        Fault("method GET", 405, "MethodNotAllowed") { $0.method = "GET" },
        Fault("method PUT", 405, "MethodNotAllowed") { $0.method = "PUT" },
        .path("/", 404, "BadPath"),
        .path("/3/devices/" + SampleRequest.token, 404, "BadPath"),
        .path("/2/device/" + SampleRequest.token, 404, "BadPath"),
        .path("/3/device/" + SampleRequest.token + "/more", 404, "BadPath"),
        .path("/3/device/", 400, "MissingDeviceToken"),
        .path("/3/device", 400, "MissingDeviceToken"),
        .token("with another letter", String(repeating: "0", count: 63) + "g"),
        .token("of odd length", String(repeating: "0", count: 63)),
        .token("of 30 characters", String(repeating: "0", count: 30)),
        .token("of 514 characters", String(repeating: "0", count: 514)),
        .token("with a query", SampleRequest.token + "?a=b0"),
        .token("with a space", String(repeating: "0", count: 62) + "%20"),
    ]

    static let headerFaults: [Fault] = [
        Fault("two topics", 400, "DuplicateHeaders") {
            $0.headers.append(("apns-topic", "com.example.app"))
        },
        Fault("two provider tokens", 400, "DuplicateHeaders") {
            $0.headers.append(("authorization", "bearer x"))
        },
        .header("apns-id", "", "BadMessageId"),
        .header("apns-id", "123e4567-e89b-12d3-a456-4266554400000", "BadMessageId"),
        .header("apns-id", "123e4567e89b12d3a456426655440000", "BadMessageId"),
        .header("apns-id", "123e4567-e89b-12d3-a456-42665544000g", "BadMessageId"),
        .header("apns-id", "123e4567-e89b-12d3-a456426-655440000", "BadMessageId"),
        .header("apns-id", "123E4567-E89B-12D3-A456-426655440000", "BadMessageId"),
        .header("apns-push-type", "alarm", "InvalidPushType"),
        .header("apns-push-type", "Alert", "InvalidPushType"),
        .header("apns-push-type", "", "InvalidPushType"),
        Fault("no topic", 400, "MissingTopic") { $0.remove("apns-topic") },
        .header("apns-topic", "", "MissingTopic"),
        .topic("voip", "com.example.app", "BadTopic"),
        .topic("alert", "com.example.app.voip", "BadTopic"),
        .topic("liveactivity", "com.example.app.push-type.widgets", "BadTopic"),
        .topic("background", "com.example.app.push-type.liveactivity", "BadTopic"),
        .header("apns-priority", "7", "BadPriority"),
        .header("apns-priority", "010", "BadPriority"),
        .header("apns-priority", "", "BadPriority"),
        Fault("background with priority 10", 400, "BadPriority") {
            $0.set("apns-push-type", "background")
            $0.set("apns-priority", "10")
        },
        .header("apns-expiration", "-1", "BadExpirationDate"),
        .header("apns-expiration", "1e9", "BadExpirationDate"),
        .header("apns-expiration", "", "BadExpirationDate"),
        .header("apns-expiration", "9223372036854775808", "BadExpirationDate"),
        .header("apns-collapse-id", String(repeating: "c", count: 65), "BadCollapseId"),
        // 33 letters of two bytes each: the limit is in bytes.
        .header("apns-collapse-id", String(repeating: "é", count: 33), "BadCollapseId"),
        Fault("no provider token", 403, "MissingProviderToken") { $0.remove("authorization") },
        .header("authorization", "basic abc", "MissingProviderToken", status: 403),
        .header("authorization", "bearer abc", "InvalidProviderToken", status: 403),
    ]

    static let payloadFaults: [Fault] = [
        .body("empty", "", "PayloadEmpty"),
        .body("that is no JSON", "hello", "PayloadEmpty"),
        .body("that is an array", "[]", "PayloadEmpty"),
        .body("cut off", #"{"aps":{"alert":"Hel"#, "PayloadEmpty"),
        .body("with text after it", "{} {}", "PayloadEmpty"),
        Fault("payload of 4097 bytes", 413, "PayloadTooLarge") { $0.body = payload(bytes: 4097) },
        Fault("payload of a megabyte", 413, "PayloadTooLarge") {
            $0.body = payload(bytes: 8192)
            $0.bodyBytes = 1 << 20
        },
        Fault("VoIP payload of 5121 bytes", 413, "PayloadTooLarge") {
            $0.set("apns-push-type", "voip")
            $0.set("apns-topic", "com.example.app.voip")
            $0.body = payload(bytes: 5121)
        },
    ]

    private static func payload(bytes: Int) -> [UInt8] {
        let start = Array(#"{"a":""#.utf8)
        let end = Array("\"}".utf8)
        let filling = [UInt8](
            repeating: UInt8(ascii: "x"), count: bytes - start.count - end.count)
        return start + filling + end
    }

    @Test("each fault gets its reason", arguments: lineFaults + headerFaults + payloadFaults)
    func eachFaultGetsItsReason(fault: Fault) {
        var request = good
        fault.spoil(&request)
        let answer = gateway.answerText(request, wallSeconds: Self.nowSeconds)
        #expect(answer.status == fault.status)
        #expect(answer.body == #"{"reason":"\#(fault.reason)"}"#)
        #expect(counters.value(of: .accepted) == 0)
    }

    static let variants: [Fault] = [
        Fault("as it is", 200, "") { _ in },
        Fault("no push type", 200, "") { $0.remove("apns-push-type") },
        Fault("no push type, suffixed topic", 200, "") {
            $0.remove("apns-push-type")
            $0.set("apns-topic", "com.example.app.voip")
        },
        Fault("mdm to a certificate's topic", 200, "") {
            $0.set("apns-push-type", "mdm")
            $0.set("apns-topic", "com.apple.mgmt.External.voip")
        },
        .header("apns-priority", "10", "", status: 200),
        .header("apns-priority", "5", "", status: 200),
        .header("apns-priority", "1", "", status: 200),
        Fault("background with priority 5", 200, "") {
            $0.set("apns-push-type", "background")
            $0.set("apns-priority", "5")
        },
        .header("apns-expiration", "0", "", status: 200),
        .header("apns-expiration", "9223372036854775807", "", status: 200),
        .header("apns-collapse-id", String(repeating: "c", count: 64), "", status: 200),
        .path("/3/device/" + String(repeating: "a0", count: 16), 200, ""),
        .path("/3/device/" + String(repeating: "a0", count: 256), 200, ""),
        .path("/3/device/" + SampleRequest.token.uppercased(), 200, ""),
        Fault("payload of 4096 bytes", 200, "") { $0.body = payload(bytes: 4096) },
        Fault("VoIP payload of 5120 bytes", 200, "") {
            $0.set("apns-push-type", "voip")
            $0.set("apns-topic", "com.example.app.voip")
            $0.body = payload(bytes: 5120)
        },
        Fault("Bearer in another case", 200, "") { request in
            let token = request.headers.first { $0.name == "authorization" }!.value
            request.set("authorization", "BEARER" + token.dropFirst(6))
        },
    ]

    @Test("what Apple allows is accepted", arguments: variants)
    func whatAppleAllowsIsAccepted(variant: Fault) {
        var request = good
        variant.spoil(&request)
        let answer = gateway.answerText(request, wallSeconds: Self.nowSeconds)
        #expect(answer.status == 200)
        #expect(answer.body == "")
        #expect(counters.value(of: .accepted) == 1)
    }

    @Test("every push type is accepted with its own topic", arguments: PushType.all.map(\.name))
    func everyPushTypeIsAccepted(name: String) throws {
        var request = good
        request.set("apns-push-type", name)
        let suffix = try #require(PushType.named(name)).topicSuffix
        request.set("apns-topic", "com.example.app" + suffix)
        #expect(gateway.answerText(request, wallSeconds: Self.nowSeconds).status == 200)
    }

    @Test("of several faults the first in the order of the rules decides")
    func theFirstFaultDecides() {
        var request = good
        // Spoiled from the last rule to the first: each new fault takes over from the one before.
        let steps: [(String, (inout SampleRequest) -> Void)] = [
            ("PayloadEmpty", { $0.body = [] }),
            ("BadDeviceToken", { $0.path = "/3/device/x" }),
            ("MissingProviderToken", { $0.remove("authorization") }),
            ("BadCollapseId", { $0.set("apns-collapse-id", String(repeating: "c", count: 65)) }),
            ("BadExpirationDate", { $0.set("apns-expiration", "x") }),
            ("BadPriority", { $0.set("apns-priority", "x") }),
            ("MissingTopic", { $0.remove("apns-topic") }),
            ("InvalidPushType", { $0.set("apns-push-type", "x") }),
            ("BadMessageId", { $0.set("apns-id", "x") }),
            ("DuplicateHeaders", { $0.headers.append(("apns-id", "x")) }),
            ("MissingDeviceToken", { $0.path = "/3/device/" }),
            ("MethodNotAllowed", { $0.method = "GET" }),
        ]
        for (reason, spoil) in steps {
            spoil(&request)
            let answer = gateway.answerText(request, wallSeconds: Self.nowSeconds)
            #expect(answer.body == #"{"reason":"\#(reason)"}"#)
        }
    }

    @Test("a good message id comes back, also with an error; without one a fresh UUID is made")
    func messageIDs() {
        let id = "123e4567-e89b-12d3-a456-426655440000"
        var request = good
        request.set("apns-id", id)
        #expect(gateway.answerText(request, wallSeconds: Self.nowSeconds).messageID == id)
        request.body = []
        #expect(gateway.answerText(request, wallSeconds: Self.nowSeconds).messageID == id)
        request.set("apns-id", "not a UUID")
        let made = (0..<1000).map { _ in
            gateway.answerText(request, wallSeconds: Self.nowSeconds).messageID
        }
        #expect(Set(made).count == 1000)
        // Version 4 and variant as in RFC 9562 sections 4.1, 4.2.
        let form = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        #expect(made.allSatisfy { $0.wholeMatch(of: form) != nil })
    }

    @Test("the sender's reason table knows every reason, with the same status")
    func reasonsAgreeWithTheSendersTable() {
        for reason in GatewayReason.allCases {
            let text = Array(reason.name.utf8)
            let code = text.withUnsafeBytes { Reasons.code(status: reason.status, reason: $0) }
            // The sender takes the two spellings of one reason for the same.
            let name =
                reason == .badEnvironmentKeyIDInToken ? "BadEnvironmentKeyInToken" : reason.name
            #expect(code?.reason == name)
        }
    }
}
