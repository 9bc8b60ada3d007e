/// Says what is wrong with a number that was typed. Only plain decimal digits are numbers: a sign,
/// an exponent or a separator is more often a mistake than meant.
enum NumberCheck {
    /// Why `text` is no whole number in `range`; nil when it is one.
    static func problem(of text: String, asWholeIn range: ClosedRange<UInt64>) -> String? {
        guard isDigits(text) else { return "is not a whole number: write digits only, as in 1000" }
        // Digits that are no UInt64 are too many digits.
        guard let number = UInt64(text) else { return tooLarge(range.upperBound) }
        if number < range.lowerBound { return "is too small: the least is \(range.lowerBound)" }
        return number > range.upperBound ? tooLarge(range.upperBound) : nil
    }

    /// Why `text` is no number in `range`, whose bounds are whole; nil when it is one.
    static func problem(of text: String, asDecimalIn range: ClosedRange<Double>) -> String? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ isDigits($0) }), let number = Double(text) else {
            return "is not a number: write digits and at most one point, as in 0.5 or 1000"
        }
        guard number >= range.lowerBound else { return "is too small" }
        return number <= range.upperBound ? nil : tooLarge(UInt64(range.upperBound))
    }

    private static func isDigits(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func tooLarge(_ bound: UInt64) -> String {
        "is too large: the most is \(bound)"
    }
}
