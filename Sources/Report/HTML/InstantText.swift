internal import Glibc

/// Moments as people read them.
enum InstantText {
    /// Such as "2026-03-14 09:00:00 UTC"; the bare number for a year that no calendar here has.
    static func utc(unixSeconds: Int64) -> String {
        var seconds = time_t(unixSeconds)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "Unix time \(unixSeconds)" }
        let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
        let time = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)]
        return "\(date.map(padded).joined(separator: "-")) "
            + "\(time.map(padded).joined(separator: ":")) UTC"
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
