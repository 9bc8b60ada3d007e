internal import JSON

/// What the local APNs answers to the devices, below `/mock/devices` on the same port:
///
///     POST   /mock/devices                      {"topic":…,"name":…,"token":…} → {"token":…}
///     GET    /mock/devices                      all devices, for people and tests
///     GET    /mock/devices/TOKEN/notifications  stays open, one JSON object per line
///     DELETE /mock/devices/TOKEN                the device is gone: its token is answered 410
///
/// *Thread:* any.
struct DevicePages: Sendable {
    enum Answer: Equatable {
        case json(UInt16, [UInt8])
        /// The device of this token waits for notifications.
        case notifications(DeviceTokenKey)
    }

    private static let root: StaticString = "/mock/devices"
    /// As `apns-topic` is limited in practice: a bundle id with a suffix.
    private static let topicBytesMax = 255
    private static let nameBytesMax = 64

    /// Nil with `--fast`, where nothing is delivered.
    let registry: DeviceRegistry?

    /// Whether the path is one of these pages', known or not.
    static func owns(path: UnsafeRawBufferPointer) -> Bool {
        path.equals(root) || path.starts(with: "/mock/devices/")
    }

    /// *Units:* `nowMs` is the time of day in milliseconds since 1970.
    func answer(
        method: UnsafeRawBufferPointer, path: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
        nowMs: Int64
    ) -> Answer {
        guard let registry else {
            return Self.error(404, "this local APNs was started with --fast, without devices")
        }
        let parts = path.dropFirst(Self.root.utf8CodeUnitCount)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true)
        if parts.isEmpty {
            if method.equals("POST") { return register(body, registry) }
            if method.equals("GET") { return list(registry) }
            return Self.error(405, "use POST to register, or GET to see all devices")
        }
        guard let token = DeviceTokenKey(hex: parts[0]) else {
            return Self.error(404, "a device's token is 64 hexadecimal digits")
        }
        if parts.count == 1 {
            guard method.equals("DELETE") else { return Self.error(405, "use DELETE") }
            guard let sinceMs = registry.unregister(token, nowMs: nowMs) else {
                return Self.error(404, Self.unknownToken)
            }
            return Self.json(200) { writer in
                writer.key("unregistered")
                writer.number(sinceMs)
            }
        }
        guard parts.count == 2, parts[1].elementsEqual("notifications".utf8) else {
            return Self.error(404, "no such page: there is \(Self.root)/TOKEN/notifications")
        }
        return method.equals("GET") ? .notifications(token) : Self.error(405, "use GET")
    }

    static let unknownToken = "no device with this token has registered here"

    private func register(_ body: UnsafeRawBufferPointer, _ registry: DeviceRegistry) -> Answer {
        guard let object = try? JSONDocument.parse(body, dialect: .strict), object.members != nil
        else { return Self.error(400, "the body is not one JSON object") }
        let topic = Array((object["topic"]?.asString ?? "").utf8)
        guard (1...Self.topicBytesMax).contains(topic.count), topic.allSatisfy(Self.isVisible)
        else { return Self.error(400, "\"topic\" is not the topic of an app") }
        let name = object["name"]?.asString ?? ""
        guard name.utf8.count <= Self.nameBytesMax, name.utf8.allSatisfy(Self.isVisible) else {
            return Self.error(400, "\"name\" is longer than \(Self.nameBytesMax), or no plain text")
        }
        var token: DeviceTokenKey?
        if let text = object["token"]?.asString {
            token = DeviceTokenKey(hex: text.utf8)
            if token == nil { return Self.error(400, "\"token\" is not 64 hexadecimal digits") }
        }
        switch registry.register(topic: topic, name: name, token: token) {
        case .registered(let token):
            return Self.json(201) { writer in
                writer.key("token")
                writer.string(token.text)
            }
        case .otherTopic: return Self.error(409, "the token belongs to an app with another topic")
        case .full: return Self.error(503, "there are too many devices; unregister some")
        }
    }

    private func list(_ registry: DeviceRegistry) -> Answer {
        let (rows, droppedCount) = registry.list()
        return Self.json(200) { writer in
            writer.key("devices")
            writer.beginArray()
            for row in rows { Self.write(row, to: &writer) }
            writer.endArray()
            writer.key("dropped")
            writer.number(droppedCount)
        }
    }

    private static func write(_ row: DeviceRegistry.Row, to writer: inout JSONWriter) {
        writer.beginObject()
        for (key, value) in [("name", row.name), ("topic", row.topic), ("token", row.token)] {
            writer.key(key)
            writer.string(value)
        }
        writer.key("connected")
        writer.bool(row.isConnected)
        writer.key("waiting")
        writer.number(row.waitingCount)
        writer.key("delivered")
        writer.number(row.deliveredCount)
        if let sinceMs = row.unregisteredAtMs {
            writer.key("unregistered")
            writer.number(sinceMs)
        }
        writer.endObject()
    }

    /// ASCII without blanks and control characters.
    private static func isVisible(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }

    private static func json(_ status: UInt16, _ members: (inout JSONWriter) -> Void) -> Answer {
        var writer = JSONWriter()
        writer.beginObject()
        members(&writer)
        writer.endObject()
        return .json(status, writer.bytes)
    }

    static func error(_ status: UInt16, _ text: String) -> Answer {
        json(status) { writer in
            writer.key("error")
            writer.string(text)
        }
    }
}
