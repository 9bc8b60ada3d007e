import APNS
import Crypto
import JSON
import Testing

@testable import MockAPNS

/// Every reason of Apple's page Handling notification responses from APNs, caused from outside over
/// TLS and HTTP/2 by a client made of raw frames: status, reason, headers, and what becomes of the
/// connection.
@Suite(.timeLimit(.minutes(5)))
struct GatewayReasonTests {
    struct Certificate: Sendable {
        var userID: String?
        var topics: [String] = []
        var marks: [Int] = []
    }

    struct Cause: Sendable, CustomTestStringConvertible {
        var name: String
        var status: Int
        var reason: String
        var registry = "{ keys: [KEY] }"
        var keyIDs: [String] = []
        /// A good push before, which raises the stream limit.
        var warmsUp = true
        /// The certificate that authenticates, instead of a provider token.
        var certificate: Certificate?
        /// What a good request is turned into; may send others before.
        var spoil: @Sendable (GatewayRig, GatewayClient, inout SampleRequest) throws -> Void

        var testDescription: String { name }

        init(
            _ status: Int, _ reason: String, _ name: String = "", registry: String? = nil,
            keyIDs: [String] = [], warmsUp: Bool = true,
            certificate: Certificate? = nil,
            _ spoil:
                @escaping @Sendable (GatewayRig, GatewayClient, inout SampleRequest) throws ->
                Void
        ) {
            self.name = name.isEmpty ? reason : "\(reason): \(name)"
            (self.status, self.reason, self.keyIDs) = (status, reason, keyIDs)
            (self.warmsUp, self.certificate, self.spoil) = (warmsUp, certificate, spoil)
            if let registry { self.registry = registry }
        }

        static func header(_ name: String, _ value: String, _ reason: String) -> Cause {
            Cause(400, reason) { _, _, request in request.set(name, value) }
        }
    }

    static let lines: [Cause] = [
        Cause(405, "MethodNotAllowed") { $2.method = "PUT" },
        Cause(404, "BadPath") { $2.path = "/4/device/" + SampleRequest.token },
        Cause(400, "MissingDeviceToken") { $2.path = "/3/device/" },
        Cause(400, "DuplicateHeaders") { $2.headers.append(("apns-topic", "com.example.app")) },
        .header("apns-id", "no-uuid", "BadMessageId"),
        .header("apns-push-type", "alarm", "InvalidPushType"),
        Cause(400, "MissingTopic") { $2.remove("apns-topic") },
        .header("apns-topic", "com.example.app.voip", "BadTopic"),
        .header("apns-priority", "7", "BadPriority"),
        .header("apns-expiration", "soon", "BadExpirationDate"),
        .header("apns-collapse-id", String(repeating: "c", count: 65), "BadCollapseId"),
        Cause(400, "BadDeviceToken", "its form") { $2.path = "/3/device/abc" },
        Cause(400, "PayloadEmpty") { $2.body = [] },
        Cause(413, "PayloadTooLarge") { $2.body = Self.payload(bytes: 4097) },
    ]

    static let providerTokens: [Cause] = [
        Cause(403, "MissingProviderToken") { $2.remove("authorization") },
        Cause(403, "InvalidProviderToken", "garbage") { $2.set("authorization", "bearer x.y.z") },
        Cause(403, "InvalidProviderToken", "a new key with a known id") { _, _, request in
            let token = try ProviderToken.make(
                key: .generate(), keyID: GatewayRig.keyID, teamID: GatewayRig.team,
                issuedAt: wallClockSeconds())
            request.set("authorization", "bearer \(token.text)")
        },
        Cause(
            403, "InvalidProviderToken", "a revoked key",
            registry:
                #"{ keys: [KEY, { id: "REVOKED000", file: "REVOKED000.pem", revoked: true }] }"#,
            keyIDs: ["REVOKED000"]
        ) { rig, _, request in
            request.set("authorization", try rig.authorization(keyID: "REVOKED000"))
        },
        Cause(
            403, "InvalidProviderToken", "an unknown team", registry: #"{ teams: ["OTHERTEAM0"] }"#,
            warmsUp: false
        ) { _, _, _ in },
        Cause(403, "InvalidProviderToken", "another team on the connection") { rig, _, request in
            request.set("authorization", try rig.authorization(team: "OTHERTEAM0"))
        },
        Cause(403, "ExpiredProviderToken") { rig, _, _ in rig.clock.move(by: 3601) },
        Cause(
            403, "BadEnvironmentKeyInToken",
            registry:
                #"{ keys: [{ id: "ABC123DEFG", file: "ABC123DEFG.pem", environment: "sandbox" }] }"#,
            warmsUp: false
        ) { _, _, _ in },
        Cause(
            403, "BadEnvironmentKeyIdInToken",
            registry: #"""
                {
                  environment: "sandbox",
                  inferences: { environmentKeyReason: "BadEnvironmentKeyIdInToken" },
                  keys: [{ id: "ABC123DEFG", file: "ABC123DEFG.pem", environment: "production" }],
                }
                """#,
            warmsUp: false
        ) { _, _, _ in },
        Cause(
            403, "UnrelatedKeyIdInToken", "a topic's key after a team's",
            registry: #"""
                { keys: [KEY, {
                    id: "TOPICKEY00", file: "TOPICKEY00.pem", environment: "production",
                    topics: ["com.example.app"],
                }] }
                """#, keyIDs: ["TOPICKEY00"]
        ) { rig, _, request in
            request.set("authorization", try rig.authorization(keyID: "TOPICKEY00"))
        },
        Cause(429, "TooManyProviderTokenUpdates") { rig, client, request in
            request.set("authorization", try rig.authorization(ageSeconds: 1))
            let second = try client.exchange(request)
            #expect(second.status == "200")
            rig.clock.move(by: 1199)
            request.set("authorization", try rig.authorization())
        },
        Cause(
            400, "TopicDisallowed", "not of the key",
            registry: #"""
                { keys: [{
                    id: "ABC123DEFG", file: "ABC123DEFG.pem", environment: "production",
                    topics: ["com.example.app"],
                }] }
                """#
        ) { $2.set("apns-topic", "com.example.other") },
        Cause(
            400, "TopicDisallowed", "another team's app",
            registry: #"""
                { keys: [KEY], apps: [
                    { topic: "com.example.app" },
                    { topic: "com.example.other", team: "OTHERTEAM0" },
                ] }
                """#
        ) { $2.set("apns-topic", "com.example.other") },
    ]

    private static func tokens(_ entry: String) -> String {
        let token = String(repeating: "ab", count: 32)
        return #"{ keys: [KEY], tokens: [{ token: "\#(token)", \#(entry) }] }"#
    }

    private static let listed: @Sendable (GatewayRig, GatewayClient, inout SampleRequest) -> Void =
        { $2.path = "/3/device/" + String(repeating: "AB", count: 32) }

    static let deviceTokens: [Cause] = [
        Cause(
            400, "BadDeviceToken", "of the other environment",
            registry: tokens(#"environment: "sandbox""#), listed),
        Cause(
            400, "BadDeviceToken", "not known",
            registry: #"{ keys: [KEY], unknownTokens: "refuse", tokens: { token: "TOKEN" } }"#
                .replacing("TOKEN", with: SampleRequest.token), listed),
        Cause(
            400, "DeviceTokenNotForTopic", registry: tokens(#"topic: "com.example.other""#), listed),
        Cause(410, "Unregistered", registry: tokens("unregisteredSince: 1700000000123"), listed),
        Cause(410, "ExpiredToken", registry: tokens("expiredSince: 1700000000123"), listed),
        Cause(
            429, "TooManyRequests",
            registry: "{ keys: [KEY], inferences: { consecutiveRequestsMax: 2 } }"
        ) { _, client, request in
            let first = try client.exchange(request)
            #expect(first.status == "200")
        },
    ]

    static let certificates: [Cause] = [
        Cause(
            403, "Forbidden",
            certificate: Certificate(userID: "com.example.app")
        ) { _, _, request in
            request.set("apns-push-type", "location")
            request.set("apns-topic", "com.example.app.location-query")
        },
        Cause(
            400, "BadTopic", "not of the certificate",
            certificate: Certificate(userID: "com.example.app")
        ) { $2.set("apns-topic", "com.example.other") },
        Cause(
            400, "MissingTopic", "with a certificate of several topics",
            certificate: Certificate(
                userID: "com.example.app",
                topics: ["com.example.app", "com.example.app.voip"])
        ) { $2.remove("apns-topic") },
        Cause(
            403, "BadCertificate", registry: "{ inferences: { answersCertificateFaults: true } }",
            warmsUp: false, certificate: Certificate()
        ) { _, _, _ in },
        Cause(
            403, "BadCertificateEnvironment",
            registry: "{ inferences: { answersCertificateFaults: true } }", warmsUp: false,
            certificate: Certificate(userID: "com.example.app", marks: [1])
        ) { _, _, _ in },
    ]

    private static func payload(bytes: Int) -> [UInt8] {
        Array("{\"a\":\"\(String(repeating: "x", count: bytes - 8))\"}".utf8)
    }

    static let all = lines + providerTokens + deviceTokens + certificates

    @Test("each reason is caused, told and felt", arguments: all)
    func eachReason(cause: Cause) throws {
        let rig = try GatewayRig(registry: cause.registry, keyIDs: cause.keyIDs)
        let identity = try cause.certificate.map {
            try rig.certificate(userID: $0.userID, topics: $0.topics, marks: $0.marks)
        }
        let client = try rig.client(identity: identity)
        var request = try rig.good()
        if cause.certificate != nil { request.remove("authorization") }
        if cause.warmsUp {
            let first = try client.exchange(request)
            #expect(first.status == "200")
            #expect(first.body == "")
            #expect(first["content-type"] == nil)
            #expect(client.streamsMax == 1000)
        }
        let id = "123e4567-e89b-12d3-a456-426655440000"
        request.set("apns-id", id)
        try cause.spoil(rig, client, &request)

        let answer = try client.exchange(request)
        #expect(answer.status == "\(cause.status)")
        let timestamp = cause.status == 410 ? ",\"timestamp\":1700000000123" : ""
        #expect(answer.body == "{\"reason\":\"\(cause.reason)\"\(timestamp)}")
        #expect(answer["content-type"] == "application/json")
        #expect(answer["apns-unique-id"] == nil)
        if cause.reason != "BadMessageId" { #expect(answer["apns-id"] == id) }

        // A refusal lowers the stream limit to one, but for 410; the connection goes on.
        let isLowered = cause.status != 410
        #expect(client.streamsMax == (isLowered ? 1 : 1000))
        #expect(client.goAway == nil)
        guard cause.warmsUp else { return }
        if ["ExpiredProviderToken", "TooManyProviderTokenUpdates"].contains(cause.reason) {
            rig.clock.move(by: 1201)
        }
        var next = try rig.good()
        if cause.certificate != nil { next.remove("authorization") }
        if cause.reason == "TooManyRequests" {
            next.path = "/3/device/" + String(repeating: "0c", count: 40)
        }
        #expect(try client.exchange(next).status == "200")
        #expect(client.streamsMax == 1000)
    }

    @Test("no reason is left out but those that only a fault causes")
    func complete() {
        let faults: Set = ["IdleTimeout", "Shutdown", "InternalServerError", "ServiceUnavailable"]
        #expect(
            Set(Self.all.map(\.reason)).union(faults) == Set(GatewayReason.allCases.map(\.name)))
    }

    @Test(
        "a bad certificate is told by GOAWAY with the reason as JSON, and the connection ends",
        arguments: [
            ("BadCertificate", nil as String?, [], 0),
            ("BadCertificate", "com.example.app", [2], 8 * 86_400),  // It is good for a week.
            ("BadCertificateEnvironment", "com.example.app", [1], 0),
        ])
    func badCertificate(reason: String, userID: String?, marks: [Int], laterSeconds: Int64) throws {
        let rig = try GatewayRig()
        rig.clock.move(by: laterSeconds)
        let client = try rig.client(
            identity: try rig.certificate(userID: userID, marks: marks))
        try client.waitForEnd()
        let expected = GatewayClient.GoAway(
            lastStream: 0, code: 0, debugData: "{\"reason\":\"\(reason)\"}")
        #expect(client.goAway == expected)
        let counts = try JSONDocument.parse(rig.server.statsJSON(), dialect: .strict)
        #expect(counts["reasons"]?[reason]?.asInt == 1)
    }

    @Test("any reason can be answered by order, and counts", arguments: GatewayReason.allCases)
    func byOrder(reason: GatewayReason) {
        let counters = MockCounters()
        let gateway = Gateway(
            keys: [], counters: counters, acceptedRequests: AcceptedRequests(capacity: 0))
        let connection = gateway.makeConnection(limitMoves: true)
        SampleRequest().withView { request in
            let answer = gateway.refuse(
                request, on: connection, with: reason, wallSeconds: 1_772_000_000)
            let timestamp = reason.status == 410 ? ",\"timestamp\":1772000000000" : ""
            #expect(answer.status == reason.status)
            #expect(
                String(decoding: answer.body, as: UTF8.self)
                    == "{\"reason\":\"\(reason.name)\"\(timestamp)}")
        }
        #expect(counters.value(of: reason) == 1 && counters.value(of: .requests) == 1)
    }
}
