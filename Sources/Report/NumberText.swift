internal import Glibc

/// Numbers as people read them, the same in every report.
package enum NumberText {
    /// "1,234,567".
    package static func count(_ number: UInt64) -> String {
        var text = ""
        let digits = String(number)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// "1,234,567 rows", "1 row".
    package static func count(_ number: UInt64, _ thing: String) -> String {
        "\(count(number)) \(thing)\(number == 1 ? "" : "s")"
    }

    /// `part` of `whole` as "98.7 %". Only nothing is "0 %" and only all is "100 %": a share that
    /// rounding would make one of the two is "<0.1 %" or ">99.9 %".
    package static func percent(_ part: UInt64, of whole: UInt64) -> String {
        if part == 0 || whole == 0 { return "0 %" }
        if part >= whole { return "100 %" }
        let tenths = (Double(part) / Double(whole) * 1000).rounded()
        if tenths < 1 { return "<0.1 %" }
        if tenths > 999 { return ">99.9 %" }
        return "\(fixed(tenths / 10, decimals: 1)) %"
    }

    /// "24 ms", "0.4 s", "12 s", "1 min 12 s", "2 h 5 min", "3 d 4 h": two units at most, rounded
    /// to the smaller one. Without `tenths`, the shortest is "1 s".
    package static func duration(seconds: Double, tenths: Bool = true) -> String {
        if !tenths, seconds < 9.95 { return "\(Int(max(1, seconds.rounded()))) s" }
        if seconds < 0.0995 { return "\(UInt64((max(0, seconds) * 1000).rounded())) ms" }
        if seconds < 9.95 { return "\(fixed(max(0, seconds), decimals: 1)) s" }
        let whole = UInt64(min(seconds.rounded(), 1e15))
        if whole < 60 { return "\(whole) s" }
        if whole < 3600 { return pair(whole / 60, "min", whole % 60, "s") }
        let minutes = (whole + 30) / 60
        if minutes < 24 * 60 { return pair(minutes / 60, "h", minutes % 60, "min") }
        let hours = (minutes + 30) / 60
        return pair(hours / 24, "d", hours % 24, "h")
    }

    /// "0.4 ms", "12 ms", "1.2 s".
    package static func milliseconds(_ value: Double) -> String {
        if value < 9.95 { return "\(fixed(max(0, value), decimals: 1)) ms" }
        return value < 999.5
            ? "\(count(UInt64(value.rounded()))) ms" : duration(seconds: value / 1000)
    }

    /// "0.4", "12", "45,678": a rate, with a decimal only while it is small.
    package static func rate(_ value: Double) -> String {
        if value <= 0 { return "0" }
        if value < 9.95 { return fixed(value, decimals: 1) }
        return count(UInt64(min(value.rounded(), 1e15)))
    }

    /// "512 bytes", "1.5 KiB", "12 MiB".
    package static func bytes(_ number: UInt64) -> String {
        if number < 1024 { return count(number, "byte") }
        var value = Double(number) / 1024
        var units = ["KiB", "MiB", "GiB", "TiB"][...]
        while value >= 1023.5, units.count > 1 {
            value /= 1024
            units.removeFirst()
        }
        return "\(rate(value)) \(units.first ?? "")"
    }

    private static func pair(
        _ large: UInt64, _ largeUnit: String, _ small: UInt64, _ smallUnit: String
    ) -> String {
        small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
    }

    /// `value`, which is small and not negative, with exactly `decimals` decimals.
    private static func fixed(_ value: Double, decimals: Int) -> String {
        let scale = pow(10, Double(decimals))
        let scaled = UInt64((value * scale).rounded())
        let fraction = String(scaled % UInt64(scale))
        let zeros = String(repeating: "0", count: decimals - fraction.count)
        return "\(scaled / UInt64(scale)).\(zeros)\(fraction)"
    }
}
