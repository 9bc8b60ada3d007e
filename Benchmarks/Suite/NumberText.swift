/// Numbers for people.
enum NumberText {
    /// Three digits that count, with separators between thousands.
    static func short(_ value: Double) -> String {
        guard value.isFinite else { return "-" }
        let size = abs(value)
        if size >= 100 || size == size.rounded() { return grouped(value.rounded()) }
        return fixed(value, places: size >= 10 ? 1 : size >= 0.995 ? 2 : 3)
    }

    static func fixed(_ value: Double, places: Int) -> String {
        let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
        let number = Int((abs(value) * scale).rounded())
        let sign = value < 0 && number > 0 ? "-" : ""
        if places == 0 { return sign + String(number) }
        let digits = String(number)
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        return sign + padded.dropLast(places) + "." + padded.suffix(places)
    }

    static func grouped(_ value: Double) -> String {
        var text = ""
        for (index, digit) in String(Int(abs(value))).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (value < 0 ? "-" : "") + String(text.reversed())
    }
}
