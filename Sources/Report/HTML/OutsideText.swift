/// Text that comes from outside (names, paths, what a server said), made fit for a report that
/// people pass on.
enum OutsideText {
    /// Longer texts are cut: the size of a report is bounded.
    static let charactersMax = 300
    /// Shorter runs of hexadecimal digits are no device token (a token has 32 or more).
    private static let tokenDigitsMin = 32
    /// As many of a token's digits as are shown elsewhere, too.
    private static let tokenDigitsShown = 8

    /// On one line, without characters that show nothing or turn text around, not too long, and
    /// with device tokens shortened: a server may repeat the path of a request in what it says.
    static func cleaned(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var digits = 0
        for scalar in text.unicodeScalars.prefix(charactersMax * 2) {
            digits = scalar.properties.isASCIIHexDigit ? digits + 1 : 0
            if digits == tokenDigitsMin {
                result.removeLast(tokenDigitsMin - 1 - tokenDigitsShown)
                result.append("…")
            } else if digits < tokenDigitsMin {
                result.append(isShown(scalar) ? scalar : " ")
            }
        }
        let words = String(result).split(separator: " ").joined(separator: " ")
        return words.unicodeScalars.count <= charactersMax
            ? words
            : String(String.UnicodeScalarView(words.unicodeScalars.prefix(charactersMax - 1))) + "…"
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
            .unassigned:
            false
        default: true
        }
    }
}
