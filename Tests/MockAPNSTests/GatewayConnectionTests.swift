import Crypto
import TestSupport
import Testing

@testable import MockAPNS

/// What a connection to the local APNs is like, seen in raw frames: settings, the stream limit that
/// comes and goes, windows, and clients with certificates.
@Suite(.timeLimit(.minutes(5)))
struct GatewayConnectionTests {
    @Test("the first SETTINGS are those that clients of the real service report")
    func settings() throws {
        let rig = try GatewayRig()
        let client = try rig.client()
        try client.synchronise()
        #expect(client.settings.count == 1)
        #expect(client.settings[0].map(\.id) == [1, 3, 4, 5, 6])
        #expect(client.settings[0].map(\.value) == [4096, 1, 65_535, 16_384, 8000])
        #expect(client.windowUpdates.isEmpty)  // The connection's window is the protocol's.
    }

    @Test("before the first good provider token a second stream is refused")
    func oneStreamAtFirst() throws {
        let rig = try GatewayRig()
        let client = try rig.client()
        let good = try rig.good()
        let first = try client.open(good)
        let second = try client.open(good)
        #expect(try client.answer(on: second).resetCode == 7)
        try client.sendData(good.body, on: first, isLast: true)
        #expect(try client.answer(on: first).status == "200")
        try client.synchronise()
        #expect(client.settings.dropFirst().map { $0.map(\.value) } == [[1000]])
        let many = try (0..<1000).map { _ in try client.open(good) }
        #expect(try client.answer(on: try client.open(good)).resetCode == 7)
        for stream in many { try client.sendData(good.body, on: stream, isLast: true) }
        for stream in many { #expect(try client.answer(on: stream).status == "200") }
    }

    @Test("a refused notification lowers the limit to one, acknowledged or not; 200 restores it")
    func limitDips() throws {
        let rig = try GatewayRig()
        let client = try rig.client()
        let good = try rig.good()
        #expect(try client.exchange(good).status == "200")
        for acknowledges in [true, false] {
            client.acknowledges = acknowledges
            var bad = good
            bad.path = "/3/device/abc"
            #expect(try client.exchange(bad).status == "400")
            #expect(client.streamsMax == 1)
            let stream = try client.open(good)
            #expect(try client.answer(on: try client.send(good)).resetCode == 7)
            try client.sendData(good.body, on: stream, isLast: true)
            #expect(try client.answer(on: stream).status == "200")
            try client.synchronise()
            #expect(client.streamsMax == 1000)
        }
        #expect(client.goAway == nil)
    }

    @Test("streams that are open when the limit falls are answered")
    func openStreams() throws {
        let rig = try GatewayRig()
        let client = try rig.client()
        let good = try rig.good()
        #expect(try client.exchange(good).status == "200")
        let streams = try (0..<5).map { _ in try client.open(good) }
        var bad = good
        bad.body = []
        #expect(try client.exchange(bad).body == #"{"reason":"PayloadEmpty"}"#)
        #expect(client.streamsMax == 1)
        for stream in streams { try client.sendData(good.body, on: stream, isLast: true) }
        for stream in streams { #expect(try client.answer(on: stream).status == "200") }
    }

    @Test("410 neither lowers the limit nor restores it")
    func unregistered() throws {
        let token = String(repeating: "ab", count: 32)
        let rig = try GatewayRig(
            registry: #"{ keys: [KEY], tokens: { token: "\#(token)", unregisteredSince: 5 } }"#)
        let client = try rig.client()
        var dead = try rig.good()
        dead.path = "/3/device/" + token
        #expect(try client.exchange(dead).body == #"{"reason":"Unregistered","timestamp":5}"#)
        #expect(client.streamsMax == 1000)  // Its provider token was good.
        var bad = dead
        bad.set("apns-priority", "x")
        #expect(try client.exchange(bad).status == "400")
        #expect(try client.exchange(dead).status == "410")
        #expect(client.streamsMax == 1)
    }

    @Test("with fast the limit is 1000 and stays there")
    func fast() throws {
        let rig = try GatewayRig(fast: true)
        let client = try rig.client()
        var bad = try rig.good()
        bad.remove("apns-topic")
        #expect(try client.exchange(bad).status == "400")
        #expect(client.settings.count == 1 && client.streamsMax == 1000)
    }

    @Test("pages of its own neither need a token nor move the limit")
    func pages() throws {
        let rig = try GatewayRig()
        let client = try rig.client()
        var page = SampleRequest(method: "GET", path: "/mock/nothing", headers: [], body: [])
        #expect(try client.exchange(page).status == "404")
        page.path = "/mock/stats"
        #expect(try client.exchange(page).status == "200")
        #expect(client.settings.count == 1)
    }

    @Test("the connection's window of 65,535 bytes is refilled when half of it is used up")
    func window() throws {
        let rig = try GatewayRig()
        let client = try rig.client()
        var good = try rig.good()
        good.body = Array("{\"a\":\"\(String(repeating: "x", count: 4088))\"}".utf8)
        #expect(good.body.count == 4096)
        for _ in 0..<7 { #expect(try client.exchange(good).status == "200") }
        #expect(client.windowUpdates.isEmpty)
        #expect(try client.exchange(good).status == "200")
        // 8 × 4096 is the first sum at or above 32,767, half of the window.
        #expect(client.windowUpdates.map(\.stream) == [0])
        #expect(client.windowUpdates.map(\.bytes) == [32_768])
    }

    // MARK: Certificates

    @Test("with a certificate all streams are there at once, without provider token and topic")
    func certificate() throws {
        let rig = try GatewayRig()
        let client = try rig.client(
            identity: try rig.certificate(userID: "com.example.app", marks: [1, 2]))
        var request = SampleRequest()
        request.remove("apns-topic")
        #expect(try client.exchange(request).status == "200")
        #expect(client.settings.count == 1 && client.streamsMax == 1000)
        request.set("authorization", "bearer nonsense")  // Apple: ignored with a certificate.
        #expect(try client.exchange(request).status == "200")
    }

    @Test("a certificate is good for the topics of its extension and for no others")
    func certificateTopics() throws {
        let rig = try GatewayRig()
        let client = try rig.client(
            identity: try rig.certificate(
                userID: "com.example.app", topics: ["com.example.app", "com.example.app.voip"],
                marks: [2]))
        var request = SampleRequest()
        #expect(try client.exchange(request).status == "200")
        request.set("apns-push-type", "voip")
        request.set("apns-topic", "com.example.app.voip")
        #expect(try client.exchange(request).status == "200")
        request.set("apns-push-type", "complication")
        request.set("apns-topic", "com.example.app.complication")
        #expect(try client.exchange(request).body == #"{"reason":"BadTopic"}"#)
        request.remove("apns-topic")
        #expect(try client.exchange(request).body == #"{"reason":"MissingTopic"}"#)
    }

    @Test("curl: a certificate of a file authenticates")
    func curl() throws {
        let rig = try GatewayRig()
        _ = try rig.certificate(userID: "com.example.app", marks: [2])
        let folder = rig.temporary.path
        let result = try Subprocess.run([
            "curl",
            "--silent", "--show-error", "--http2", "--cacert", rig.server.caFile, "--include",
            "--cert", folder + "/client.pem", "--key", folder + "/client-key.pem",
            "--data", "{}", "https://\(rig.server.address)/3/device/\(SampleRequest.token)",
        ])
        #expect(result.output.hasPrefix("HTTP/2 200 "), "\(result)")
    }

    @Test("the sandbox answers with an id for the delivery log, and takes its own certificates")
    func sandbox() throws {
        let rig = try GatewayRig(registry: #"{ environment: "sandbox" }"#)
        let client = try rig.client(
            identity: try rig.certificate(userID: "com.example.app", marks: [1]))
        let answer = try client.exchange(SampleRequest())
        #expect(answer.status == "200")
        #expect(answer["apns-unique-id"]?.utf8.count == 36)
        #expect(answer["apns-unique-id"] != answer["apns-id"])
    }
}
