/// Durations as a manifest writes them: a whole number and its unit, such as "500ms" or "4h".
package enum ManifestDuration {
    /// What to write, for messages.
    package static let form =
        "write a number and a unit, such as \"500ms\", \"30s\", \"15m\" or \"4h\""
    /// A year: longer is a slip of the pen, and the bound keeps sums of times far from overflow.
    package static let msMax: Int64 = 366 * 86_400_000

    /// Milliseconds; nil when `text` is no duration or longer than `msMax`.
    package static func milliseconds(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let factor: Int64
        switch text.dropFirst(digits.count) {
        case "ms": factor = 1
        case "s": factor = 1000
        case "m", "min": factor = 60_000
        case "h": factor = 3_600_000
        case "d": factor = 86_400_000
        default: return nil
        }
        guard let count = Int64(digits), count <= msMax / factor else { return nil }
        return count * factor
    }

    /// "1s..5s", or one duration for a range of one value; nil when it is neither, or upside down.
    static func millisecondsRange(_ text: String) -> ClosedRange<Int64>? {
        if let single = milliseconds(text) { return single...single }
        let bytes = Array(text.utf8)
        let dot = UInt8(ascii: ".")
        guard let middle = bytes.indices.dropLast().first(where: { bytes[$0] == dot }),
            bytes[middle + 1] == dot,
            let low = milliseconds(String(decoding: bytes[..<middle], as: UTF8.self)),
            let high = milliseconds(String(decoding: bytes[(middle + 2)...], as: UTF8.self)),
            low <= high
        else { return nil }
        return low...high
    }
}
