import APNS
import Crypto
import EventLoop
import Glibc
import JSON
import TLS
import TestSupport
import Testing
import Transport

@testable import MockAPNS

/// Phones against a local APNs over real sockets, with curl as the provider.
@Suite(.timeLimit(.minutes(5)))
struct SimulatedDeviceTests {
    private typealias Event = SimulatedDevice.Event

    private let temporary = TemporaryDirectory()

    private func start(
        threads: Int = 2, fast: Bool = false, port: UInt16 = 0
    ) throws -> MockServer {
        var options = MockOptions(
            listen: ("127.0.0.1", port), stateDirectory: temporary.path + "/mock")
        options.threads = threads
        options.fast = fast
        return try MockServer.start(options)
    }

    /// Sends pushes with one curl, in order, over one connection.
    private func push(
        _ bodies: [String], to token: String, at server: MockServer, _ headers: [String] = []
    ) throws -> Subprocess.Result {
        let provider = try ProviderToken.make(
            key: try SigningKey.generate(), keyID: "ABC123DEFG", teamID: "DEF123GHIJ",
            issuedAt: wallClockSeconds())
        var arguments: [String] = []
        for body in bodies {
            if !arguments.isEmpty { arguments.append("--next") }
            arguments += [
                "--silent", "--show-error", "--http2", "--cacert", server.caFile, "--data", body,
                "--header", "apns-topic: com.example.app", "--header", "apns-push-type: alert",
                "--header", "authorization: bearer \(provider.text)",
                "https://\(server.address)/3/device/\(token)",
            ]
            for header in headers { arguments += ["--header", header] }
        }
        return try Subprocess.run(["curl"] + arguments)
    }

    /// Waits for another thread; the suite's time limit is the end of waiting in vain.
    private func wait(until isTrue: () -> Bool) {
        while !isTrue() { sched_yield() }
    }

    /// Runs a phone on this thread until `isDone`, and returns all that happened.
    private func run(
        at server: MockServer, token: String? = nil,
        purpose: SimulatedDevice.Purpose = .receive,
        until isDone: @escaping (Event, SimulatedDevice) throws -> Bool
    ) throws -> [Event] {
        let loop = try EventLoop()
        defer { loop.close() }
        let tls = try TLSContext.client(caFile: server.caFile)
        var events: [Event] = []
        var failure: (any Error)?
        var device: SimulatedDevice?
        device = try SimulatedDevice(
            .init(topic: "com.example.app", name: "phone", token: token),
            at: Endpoint(host: "127.0.0.1", port: server.port), tls: tls, purpose: purpose,
            loop: loop
        ) { event in
            events.append(event)
            do {
                if let device, try isDone(event, device) { loop.stop() }
            } catch {
                failure = error
                loop.stop()
            }
        }
        device?.start()
        loop.run()
        device?.stop()
        device = nil
        if let failure { throw failure }
        return events
    }

    private func badges(_ events: [Event]) throws -> [Int?] {
        try events.compactMap { event in
            guard case .notification(let line) = event else { return nil }
            let node = try JSONDocument.parse(line, dialect: .strict)
            return node["payload"]?["aps"]?["badge"]?.asInt
        }
    }

    private func bodies(_ numbers: Range<Int>) -> [String] {
        numbers.map { "{\"aps\":{\"badge\":\($0)}}" }
    }

    private func token(_ event: Event) -> String? {
        if case .registered(let token) = event { token } else { nil }
    }

    /// With two threads, curl's connection is served by another one than the phone's.
    @Test("a phone registers, and gets everything in order", arguments: [1, 2])
    func receives(threads: Int) throws {
        let server = try start(threads: threads)
        defer { server.stop() }
        var token = ""
        var count = 0
        let events = try run(at: server) { event, _ in
            switch event {
            case .registered(let made): token = made
            case .connected:
                let result = try push(bodies(0..<40), to: token, at: server)
                #expect(result.status == 0 && result.output == "", "\(result)")
            case .notification: count += 1
            default: return true
            }
            return count == 40
        }
        #expect(events.prefix(2) == [.registered(token: token), .connected])
        #expect(try badges(events) == Array(0..<40))
    }

    @Test("curl can be a phone: the notifications are lines of an open answer")
    func curlAsPhone() throws {
        let server = try start()
        defer { server.stop() }
        let registry = try #require(server.shared.devices)
        let token = DeviceTokenKey.random()
        _ = registry.register(topic: Array("com.example.app".utf8), name: "curl", token: token)
        let phone = try BackgroundProcess([
            "curl", "--silent", "--no-buffer", "--cacert", server.caFile,
            "--output", temporary.path + "/phone",
            "https://\(server.address)/mock/devices/\(token.text)/notifications",
        ])
        wait { registry.list().rows.first?.isConnected == true }
        #expect(try push(bodies(1..<4), to: token.text, at: server).output == "")
        // curl answers the PING that confirms a receipt without knowing of it.
        wait { registry.list().rows.first?.deliveredCount == 3 }
        #expect(registry.unregister(token, nowMs: 1) == 1)
        #expect(phone.wait().status == 0)
        let lines = try #require(temporary.read("phone")).split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 3)
    }

    @Test("what comes while a phone is away: the latest arrives when it returns")
    func away() throws {
        let server = try start()
        defer { server.stop() }
        var token = ""
        _ = try run(at: server) { event, _ in
            if let made = self.token(event) { token = made }
            return event == .connected
        }
        let registry = try #require(server.shared.devices)
        wait { registry.list().rows.first?.isConnected != true }
        #expect(try push(bodies(1..<4), to: token, at: server).output == "")
        let once = try push(bodies(4..<5), to: token, at: server, ["apns-expiration: 0"])
        #expect(once.output == "")
        let events = try run(at: server, token: token) { event, _ in
            if case .notification = event { true } else { false }
        }
        #expect(events.first == .registered(token: token))
        #expect(try badges(events) == [3])
    }

    @Test("another topic is refused, and a token that is gone is answered 410 with a time")
    func refusals() throws {
        let server = try start()
        defer { server.stop() }
        let registry = try #require(server.shared.devices)
        let token = DeviceTokenKey.random()
        _ = registry.register(topic: Array("com.example.other".utf8), name: "", token: token)
        #expect(
            try push(["{}"], to: token.text, at: server).output
                == #"{"reason":"DeviceTokenNotForTopic"}"#)
        #expect(registry.unregister(token, nowMs: 1_800_000_000_123) != nil)
        #expect(
            try push(["{}"], to: token.text, at: server).output
                == #"{"reason":"Unregistered","timestamp":1800000000123}"#)
    }

    @Test("a phone that is unregistered elsewhere ends, without a connection between")
    func unregisteredElsewhere() throws {
        let server = try start()
        defer { server.stop() }
        var token = ""
        let events = try run(at: server) { event, _ in
            if let made = self.token(event) { token = made }
            if event == .connected {
                let other = try run(at: server, token: token, purpose: .unregister) { event, _ in
                    event == .unregistered
                }
                #expect(other == [.unregistered])
            }
            return event == .unregistered
        }
        #expect(events == [.registered(token: token), .connected, .unregistered])
    }

    @Test("a phone keeps trying while the local APNs is away, and registers anew with its token")
    func reconnects() throws {
        var server = try start(threads: 1)
        defer { server.stop() }
        var token = ""
        var connections = 0
        let events = try run(at: server) { event, _ in
            if let made = self.token(event) { token = made }
            switch event {
            case .connected:
                connections += 1
                if connections == 1 { server.stop() }
            case .disconnected:
                // On its port again, as a new process would be.
                if connections == 1, server.shared.devices?.hasDevices == true {
                    server = try start(threads: 1, port: server.port)
                }
            default: break
            }
            return connections == 2
        }
        #expect(events.compactMap(self.token) == [token, token])
        #expect(events.last == .connected)
    }

    @Test("a local APNs without devices says so, and is not tried again")
    func failures() throws {
        let server = try start(fast: true)
        defer { server.stop() }
        let events = try run(at: server) { _, _ in true }
        guard case .failed(let why) = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(events.count == 1 && why.contains("--fast"))
    }

    @Test("a phone that takes nothing: what it confirmed counts, the rest is bounded")
    func stuck() throws {
        let server = try start()
        defer { server.stop() }
        let registry = try #require(server.shared.devices)
        let token = DeviceTokenKey.random()
        _ = registry.register(topic: Array("com.example.app".utf8), name: "", token: token)
        let phone = try BackgroundProcess(
            [
                "curl", "--silent", "--no-buffer", "--cacert", server.caFile,
                "https://\(server.address)/mock/devices/\(token.text)/notifications",
            ])
        wait { registry.list().rows.first?.isConnected == true }
        phone.signal(SIGSTOP)
        let now = wallClockSeconds()
        for number in 0..<1000 {
            registry.route(
                DeviceNotification(
                    line: Array("{\"n\":\(number)}\n".utf8), collapseID: [],
                    storedUntilSeconds: now + 60), to: token, nowSeconds: now)
        }
        wait { registry.list().rows.first?.waitingCount == 100 }
        #expect(registry.list().rows.first?.deliveredCount == 0)
        phone.signal(SIGKILL)
        _ = phone.wait()
        wait { registry.list().rows.first?.isConnected != true }
        let link = DeviceLink(token: token, mailbox: nil)
        #expect(registry.connect(link, nowSeconds: now) == .registered)
        guard case .notification(let latest) = registry.next(for: link) else {
            Issue.record("nothing was kept")
            return
        }
        #expect(String(decoding: latest.line, as: UTF8.self) == "{\"n\":999}\n")
        #expect(registry.next(for: link) == .nothing)
    }
}
