/// Instants as RFC 3339 writes them, such as "2026-03-14T21:00:00+02:00".
enum ManifestInstant {
    /// Seconds since 1970 UTC, a fraction cut off; nil when `text` is no RFC 3339 date and time.
    /// A leap second counts as the second before it: Unix time has none.
    static func unixSeconds(_ text: String) -> Int64? {
        Array(text.utf8).withUnsafeBytes { unixMilliseconds($0) }.map { $0.floorDivided(by: 1000) }
    }

    /// Milliseconds since 1970 UTC, what is finer cut off; otherwise as ``unixSeconds(_:)``. No
    /// allocation.
    static func unixMilliseconds(_ text: UnsafeRawBufferPointer) -> Int64? {
        var reader = InstantReader(bytes: text)
        guard let year = reader.digits(4), reader.skip("-"), let month = reader.digits(2),
            reader.skip("-"), let day = reader.digits(2), reader.skip("Tt "),
            let hour = reader.digits(2), reader.skip(":"), let minute = reader.digits(2),
            reader.skip(":"), let second = reader.digits(2),
            let fractionMs = reader.fractionMs(), let offsetSeconds = reader.zoneOffsetSeconds(),
            reader.isAtEnd
        else { return nil }
        guard 1...12 ~= month, 1...daysOfMonth(month, year: year) ~= day, hour < 24, minute < 60,
            second <= 60
        else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + min(second, 59) - offsetSeconds
        return seconds * 1000 + fractionMs
    }

    private static func daysOfMonth(_ month: Int64, year: Int64) -> Int64 {
        if month == 2 {
            return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Counts in years that begin in March, so that the leap day is the last of its year.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month > 2 ? year : year - 1
        let monthsSinceMarch = (month + 9) % 12
        let dayOfYear = (153 * monthsSinceMarch + 2) / 5 + day - 1
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        return marchYear * 365 + leapDays + dayOfYear - 719_468
    }
}

/// Reads the fixed fields of a date and time one after the other.
private struct InstantReader {
    let bytes: UnsafeRawBufferPointer
    var index = 0

    var isAtEnd: Bool { index == bytes.count }

    mutating func digits(_ count: Int) -> Int64? {
        guard bytes.count - index >= count else { return nil }
        var value: Int64 = 0
        for _ in 0..<count {
            guard isDigit else { return nil }
            value = value * 10 + Int64(bytes[index] - UInt8(ascii: "0"))
            index += 1
        }
        return value
    }

    mutating func skip(_ oneOf: StaticString) -> Bool {
        let characters = UnsafeBufferPointer(
            start: oneOf.utf8Start, count: oneOf.utf8CodeUnitCount)
        guard index < bytes.count, characters.contains(bytes[index]) else { return false }
        index += 1
        return true
    }

    /// 0 where there is no fraction; nil for a point without digits.
    mutating func fractionMs() -> Int64? {
        guard skip(".") else { return 0 }
        guard isDigit else { return nil }
        var fraction: Int64 = 0
        var unit: Int64 = 100
        while isDigit {
            fraction += unit * Int64(bytes[index] - UInt8(ascii: "0"))
            unit /= 10
            index += 1
        }
        return fraction
    }

    mutating func zoneOffsetSeconds() -> Int64? {
        if skip("Zz") { return 0 }
        let isEast = index < bytes.count && bytes[index] == UInt8(ascii: "+")
        guard skip("+-"), let hours = digits(2), skip(":"), let minutes = digits(2), hours < 24,
            minutes < 60
        else { return nil }
        return (hours * 3600 + minutes * 60) * (isEast ? 1 : -1)
    }

    private var isDigit: Bool {
        index < bytes.count && UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[index]
    }
}

extension Int64 {
    fileprivate func floorDivided(by divisor: Int64) -> Int64 {
        self / divisor - (self % divisor < 0 ? 1 : 0)
    }
}
