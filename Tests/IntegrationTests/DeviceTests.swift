import EventLoop
import Foundation
import MockAPNS
import TLS
import TestSupport
import Testing
import Transport

/// From the campaign's file to the phone: the sender, the local APNs and the phones are processes
/// of their own, joined by sockets alone.
@Suite(.timeLimit(.minutes(5))) struct DeviceTests {
    private let peal = PealProgram()

    /// Sends one message to the tokens given, and requires that all were accepted.
    private func send(
        _ body: String, to tokens: [String], at mock: MockProgram, changes: [String: String] = [:]
    ) throws {
        let folder = try peal.campaign(
            recipients: ("token,name\n" + tokens.map { "\($0),friend\n" }.joined()).utf8,
            changes: ["payload": "{ aps: { alert: '\(body)' } }"].merging(changes) { $1 })
        let result = try peal.run(
            "send", folder, "--server", mock.url, "--ca-file", mock.caFile, "--run-dir",
            peal.folder.path + "/run-\(UUID().uuidString)", "--json")
        let summary = try Summary(Data(result.outputBytes))
        #expect(summary.counted == ["accepted": tokens.count], "\(result.errors)")
    }

    private func alert(_ notification: [String: Any]?) throws -> String {
        let payload = try #require(notification?["payload"] as? [String: Any])
        let aps = try #require(payload["aps"] as? [String: Any])
        return try #require(aps["alert"] as? String)
    }

    /// The five stages: a device registers, gets a token, the provider's server sends, the service
    /// routes, the device receives.
    @Test func fiveStagesFromTheRegistrationToTheScreen() throws {
        let mock = try MockProgram(peal)
        let phone = try DeviceProgram(peal, at: mock, name: "maria", "--count", "1")
        let token = try phone.waitUntilConnected()
        let campaign = try peal.campaign(
            recipients: "token,name,badge\n\(token),María,3\n".utf8,
            changes: [
                "payload": """
                { aps: { alert: { title: 'Hola, {{name}}', body: '20 % off' },
                  badge: '{{badge:int}}', sound: 'default' }, offer: 'spring' }
                """
            ])

        let result = try peal.run(
            "send", campaign, "--server", mock.url, "--ca-file", mock.caFile)

        #expect(result.status == 0, "\(result.errors)")
        #expect(phone.process.wait().status == 0)
        let lines = try phone.output().split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        #expect(lines.first?.wholeMatch(of: /[0-9]{2}:[0-9]{2}:[0-9]{2}  Hola, María/) != nil)
        #expect(lines.dropFirst() == ["20 % off", "badge 3, sound default", "offer: spring"])
    }

    @Test func twoPhonesGetEachTheirOwnAsJSON() throws {
        let mock = try MockProgram(peal, "--threads", "2")
        let phones = try ["anna", "ben"].map {
            try DeviceProgram(peal, at: mock, name: $0, "--count", "1", "--json")
        }
        let tokens = try phones.map { try $0.waitUntilConnected() }
        let campaign = try peal.campaign(
            recipients: "token,name\n\(tokens[0]),Anna\n\(tokens[1]),Ben\n".utf8,
            changes: ["collapseID": "'greeting'", "priority": "5", "apnsID": "true"])

        let result = try peal.run(
            "send", campaign, "--server", mock.url, "--ca-file", mock.caFile)

        #expect(result.status == 0, "\(result.errors)")
        for (phone, name) in zip(phones, ["Anna", "Ben"]) {
            #expect(phone.process.wait().status == 0)
            let notifications = try phone.notifications()
            #expect(notifications.count == 1)
            let first = notifications.first
            #expect(try alert(first) == "Hello \(name)")
            #expect(first?["topic"] as? String == "com.example.app")
            #expect(first?["pushType"] as? String == "alert")
            #expect(first?["priority"] as? Int == 5)
            #expect(first?["collapseID"] as? String == "greeting")
            #expect((first?["id"] as? String).flatMap(UUID.init(uuidString:)) != nil)
        }
    }

    /// A phone that is away, and the rule that expiration 0 is never stored.
    @Test func anAbsentPhoneGetsTheLatestThatWasStoredWhenItReturns() throws {
        let mock = try MockProgram(peal)
        let phone = try DeviceProgram(peal, at: mock, name: "maria")
        let token = try phone.waitUntilConnected()
        phone.process.signal(SIGTERM)
        #expect(phone.process.wait().status == 0)

        try send("first", to: [token], at: mock)
        try send("second", to: [token], at: mock, changes: ["expiration": "'1h'"])
        try send("now or never", to: [token], at: mock, changes: ["expiration": "0"])

        let again = try DeviceProgram(
            peal, at: mock, name: "maria", "--count", "2", "--json")
        #expect(try again.waitUntilConnected() == token)
        try send("third", to: [token], at: mock)
        #expect(again.process.wait().status == 0)
        #expect(try again.notifications().map { try alert($0) } == ["second", "third"])
    }

    /// What lay in the buffers of a phone that hung is not lost with it.
    @Test func aPhoneThatHangsAndIsKilledGetsTheLatestWhenItReturns() throws {
        let mock = try MockProgram(peal, "--threads", "2")
        let phone = try DeviceProgram(peal, at: mock, name: "maria")
        let token = try phone.waitUntilConnected()
        phone.process.signal(SIGSTOP)
        try send("first", to: [token], at: mock)
        try send("second", to: [token], at: mock)
        phone.process.signal(SIGKILL)
        _ = phone.process.wait()

        let again = try DeviceProgram(
            peal, at: mock, name: "maria", "--count", "1", "--json")
        try again.waitUntilConnected()
        #expect(again.process.wait().status == 0)
        #expect(try alert(try again.notifications().last) == "second")
    }

    @Test func aPhoneReconnectsByItselfWhenTheLocalAPNsIsBack() throws {
        let mock = try MockProgram(peal)
        let phone = try DeviceProgram(peal, at: mock, name: "maria", "--count", "1", "--json")
        let token = try phone.waitUntilConnected()
        mock.process.signal(SIGTERM)
        #expect(mock.process.wait().status == 0)
        _ = try phone.process.waitForErrorLine(containing: "is not connected")

        let address = String(mock.url.dropFirst("https://".count))
        let next = try peal.start(
            "mock", "--listen", address, "--state", peal.folder.path + "/mock")
        _ = try next.waitForErrorLine(containing: "listening on")
        #expect(try phone.waitUntilConnected() == token)
        try send("back", to: [token], at: mock)
        #expect(phone.process.wait().status == 0)
        #expect(try phone.notifications().map { try alert($0) } == ["back"])
    }

    /// A server that is stopped keeps its sockets open: only the lack of an answer tells.
    @Test func aPhoneNoticesAServiceThatHangs() throws {
        let mock = try MockProgram(peal)
        let port = try #require(mock.url.split(separator: ":").last.flatMap { UInt16($0) })
        let loop = try EventLoop()
        defer { loop.close() }
        var events: [SimulatedDevice.Event] = []
        let phone = try SimulatedDevice(
            .init(topic: "com.example.app", name: "maria", token: nil),
            at: Endpoint(host: "127.0.0.1", port: port),
            tls: TLSContext.client(caFile: mock.caFile), loop: loop
        ) { event in
            events.append(event)
            switch event {
            case .connected: mock.process.signal(SIGSTOP)
            case .disconnected: loop.stop()
            default: break
            }
        }
        phone.keepAliveMs = 20
        phone.start()
        loop.run()
        phone.stop()
        #expect(
            events.last.map { "\($0)" }?.contains("did not answer in time") == true, "\(events)")
    }

    @Test func anUnregisteredPhoneIsAnsweredFourHundredAndTenAndEndsWhereItRuns() throws {
        let mock = try MockProgram(peal)
        let phone = try DeviceProgram(peal, at: mock, name: "maria")
        let token = try phone.waitUntilConnected()
        let unregistered = try peal.run(
            "device", "--topic", "com.example.app", "--name", "maria", "--unregister", "--server",
            mock.url, "--ca-file", mock.caFile)
        #expect(unregistered.status == 0, "\(unregistered.errors)")
        let end = phone.process.wait()
        #expect(end.status == 3 && end.errors.contains("was unregistered"), "\(end)")

        let campaign = try peal.campaign(recipients: "token,name\n\(token),A\n".utf8)
        let result = try peal.run(
            "send", campaign, "--server", mock.url, "--ca-file", mock.caFile)
        #expect(result.status == 0, "\(result.errors)")
        let failure = try peal.failures()[1]
        #expect(failure?["status"] as? Int == 410)
        #expect(failure?["reason"] as? String == "Unregistered")
        #expect(failure?["invalidSince"] is String)

        let anew = try DeviceProgram(peal, at: mock, name: "maria")
        #expect(try anew.waitUntilConnected() != token)
    }

    @Test func aTokenIsForItsOwnTopic() throws {
        let mock = try MockProgram(peal)
        let phone = try DeviceProgram(
            peal, at: mock, name: "maria", topic: "com.example.other")
        let token = try phone.waitUntilConnected()
        let campaign = try peal.campaign(recipients: "token,name\n\(token),A\n".utf8)
        try peal.run("send", campaign, "--server", mock.url, "--ca-file", mock.caFile)
        #expect(try peal.failures()[1]?["reason"] as? String == "DeviceTokenNotForTopic")
    }

    @Test func whatAPhoneCannotDoIsRefusedWithAReason() throws {
        let mock = try MockProgram(peal)
        let phone = try DeviceProgram(peal, at: mock, name: "maria")
        try phone.waitUntilConnected()
        let other = peal.folder.path + "/other"
        let foreign = try peal.start("mock", "--listen", "127.0.0.1:0", "--state", other)
        _ = try foreign.waitForErrorLine(containing: "listening on")
        let topic = ["device", "--topic", "com.example.app"]
        let cases: [(options: [String], status: Int32, words: String)] = [
            (["device"], 2, "--topic"),
            (topic + ["--name", "../x"], 2, "--name"),
            (["device", "--topic", "a/b"], 2, "bundle id"),
            (topic + ["--server", "http://x"], 2, "https://"),
            (topic + ["--server", "https://api.push.apple.com"], 2, "peal mock only"),
            (topic, 2, "--ca-file"),  // None in the default place: nothing was started there.
            (topic + ["--ca-file", mock.caFile, "--name", "maria"], 2, "already running"),
            (topic + ["--ca-file", mock.caFile, "--unregister"], 2, "not registered"),
            (topic + ["--ca-file", other + "/ca.pem", "--server", mock.url], 3, "certificate"),
        ]
        for (options, status, words) in cases {
            let result = try peal.run(options)
            #expect(result.status == status && result.errors.contains(words), "\(result)")
            #expect(result.output.isEmpty)
        }
    }
}
