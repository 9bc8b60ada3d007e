internal import APNS

/// A push type as the gateway looks at it for each request: plain bytes and numbers, where a
/// `PushType` has strings and an array whose references are counted at each look.
struct PushTypeRow {
    /// *Ownership:* as long as the program, as `suffix`.
    let name: UnsafeRawBufferPointer
    /// What follows the bundle id in the topic; empty for the bundle id alone.
    let suffix: UnsafeRawBufferPointer
    let payloadBytesMax: Int
    /// Bit p is set where `apns-priority` p is allowed.
    private let priorityBits: UInt16

    /// The rows of all push types, the most common first.
    ///
    /// Proof for `unsafe`: made once by the first use, behind the lock of every static constant,
    /// and never changed or freed.
    nonisolated(unsafe) private static let rows: UnsafeBufferPointer<PushTypeRow> = {
        let rows = UnsafeMutableBufferPointer<PushTypeRow>.allocate(capacity: PushType.all.count)
        _ = rows.initialize(from: PushType.all.map(PushTypeRow.init))
        return UnsafeBufferPointer(rows)
    }()

    private init(_ type: PushType) {
        func keep(_ text: String) -> UnsafeRawBufferPointer {
            let bytes = UnsafeMutableRawBufferPointer.allocate(
                byteCount: text.utf8.count, alignment: 1)
            bytes.copyBytes(from: text.utf8)
            return UnsafeRawBufferPointer(bytes)
        }
        name = keep(type.name)
        suffix = keep(type.topicSuffix)
        payloadBytesMax = type.payloadBytesMax
        priorityBits = type.allowedPriorities.reduce(0) { $0 | 1 << UInt16($1) }
    }

    /// The row of the type with this name; nil when there is none.
    static func named(_ name: UnsafeRawBufferPointer) -> PushTypeRow? {
        rows.first { $0.name.count == name.count && name.ends(with: $0.name) }
    }

    func allows(priority: Int) -> Bool { priorityBits >> UInt16(priority) & 1 == 1 }

    /// Whether `topic` contradicts the push type: it lacks the type's suffix, or the type has none
    /// and the topic ends with another type's. The topic of `mdm` is a certificate's and has no
    /// form.
    func isMismatch(topic: UnsafeRawBufferPointer) -> Bool {
        if name.equals("mdm") { return false }
        if !suffix.isEmpty { return !topic.ends(with: suffix) }
        return Self.rows.contains { !$0.suffix.isEmpty && topic.ends(with: $0.suffix) }
    }
}
