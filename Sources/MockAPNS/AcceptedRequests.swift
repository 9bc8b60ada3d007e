internal import JSON
internal import Synchronization

/// The latest requests that were accepted, kept whole so that a test can read what arrived.
///
/// *Thread:* any; one lock for all workers, taken per accepted request only when something is kept.
/// *Limits:* `capacity` requests, at most `capacityMax`, each with the payload limit's size.
final class AcceptedRequests: Sendable {
    /// 256 payloads of 5 KiB are at most a megabyte and a half, also as one answer.
    static let capacityMax = 256

    private struct Entry {
        var token: String
        var headers: [(name: String, value: String)]
        var body: [UInt8]
    }

    private let capacity: Int
    /// A ring: when it is full, `next` is the place of the oldest.
    private let ring = Mutex<(entries: [Entry], next: Int)>(([], 0))

    init(capacity: Int) {
        self.capacity = min(max(capacity, 0), Self.capacityMax)
    }

    /// Whether anything is kept at all.
    var isOn: Bool { capacity > 0 }

    /// Keeps a copy of `request`, in place of the oldest one when there is no room.
    func keep(_ request: GatewayRequest) {
        guard isOn else { return }
        let entry = Entry(
            token: Self.text(request.deviceToken ?? UnsafeRawBufferPointer(start: nil, count: 0)),
            headers: Self.headers(of: request), body: Array(request.body))
        ring.withLock { ring in
            if ring.entries.count < capacity {
                ring.entries.append(entry)
            } else {
                ring.entries[ring.next] = entry
                ring.next = (ring.next + 1) % capacity
            }
        }
    }

    /// All that is kept, oldest first: `[{"token":…,"headers":{…},"body":"…"}]`.
    func json() -> [UInt8] {
        let (entries, next) = ring.withLock { $0 }
        var writer = JSONWriter(pretty: false)
        writer.beginArray()
        for entry in entries[next...] + entries[..<next] {
            writer.beginObject()
            writer.key("token")
            writer.string(entry.token)
            writer.key("headers")
            writer.beginObject()
            for header in entry.headers {
                writer.key(header.name)
                writer.string(header.value)
            }
            writer.endObject()
            writer.key("body")
            entry.body.withUnsafeBytes { writer.string(utf8: $0) }
            writer.endObject()
        }
        writer.endArray()
        return writer.bytes
    }

    /// Apple's headers without the provider token, which is a secret for an hour.
    private static func headers(of request: GatewayRequest) -> [(name: String, value: String)] {
        [
            ("apns-id", request.messageID), ("apns-push-type", request.pushType),
            ("apns-topic", request.topic), ("apns-priority", request.priority),
            ("apns-expiration", request.expiration), ("apns-collapse-id", request.collapseID),
        ].compactMap { name, header in header.value.map { (name, text($0)) } }
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
