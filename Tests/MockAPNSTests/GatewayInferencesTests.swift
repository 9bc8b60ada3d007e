import APNS
import Crypto
import JSON
import Testing

@testable import MockAPNS

/// Points that Apple leaves open, each switched by a registry to what is not the default.
struct GatewayInferencesTests {
    private static let nowSeconds: Int64 = 1_772_000_000

    struct Switch: Sendable, CustomTestStringConvertible {
        var inference: String
        /// The reasons before and after; nil: 200.
        var before: String?
        var after: String?
        var registry = ""
        var spoil: @Sendable (inout SampleRequest) -> Void
        var testDescription: String { inference }

        init(
            _ inference: String, _ before: String?, _ after: String?, registry: String = "",
            _ spoil: @escaping @Sendable (inout SampleRequest) -> Void
        ) {
            (self.inference, self.before, self.after) = (inference, before, after)
            (self.registry, self.spoil) = (registry, spoil)
        }
    }

    static let switches = [
        Switch("acceptsUpperCaseMessageID: true", "BadMessageId", nil) {
            $0.set("apns-id", "123E4567-E89B-12D3-A456-426655440000")
        },
        Switch("topicMismatchReason: 'InvalidPushType'", "BadTopic", "InvalidPushType") {
            $0.set("apns-push-type", "voip")
        },
        Switch("priorityOfTypeReason: 'InvalidPushType'", "BadPriority", "InvalidPushType") {
            $0.set("apns-push-type", "background")
            $0.set("apns-priority", "10")
        },
        Switch("futureTokenSecondsMax: 59", nil, "InvalidProviderToken") {
            $0.set("authorization", "bearer \(token(issuedAt: nowSeconds + 60))")
        },
        Switch(
            "futureTokenReason: 'ExpiredProviderToken'", "InvalidProviderToken",
            "ExpiredProviderToken"
        ) {
            $0.set("authorization", "bearer \(token(issuedAt: nowSeconds + 3601))")
        },
        Switch(
            "unlistedAppReason: 'Forbidden'", "TopicDisallowed", "Forbidden",
            registry: "apps: { topic: 'com.example.other' }"
        ) { _ in },
        Switch("acceptsUpperCaseDeviceToken: false", nil, "BadDeviceToken") {
            $0.path = $0.path.prefix(10) + SampleRequest.token.uppercased()
        },
        Switch(
            "unknownTokenReason: 'DeviceTokenNotForTopic'", "BadDeviceToken",
            "DeviceTokenNotForTopic", registry: "unknownTokens: 'refuse'"
        ) { _ in },
        Switch("unreadablePayloadReason: 'Forbidden'", "PayloadEmpty", "Forbidden") {
            $0.body = Array("hello".utf8)
        },
        Switch("longerPathReason: 'BadDeviceToken'", "BadPath", "BadDeviceToken") {
            $0.path += "/more"
        },
    ]

    /// A provider token whose signature is not checked.
    private static func token(issuedAt: Int64) -> String {
        let header = Base64URL.encode(#"{"alg":"ES256","kid":"ABC123DEFG"}"#.utf8)
        let claims = Base64URL.encode(#"{"iss":"DEF123GHIJ","iat":\#(issuedAt)}"#.utf8)
        return "\(header).\(claims)." + Base64URL.encode([UInt8](repeating: 1, count: 64))
    }

    private func gateway(_ text: String) throws -> Gateway {
        var registry = Registry()
        let node = try JSONDocument.parse(Array("{ \(text) }".utf8), dialect: .json5)
        try RegistryReader(readKeyFile: nil, nowMs: 0).merge(node, into: &registry)
        return Gateway(
            registry: MockRegistry(registry), counters: MockCounters(),
            acceptedRequests: AcceptedRequests(capacity: 0))
    }

    private func body(_ reason: String?) -> String { reason.map { "{\"reason\":\"\($0)\"}" } ?? "" }

    @Test("each point can be switched", arguments: switches)
    func eachPoint(point: Switch) throws {
        var request = SampleRequest()
        request.set("authorization", "bearer \(Self.token(issuedAt: Self.nowSeconds))")
        point.spoil(&request)
        let before = try gateway(point.registry)
        #expect(
            before.answerText(request, wallSeconds: Self.nowSeconds).body == body(point.before))
        let after = try gateway("inferences: { \(point.inference) }, \(point.registry)")
        #expect(after.answerText(request, wallSeconds: Self.nowSeconds).body == body(point.after))
    }

    @Test("the step of WINDOW_UPDATE can be set")
    func windowStep() throws {
        #expect(try gateway("").inferences.windowStepBytes == 0)
        let set = try gateway("inferences: { windowStepBytes: 4096 }")
        #expect(set.inferences.windowStepBytes == 4096)
    }

    @Test("a stream limit that was set for good stays")
    func fixedLimit() throws {
        let connection = try gateway("").makeConnection(limitMoves: true)
        #expect(connection.streamsMax == 1)
        connection.fixStreamsMax(7)
        for status in [200, 400] as [UInt16] {
            connection.noteAnswer(
                status: status, isFirstToken: true, inferences: GatewayInferences())
            #expect(connection.streamsMax == 7)
        }
    }

    @Test("the first change of a provider token can be made to count")
    func firstChange() throws {
        for (inference, status) in [("", 200), ("countsFirstTokenChange: true", 429)] {
            let gateway = try gateway("inferences: { \(inference) }")
            let connection = gateway.makeConnection(limitMoves: true)
            var request = SampleRequest()
            request.set("authorization", "bearer \(Self.token(issuedAt: Self.nowSeconds))")
            let now = Self.nowSeconds
            #expect(gateway.answerText(request, on: connection, wallSeconds: now).status == 200)
            request.set("authorization", "bearer \(Self.token(issuedAt: now - 1))")
            let answer = gateway.answerText(request, on: connection, wallSeconds: now + 1199)
            #expect(answer.status == status)
            let later = gateway.answerText(request, on: connection, wallSeconds: now + 1200)
            #expect(later.status == 200)
        }
    }

    @Test(
        "requests in a row for one device token count within their time, and others in between end it"
    )
    func consecutiveRequests() throws {
        let gateway = try gateway(
            "inferences: { consecutiveRequestsMax: 2, consecutiveRequestsSeconds: 10 }")
        let connection = gateway.makeConnection(limitMoves: true)
        var request = SampleRequest()
        request.set("authorization", "bearer \(Self.token(issuedAt: Self.nowSeconds))")
        func status(afterSeconds: Int64) -> UInt16 {
            gateway.answerText(
                request, on: connection, wallSeconds: Self.nowSeconds + afterSeconds
            ).status
        }
        #expect([0, 0, 9, 10, 10, 10].map(status) == [200, 200, 429, 200, 200, 429])
        request.path = "/3/device/" + String(repeating: "0c", count: 32)
        #expect(status(afterSeconds: 10) == 200)
        request.path = "/3/device/" + SampleRequest.token
        #expect(status(afterSeconds: 10) == 200)
    }
}
