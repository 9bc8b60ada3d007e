internal import Glibc

/// Members whose values are one text or one number; nil is written as `null`.
extension JSONWriter {
    /// Writes a key and its string.
    package mutating func member(_ name: String, _ text: String?) {
        key(name)
        if let text { string(text) } else { null() }
    }

    /// Writes a key and its whole number.
    package mutating func member(_ name: String, _ value: (some BinaryInteger)?) {
        key(name)
        if let value { number(value) } else { null() }
    }

    /// Writes a key and its number, rounded to so many decimals: more digits would be noise. It
    /// must be finite.
    package mutating func member(_ name: String, _ value: Double?, decimals: Int) {
        key(name)
        let unit = pow(10, Double(decimals))
        if let value { number((value * unit).rounded() / unit) } else { null() }
    }
}
