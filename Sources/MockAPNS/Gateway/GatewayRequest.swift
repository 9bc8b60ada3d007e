internal import Glibc

/// One request as the gateway's rules see it: borrowed bytes, nothing of sockets or streams.
///
/// *Ownership:* every buffer belongs to the caller and is valid only while the rules run.
struct GatewayRequest {
    /// One header of Apple's: the first value, and how often the name stood in the request.
    struct Header {
        var value: UnsafeRawBufferPointer?
        var count: Int

        init(_ value: UnsafeRawBufferPointer? = nil, count: Int? = nil) {
            self.value = value
            self.count = count ?? (value == nil ? 0 : 1)
        }

        /// Counts one more value; the first stays.
        mutating func add(_ value: UnsafeRawBufferPointer) {
            if count == 0 { self.value = value }
            count += 1
        }
    }

    var method: UnsafeRawBufferPointer
    var path: UnsafeRawBufferPointer
    var authorization = Header()
    var messageID = Header()
    var pushType = Header()
    var topic = Header()
    var priority = Header()
    var expiration = Header()
    var collapseID = Header()
    /// The payload as far as it was kept: whole whenever it is within the largest payload limit.
    var body: UnsafeRawBufferPointer
    /// The true size of the payload, which may be more than `body` holds.
    var bodyBytes: Int

    /// The bytes after `/3/device/`; nil when the path is another one.
    var deviceToken: UnsafeRawBufferPointer? {
        guard path.starts(with: Self.devicePath) else { return nil }
        return UnsafeRawBufferPointer(rebasing: path[Self.devicePath.utf8CodeUnitCount...])
    }

    /// Where device pushes are posted, followed by the token (Apple: Sending notification
    /// requests).
    static let devicePath: StaticString = "/3/device/"
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are exactly those of `text`.
    func equals(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && starts(with: text)
    }

    /// Whether the bytes begin with those of `text`.
    func starts(with text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= length, let start = baseAddress else { return length == 0 }
        return memcmp(start, text.utf8Start, length) == 0
    }

    /// Whether the bytes end with `other`.
    func ends(with other: UnsafeRawBufferPointer) -> Bool {
        guard count >= other.count, let start = baseAddress, let otherStart = other.baseAddress
        else { return other.isEmpty }
        return memcmp(start + (count - other.count), otherStart, other.count) == 0
    }

    /// Whether the bytes end with those of `text`.
    func ends(with text: some Collection<UInt8>) -> Bool {
        count >= text.count && self[(count - text.count)...].elementsEqual(text)
    }
}
