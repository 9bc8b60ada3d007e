internal import Glibc

extension Histogram {
    /// Lines for each halving of the distance to 100 %, as HdrHistogram's programs have it.
    private static let ticksPerHalfDistance = 5.0
    /// With 2^63 values the distance is halved 63 times; one line more for each tick, and the last.
    private static let linesMax = 64 * 5 + 1

    /// The percentile distribution as HdrHistogram prints it, which its plotter and other tools
    /// read. Values are divided by `unit` (1,000,000 makes milliseconds of nanoseconds).
    package func percentileText(unit: Double) -> String {
        var text = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n"
        for line in percentileLines() {
            text += Self.fixed(Double(line.value) / unit, decimals: 3, width: 12) + " "
            text += Self.fixed(line.level / 100, decimals: 12, width: 14) + " "
            text += Self.padded(String(line.seen), to: 10)
            if line.level < 100 {
                text += " " + Self.fixed(1 / (1 - line.level / 100), decimals: 2, width: 14)
            }
            text += "\n"
        }
        func number(_ value: Double) -> String { Self.fixed(value / unit, decimals: 3, width: 12) }
        let halves = max == 0 ? 1 : Swift.max(1, 64 - max.leadingZeroBitCount - scale.precisionBits)
        text += "#[Mean    = \(number(mean)), StdDeviation   = \(number(standardDeviation))]\n"
        text += "#[Max     = \(number(Double(max)))"
        text += ", Total count    = \(Self.padded(String(count), to: 12))]\n"
        text += "#[Buckets = \(Self.padded(String(halves), to: 12))"
        text += ", SubBuckets     = \(Self.padded(String(2 << scale.precisionBits), to: 12))]\n"
        return text
    }

    private struct Line {
        var value: UInt64
        /// In per cent.
        var level: Double
        /// Values up to this one.
        var seen: UInt64
    }

    /// The levels come closer to each other towards 100 %, so that the tail has as many lines as
    /// the rest; the last line is the maximum.
    private func percentileLines() -> [Line] {
        var lines: [Line] = []
        var level = 0.0
        var seen: UInt64 = 0
        for bucket in counts.indices where counts[bucket] > 0 {
            seen += counts[bucket]
            let value = Swift.min(scale.upperBound(of: bucket), max)
            while level < 100, 100 * Double(seen) / Double(count) >= level,
                lines.count < Self.linesMax
            {
                lines.append(Line(value: value, level: level, seen: seen))
                if seen == count { break }
                let halvings = log2(100 / (100 - level)).rounded(.down)
                level += 100 / (Self.ticksPerHalfDistance * exp2(halvings + 1))
            }
        }
        if count > 0 { lines.append(Line(value: max, level: 100, seen: count)) }
        return lines
    }

    /// A number that is not negative with exactly so many decimals, right-aligned.
    private static func fixed(_ value: Double, decimals: Int, width: Int) -> String {
        let scale = pow(10, Double(decimals))
        let whole = value.rounded(.down)
        var units = UInt64(whole)
        var fraction = UInt64(((value - whole) * scale).rounded())
        if Double(fraction) >= scale {
            units += 1
            fraction = 0
        }
        let digits = String(fraction)
        let zeros = String(repeating: "0", count: decimals - digits.count)
        return padded("\(units).\(zeros)\(digits)", to: width)
    }

    private static func padded(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: Swift.max(0, width - text.utf8.count)) + text
    }
}
