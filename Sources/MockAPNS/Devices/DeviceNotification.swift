internal import APNS
internal import JSON

/// A notification on its way to a device.
struct DeviceNotification: Sendable, Equatable {
    /// What the device gets: one JSON object on one line, with its line feed.
    let line: [UInt8]
    /// A newer notification with the same text replaces this one while it waits; empty for none.
    let collapseID: [UInt8]
    /// Until when it may be stored, in seconds since 1970; 0: never, it has one attempt.
    let storedUntilSeconds: Int64

    /// Whether it is kept for a device that is away at `nowSeconds`.
    func isStorable(nowSeconds: Int64) -> Bool { storedUntilSeconds > nowSeconds }

    init(line: [UInt8], collapseID: [UInt8], storedUntilSeconds: Int64) {
        self.line = line
        self.collapseID = collapseID
        self.storedUntilSeconds = storedUntilSeconds
    }

    /// The notification of a request that the gateway has accepted.
    init(
        _ request: GatewayRequest, topic: [UInt8], messageID: UnsafeRawBufferPointer,
        nowSeconds: Int64
    ) {
        line = Self.line(request, topic: topic, messageID: messageID)
        collapseID = request.collapseID.value.map { Array($0) } ?? []
        storedUntilSeconds = Self.storedUntil(
            expiration: request.expiration.value, nowSeconds: nowSeconds)
    }

    /// Without an expiration the policy holds; with one, the earlier of the two (Apple: Viewing the
    /// status of push notifications).
    private static func storedUntil(
        expiration: UnsafeRawBufferPointer?, nowSeconds: Int64
    ) -> Int64 {
        let policy = nowSeconds + APNSLimits.storageSecondsMax
        guard let seconds = expiration.flatMap(ExpirationHeader.parse) else { return policy }
        return min(seconds, policy)
    }

    private static func line(
        _ request: GatewayRequest, topic: [UInt8], messageID: UnsafeRawBufferPointer
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("id")
        writer.string(utf8: messageID)
        writer.key("topic")
        topic.withUnsafeBytes { writer.string(utf8: $0) }
        for (key, header) in [
            ("pushType", request.pushType), ("collapseID", request.collapseID),
        ] {
            guard let value = header.value else { continue }
            writer.key(key)
            writer.string(utf8: value)
        }
        for (key, header) in [
            ("priority", request.priority), ("expiration", request.expiration),
        ] {
            guard let value = header.value.flatMap(ExpirationHeader.parse) else { continue }
            writer.key(key)
            writer.number(value)
        }
        writer.key("payload")
        // The payload's own bytes: numbers and escapes arrive as they were sent. It is JSON, so a
        // line break in it is white space between values.
        var line = writer.bytes
        line.reserveCapacity(line.count + request.body.count + 2)
        line += request.body.lazy.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
        line += "}\n".utf8
        return line
    }
}
