internal import APNS
internal import Crypto

/// What tells one run from every other: the source of its notifications' `apns-id`s.
struct RunIdentity: Sendable {
    /// 16 random bytes, kept in `run.json`.
    let bytes: [UInt8]
    private let hash: SipHash128

    init() { self.init(bytes: randomBytes(16)) }

    init(bytes: [UInt8]) {
        self.bytes = bytes
        hash = SipHash128(key: bytes)
    }

    /// Reads what ``hex`` wrote; nil for anything else.
    init?(hex: String) {
        let digits = Array(hex.utf8)
        guard digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 32, by: 2) {
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        self.init(bytes: bytes)
    }

    var hex: String {
        bytes.map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }

    /// Writes the `apns-id` of `row`: it depends on the run and the row alone, so that a retry
    /// carries the same one.
    ///
    /// - Parameter text: `APNSID.characters` bytes.
    func writeAPNSID(row: UInt64, to text: UnsafeMutableRawBufferPointer) {
        let (high, low) = hash.hash(row)
        APNSID.write(high: high, low: low, into: text)
    }
}
