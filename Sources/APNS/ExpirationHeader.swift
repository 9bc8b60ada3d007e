/// The value of `apns-expiration`: Unix **seconds** in UTC, in decimal.
///
/// 0 means one attempt and no storing, so a campaign that names no expiration must leave the header
/// out; then APNs stores for as long as it likes, at most 30 days.
package enum ExpirationHeader {
    /// Digits of the largest value.
    private static let digitsMax = 19

    /// The text of the header. 64 bits, so 2038 is a year like any other.
    /// - Parameter unixSeconds: not negative.
    package static func value(unixSeconds: Int64) -> String {
        precondition(unixSeconds >= 0)
        return String(unixSeconds)
    }

    /// The number of seconds; nil for anything but digits. No allocation.
    package static func parse(_ value: UnsafeRawBufferPointer) -> Int64? {
        guard (1...digitsMax).contains(value.count) else { return nil }
        var seconds: Int64 = 0
        for byte in value {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            let (shifted, overflow) = seconds.multipliedReportingOverflow(by: 10)
            let (sum, overflowAgain) = shifted.addingReportingOverflow(
                Int64(byte - UInt8(ascii: "0")))
            guard !overflow, !overflowAgain else { return nil }
            seconds = sum
        }
        return seconds
    }
}
