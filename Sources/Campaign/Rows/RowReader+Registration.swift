internal import APNS

extension RowReader {
    /// When the latest row's token was registered, milliseconds since 1970; nil where the campaign
    /// names no column for it, or the row has no value there or none that can be read (then
    /// ``render()`` says so). No allocation.
    package var registeredAtMs: Int64? {
        let index = columns.registeredAtIndex
        guard index >= 0 else { return nil }
        switch values[index].kind {
        case .text, .plainText, .scalar: return RegistrationTime.milliseconds(values[index].text)
        case .none, .nested: return nil
        }
    }

    func registrationProblem() -> RowProblem? {
        let index = columns.registeredAtIndex
        guard index >= 0, values[index].kind != .none, registeredAtMs == nil else { return nil }
        return RowProblem(
            .badValue, column: values[index].column,
            detail: .named("no RFC 3339 time and no Unix time in", columns.names[index]))
    }
}

/// The forms in which databases export the moment at which a token was registered.
enum RegistrationTime {
    /// 2001 to 2286: the times whose Unix seconds have ten digits, and their milliseconds thirteen.
    /// So the two are told apart, and what is neither (a date as digits, microseconds) is refused.
    private static let validSeconds: Range<Int64> = 1_000_000_000..<10_000_000_000

    /// Milliseconds since 1970; nil for anything but an RFC 3339 time, Unix seconds or Unix
    /// milliseconds in that range.
    static func milliseconds(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard let value = number(text) else {
            return ManifestInstant.unixMilliseconds(text).flatMap { valid($0) }
        }
        return validSeconds ~= value ? value * 1000 : valid(value)
    }

    private static func valid(_ milliseconds: Int64) -> Int64? {
        validSeconds ~= milliseconds / 1000 ? milliseconds : nil
    }

    private static func number(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard 1...18 ~= text.count else { return nil }
        var value: Int64 = 0
        for byte in text {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return value
    }
}
