import APNS
import Crypto

@testable import MockAPNS

/// HTTP/2 as RFC 9113 and RFC 7541 draw it, by hand.
enum Frames {
    /// The client's preface with an empty SETTINGS.
    static let preface =
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, flags: 0, stream: 0, [])

    static func frame(
        _ type: UInt8, flags: UInt8, stream: UInt32, _ payload: some Collection<UInt8>
    ) -> [UInt8] {
        let count = UInt32(payload.count)
        return [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255), type, flags]
            + number(stream) + payload
    }

    static func number(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// A header block of literal fields without indexing (RFC 7541 section 6.2.2).
    static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { name, value in [0] + text(name) + text(value) }
    }

    /// A string without Huffman code (RFC 7541 sections 5.1 and 5.2).
    static func text(_ text: String) -> [UInt8] {
        var rest = text.utf8.count
        guard rest >= 127 else { return [UInt8(rest)] + text.utf8 }
        var length: [UInt8] = [127]
        rest -= 127
        while rest >= 128 {
            length.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return length + [UInt8(rest)] + text.utf8
    }

    private static let authorization: String = {
        // The keys are not checked; only the clock is.
        guard let key = try? SigningKey.generate(),
            let token = try? ProviderToken.make(
                key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", issuedAt: wallClockSeconds())
        else { return "" }
        return "bearer \(token.text)"
    }()

    static let requestFields = [
        (":method", "POST"), (":scheme", "https"), (":authority", "localhost"),
        (":path", "/3/device/" + SampleRequest.token), ("authorization", authorization),
        ("apns-topic", "com.example.app"), ("apns-push-type", "alert"),
    ]

    /// HEADERS of a push, whose body is to follow.
    static func headers(stream: UInt32, flags: UInt8 = 4) -> [UInt8] {
        frame(1, flags: flags, stream: stream, block(requestFields))
    }

    /// A whole good push.
    static func push(stream: UInt32) -> [UInt8] {
        headers(stream: stream) + frame(0, flags: 1, stream: stream, Array(#"{"aps":{}}"#.utf8))
    }

    /// The entries of each SETTINGS in `bytes` that is no acknowledgement.
    static func settings(in bytes: [UInt8]) -> [[Int: Int]] {
        all(in: bytes).filter { $0.type == 4 && $0.flags & 1 == 0 }.map { frame in
            var entries: [Int: Int] = [:]
            for start in stride(from: 0, to: frame.payload.count - 5, by: 6) {
                let entry = frame.payload[start..<start + 6].map { Int($0) }
                entries[entry[0] << 8 | entry[1]] =
                    entry[2] << 24 | entry[3] << 16 | entry[4] << 8 | entry[5]
            }
            return entries
        }
    }

    /// The whole frames at the front of `bytes`.
    static func all(in bytes: [UInt8]) -> [(type: UInt8, flags: UInt8, payload: [UInt8])] {
        var frames: [(type: UInt8, flags: UInt8, payload: [UInt8])] = []
        var start = 0
        while bytes.count - start >= 9 {
            let count = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
            guard bytes.count - start >= 9 + count else { break }
            frames.append(
                (
                    bytes[start + 3], bytes[start + 4],
                    Array(bytes[(start + 9)..<(start + 9 + count)])
                ))
            start += 9 + count
        }
        return frames
    }
}
