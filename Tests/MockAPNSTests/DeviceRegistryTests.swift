import Testing

@testable import MockAPNS

/// Store and forward, with the time given by the test.
struct DeviceRegistryTests {
    private static let topic = Array("com.example.app".utf8)
    private static let now: Int64 = 1_800_000_000
    private static let policy: Int64 = 30 * 24 * 3600

    private let registry = DeviceRegistry()

    private func register(_ registry: DeviceRegistry? = nil) throws -> DeviceTokenKey {
        let registration = (registry ?? self.registry).register(
            topic: Self.topic, name: "phone", token: nil)
        guard case .registered(let token) = registration else {
            throw Unexpected(text: "\(registration)")
        }
        return token
    }

    private struct Unexpected: Error { let text: String }

    private func note(
        _ text: String, until: Int64 = now + policy, collapse: String = ""
    ) -> DeviceNotification {
        DeviceNotification(
            line: Array(text.utf8), collapseID: Array(collapse.utf8), storedUntilSeconds: until)
    }

    private func connect(
        _ token: DeviceTokenKey, at nowSeconds: Int64 = now
    ) -> DeviceLink {
        let link = DeviceLink(token: token, mailbox: nil)
        #expect(registry.connect(link, nowSeconds: nowSeconds) == .registered)
        return link
    }

    /// All that waits, taken and confirmed.
    private func takeAll(
        _ link: DeviceLink, of registry: DeviceRegistry? = nil
    ) -> [String] {
        let registry = registry ?? self.registry
        let taken = take(link, of: registry)
        registry.confirm(taken, for: link)
        return taken.map { String(decoding: $0.line, as: UTF8.self) }
    }

    /// All that waits, taken and not confirmed.
    private func take(
        _ link: DeviceLink, of registry: DeviceRegistry? = nil
    ) -> [DeviceNotification] {
        var taken: [DeviceNotification] = []
        while case .notification(let notification) = (registry ?? self.registry).next(for: link) {
            taken.append(notification)
        }
        return taken
    }

    @Test("a connected device gets everything in order")
    func connected() throws {
        let token = try register()
        let link = connect(token)
        let texts = (0..<50).map { "n\($0)" }
        for text in texts { registry.route(note(text), to: token, nowSeconds: Self.now) }
        #expect(takeAll(link) == texts)
        #expect(registry.next(for: link) == .nothing)
        #expect(registry.heldBytes == 0)
    }

    /// `away`: the notifications while the device is away, with their storage times from now on.
    @Test(
        "an absent device gets the latest that was stored and has not expired",
        arguments: [
            (away: [("a", 60)], after: 59, expected: ["a"]),
            (away: [("a", 60)], after: 60, expected: []),
            (away: [("a", 60), ("b", 60)], after: 10, expected: ["b"]),
            // Expiration 0 is never stored, and leaves alone what is.
            (away: [("a", 60), ("b", -1)], after: 10, expected: ["a"]),
            (away: [("a", -1)], after: 0, expected: []),
            // One slot: the newer one took the place of one that would have lasted longer.
            (away: [("a", 600), ("b", 60)], after: 100, expected: []),
            (away: [], after: 0, expected: []),
        ] as [(away: [(String, Int64)], after: Int64, expected: [String])])
    func absent(away: [(String, Int64)], after: Int64, expected: [String]) throws {
        let token = try register()
        for (text, seconds) in away {
            let until = seconds < 0 ? 0 : Self.now + seconds
            registry.route(note(text, until: until), to: token, nowSeconds: Self.now)
        }
        #expect(takeAll(connect(token, at: Self.now + after)) == expected)
        #expect(registry.heldBytes == 0)
    }

    @Test("a device that was connected and went away gets the latest when it returns")
    func returning() throws {
        let token = try register()
        let link = connect(token)
        registry.disconnect(link, undelivered: [], nowSeconds: Self.now)
        for text in ["a", "b", "c"] {
            registry.route(note(text), to: token, nowSeconds: Self.now)
        }
        #expect(registry.next(for: link) == .end)
        #expect(takeAll(connect(token)) == ["c"])
    }

    @Test("what was sent and not confirmed goes back, and the latest that can be stored stays")
    func unconfirmed() throws {
        let token = try register()
        let link = connect(token)
        for text in ["x", "y"] { registry.route(note(text), to: token, nowSeconds: Self.now) }
        let sent = take(link)
        #expect(registry.heldBytes == 2)
        for text in ["a", "b"] { registry.route(note(text), to: token, nowSeconds: Self.now) }
        registry.route(note("now or never", until: 0), to: token, nowSeconds: Self.now)
        registry.disconnect(link, undelivered: sent, nowSeconds: Self.now)
        #expect(registry.heldBytes == 1)
        let back = connect(token)
        #expect(takeAll(back) == ["b"])

        for text in ["x", "y"] { registry.route(note(text), to: token, nowSeconds: Self.now) }
        registry.disconnect(back, undelivered: take(back), nowSeconds: Self.now)
        #expect(takeAll(connect(token)) == ["y"])
        #expect(registry.heldBytes == 0)
        #expect(registry.list().rows.first?.deliveredCount == 2)
    }

    @Test("a device that comes back before its old connection is gone loses nothing")
    func overlap() throws {
        let token = try register()
        let old = connect(token)
        for text in ["a", "b"] { registry.route(note(text), to: token, nowSeconds: Self.now) }
        let sent = take(old)
        let new = connect(token)
        registry.route(note("c"), to: token, nowSeconds: Self.now)
        #expect(registry.next(for: old) == .end)
        registry.disconnect(old, undelivered: sent, nowSeconds: Self.now)
        #expect(takeAll(new) == ["a", "b", "c"])
        #expect(registry.heldBytes == 0)
    }

    @Test("a collapse id replaces what waits with the same id, and nothing else")
    func collapse() throws {
        let token = try register()
        let link = connect(token)
        for (text, id) in [("a", "score"), ("b", ""), ("c", "other"), ("d", "score"), ("e", "")] {
            registry.route(note(text, collapse: id), to: token, nowSeconds: Self.now)
        }
        #expect(takeAll(link) == ["b", "c", "d", "e"])
        registry.disconnect(link, undelivered: [], nowSeconds: Self.now)
        // One slot, whatever the ids are.
        for (text, id) in [("a", "score"), ("b", "other")] {
            registry.route(note(text, collapse: id), to: token, nowSeconds: Self.now)
        }
        #expect(takeAll(connect(token)) == ["b"])
    }

    @Test("a slow device's queue is bounded: of what comes after, the latest stays")
    func slow() throws {
        var limits = DeviceRegistry.Limits()
        limits.waitingMax = 3
        let registry = DeviceRegistry(limits: limits)
        let token = try register(registry)
        let link = DeviceLink(token: token, mailbox: nil)
        #expect(registry.connect(link, nowSeconds: Self.now) == .registered)
        for text in ["a", "b", "c", "d", "e"] {
            registry.route(note(text), to: token, nowSeconds: Self.now)
        }
        #expect(takeAll(link, of: registry) == ["a", "b", "e"])
        #expect(registry.list().droppedCount == 2)
    }

    @Test("all devices together hold no more bytes than the limit")
    func bytes() throws {
        var limits = DeviceRegistry.Limits()
        limits.heldBytesMax = 10
        let registry = DeviceRegistry(limits: limits)
        let tokens = [try register(registry), try register(registry)]
        for (token, text) in zip([tokens[0], tokens[1], tokens[1]], ["1234567", "1234", "123"]) {
            registry.route(note(text), to: token, nowSeconds: Self.now)
        }
        #expect(registry.heldBytes == 10)
        // The old one makes room for its successor.
        registry.route(note("abcdefg"), to: tokens[0], nowSeconds: Self.now)
        #expect(registry.heldBytes == 10)
    }

    @Test("a number of devices beyond the limit forgets one that is gone, else is refused")
    func full() throws {
        var limits = DeviceRegistry.Limits()
        limits.devicesMax = 2
        let registry = DeviceRegistry(limits: limits)
        let first = try register(registry)
        _ = try register(registry)
        #expect(registry.register(topic: Self.topic, name: "", token: nil) == .full)
        #expect(registry.unregister(first, nowMs: 5) == 5)
        _ = try register(registry)
        #expect(registry.list().rows.count == 2)
    }

    @Test("a token is kept, belongs to one topic, and does not come back once it is unregistered")
    func registration() throws {
        let token = try self.register()
        func register(_ topic: String, _ token: DeviceTokenKey?) -> DeviceRegistry.Registration {
            registry.register(topic: Array(topic.utf8), name: "phone", token: token)
        }
        #expect(register("com.example.app", token) == .registered(token))
        #expect(register("com.example.other", token) == .otherTopic)
        // One that this local APNs has not seen, as after it was started anew.
        let unseen = DeviceTokenKey.random()
        #expect(register("com.example.app", unseen) == .registered(unseen))
        #expect(registry.unregister(token, nowMs: 17) == 17)
        #expect(registry.unregister(token, nowMs: 18) == 17)
        #expect(register("com.example.app", token) != .registered(token))
        #expect(registry.unregister(.random(), nowMs: 1) == nil)
    }

    @Test("the gateway is told of a token's standing, in either case of its letters")
    func standing() throws {
        let token = try register()
        func standing(_ token: String, _ topic: String) -> DeviceRegistry.Standing {
            Array(token.utf8).withUnsafeBytes { token in
                Array(topic.utf8).withUnsafeBytes {
                    registry.standing(token: token, topic: $0)
                }
            }
        }
        #expect(standing(token.text, "com.example.app") == .registered)
        #expect(standing(token.text.uppercased(), "com.example.app") == .registered)
        #expect(standing(token.text, "com.example.app.voip") == .otherTopic)
        #expect(standing(SampleRequest.token, "com.example.app") == .unknown)
        #expect(standing("", "com.example.app") == .unknown)
        #expect(standing(token.text + "00", "com.example.app") == .unknown)
        #expect(registry.unregister(token, nowMs: 99) == 99)
        #expect(standing(token.text, "com.example.app") == .unregistered(sinceMs: 99))
    }

    @Test("an unregistered device is cut off, cannot return, and nothing is kept for it")
    func unregistered() throws {
        let token = try register()
        let link = connect(token)
        registry.route(note("a"), to: token, nowSeconds: Self.now)
        let sent = take(link)
        registry.route(note("b"), to: token, nowSeconds: Self.now)
        #expect(registry.unregister(token, nowMs: 7) == 7)
        #expect(registry.next(for: link) == .end)
        registry.disconnect(link, undelivered: sent, nowSeconds: Self.now)
        registry.route(note("c"), to: token, nowSeconds: Self.now)
        #expect(registry.heldBytes == 0)
        let back = DeviceLink(token: token, mailbox: nil)
        #expect(registry.connect(back, nowSeconds: Self.now) == .unregistered(sinceMs: 7))
        let stranger = DeviceLink(token: .random(), mailbox: nil)
        #expect(registry.connect(stranger, nowSeconds: Self.now) == .unknown)
    }

    @Test("a token's text reads back as the same token, whatever its zeros")
    func tokenText() {
        for text in [
            SampleRequest.token, String(repeating: "0", count: 64),
            String(repeating: "0", count: 63) + "1", String(repeating: "f", count: 64),
        ] {
            #expect(DeviceTokenKey(hex: text.utf8)?.text == text)
        }
        for text in ["", "ab", String(repeating: "g", count: 64), SampleRequest.token + "0"] {
            #expect(DeviceTokenKey(hex: text.utf8) == nil)
        }
        #expect(DeviceTokenKey.random() != DeviceTokenKey.random())
    }
}
