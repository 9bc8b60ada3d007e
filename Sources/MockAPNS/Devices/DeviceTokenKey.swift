internal import Crypto

/// The token of a registered device: 32 bytes, as the tokens of most real devices. Inline, so that
/// looking one up allocates nothing.
struct DeviceTokenKey: Hashable, Sendable {
    static let hexCharacters = 64

    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Reads hexadecimal digits of either case; nil for anything but 64 of them.
    init?(hex: some Collection<UInt8>) {
        guard hex.count == Self.hexCharacters else { return nil }
        var words: [4 of UInt64] = [0, 0, 0, 0]
        for (index, byte) in hex.enumerated() {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            words[index / 16] = words[index / 16] << 4 | UInt64(digit)
        }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// A token that nobody has.
    static func random() -> DeviceTokenKey {
        DeviceTokenKey(hex: hexText(randomBytes(hexCharacters / 2)).utf8)!  // 64 digits, just made.
    }

    /// 64 hexadecimal digits in lower case.
    var text: String {
        [words.0, words.1, words.2, words.3].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }

    static func == (one: DeviceTokenKey, other: DeviceTokenKey) -> Bool {
        one.words == other.words
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}

/// Two hexadecimal digits in lower case for each byte.
private func hexText(_ bytes: [UInt8]) -> String {
    bytes.map { (byte: UInt8) in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
}
