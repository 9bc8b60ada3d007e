internal import Glibc

/// A moment of the wall clock in milliseconds since 1970, UTC.
struct Timestamp: Sendable {
    let milliseconds: Int64

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Reads what ``rfc3339`` wrote; nil for anything else.
    init?(rfc3339 text: String) {
        let numbers = text.split { "-T:.Z".contains($0) }.compactMap { Int32($0) }
        guard text.utf8.count == 24, numbers.count == 7 else { return nil }
        var broken = tm()
        broken.tm_year = numbers[0] - 1900
        broken.tm_mon = numbers[1] - 1
        broken.tm_mday = numbers[2]
        broken.tm_hour = numbers[3]
        broken.tm_min = numbers[4]
        broken.tm_sec = numbers[5]
        self.init(milliseconds: Int64(timegm(&broken)) * 1000 + Int64(numbers[6]))
    }

    /// Seconds since 1970.
    var seconds: Int64 { milliseconds / 1000 }

    /// RFC 3339 in UTC with milliseconds: `2026-03-14T09:00:00.000Z`.
    var rfc3339: String {
        let text = parts
        return "\(padded(text.year, 4))-\(padded(text.month, 2))-\(padded(text.day, 2))"
            + "T\(padded(text.hour, 2)):\(padded(text.minute, 2)):\(padded(text.second, 2))"
            + ".\(padded(Int(milliseconds % 1000), 3))Z"
    }

    /// The name of a run folder: `20260314T090000Z`.
    var folderName: String {
        let text = parts
        return "\(padded(text.year, 4))\(padded(text.month, 2))\(padded(text.day, 2))"
            + "T\(padded(text.hour, 2))\(padded(text.minute, 2))\(padded(text.second, 2))Z"
    }

    private var parts: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        var seconds = time_t(self.seconds)
        var broken = tm()
        gmtime_r(&seconds, &broken)
        return (
            Int(broken.tm_year) + 1900, Int(broken.tm_mon) + 1, Int(broken.tm_mday),
            Int(broken.tm_hour), Int(broken.tm_min), Int(broken.tm_sec)
        )
    }

    private func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
