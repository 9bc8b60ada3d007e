/// The bodies of refusals: one per reason, made once, and room for one with a timestamp.
///
/// *Thread:* one.
final class ReasonBodies {
    /// Owned.
    private let plain: [UnsafeMutableRawBufferPointer]
    /// The longest name, the key `timestamp` and 20 characters of a number. Owned.
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 128, alignment: 1)

    init() {
        plain = GatewayReason.allCases.map { reason in
            let text = Array("{\"reason\":\"\(reason.name)\"}".utf8)
            let body = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
            body.copyBytes(from: text)
            return body
        }
    }

    deinit {
        scratch.deallocate()
        for body in plain { body.deallocate() }
    }

    /// `{"reason":"…"}`, or with a time `{"reason":"…","timestamp":…}` in milliseconds since 1970
    /// (Apple: Handling notification responses from APNs).
    ///
    /// *Ownership:* this object's, valid until the next call.
    func body(of reason: GatewayReason, timestampMs: Int64?) -> UnsafeRawBufferPointer {
        let body = plain[reason.rawValue]
        guard let timestampMs else { return UnsafeRawBufferPointer(body) }
        scratch.copyBytes(from: body)
        var count = body.count - 1  // Without the brace.
        for text in [",\"timestamp\":", String(timestampMs), "}"] {
            for byte in text.utf8 {
                scratch[count] = byte
                count += 1
            }
        }
        return UnsafeRawBufferPointer(rebasing: scratch[..<count])
    }
}

@available(*, unavailable)
extension ReasonBodies: Sendable {}
