internal import HTTP2

/// The values of faults, from their text. Each gives nil for a text that is none.
enum FaultValue {
    static let timeForm = "a time such as 20ms, 5s or 2m"
    static let delayForm = "a time such as 20ms, a range 10ms..50ms, or lognormal:20ms:0.5"
    static let codeForm = "an HTTP/2 error code such as REFUSED_STREAM or 7"
    static let reasonForm = "a reason of letters, at most 64"
    /// A day: longer is a slip of the pen, and sums of times stay far from overflow.
    private static let nanosecondsMax: UInt64 = 86_400_000_000_000
    /// e to the sixth is a factor of 400 for one standard deviation.
    private static let sigmaMax = 6.0

    static func nanoseconds(_ text: String) -> UInt64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let factor: UInt64
        switch text.dropFirst(digits.count) {
        case "us": factor = 1_000
        case "ms": factor = 1_000_000
        case "s": factor = 1_000_000_000
        case "m", "min": factor = 60_000_000_000
        case "h": factor = 3_600_000_000_000
        default: return nil
        }
        guard let count = UInt64(digits), count <= nanosecondsMax / factor else { return nil }
        return count * factor
    }

    static func delay(_ text: String) -> FaultDelay? {
        if let fixed = nanoseconds(text) { return .uniform(fromNs: fixed, toNs: fixed) }
        if let dots = text.firstRange(of: "..") {
            guard let from = nanoseconds(String(text[..<dots.lowerBound])),
                let to = nanoseconds(String(text[dots.upperBound...])), from <= to
            else { return nil }
            return .uniform(fromNs: from, toNs: to)
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "lognormal", let median = nanoseconds(String(parts[1])),
            let sigma = Double(parts[2]), sigma >= 0, sigma <= sigmaMax
        else { return nil }
        return .logNormal(medianNs: median, sigma: sigma)
    }

    static func probability(_ text: String) -> Double? {
        Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
    }

    static func rate(_ text: String) -> Double? {
        Double(text).flatMap { $0 > 0 && $0 <= 1e9 ? $0 : nil }
    }

    static func positive(_ text: String) -> UInt64? {
        UInt64(text).flatMap { $0 > 0 ? $0 : nil }
    }

    static func upTo(_ limit: Int) -> (String) -> Int? {
        { text in Int(text).flatMap { (0...limit).contains($0) ? $0 : nil } }
    }

    static func status(_ text: String) -> UInt16? {
        UInt16(text).flatMap { (200...599).contains($0) ? $0 : nil }
    }

    /// Lower-case hexadecimal digits.
    static func tokenPrefix(_ text: String) -> [UInt8]? {
        let bytes = Array(text.lowercased().utf8)
        let isHex = bytes.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
        return isHex && (1...200).contains(bytes.count) ? bytes : nil
    }

    /// A word that needs no escape in JSON.
    static func reason(_ text: String) -> String? {
        let isWord = text.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
        }
        return isWord && (1...64).contains(text.utf8.count) ? text : nil
    }

    static func debugText(_ text: String) -> [UInt8]? {
        (1...512).contains(text.utf8.count) ? Array(text.utf8) : nil
    }

    /// A name of RFC 9113 section 7, in any case, or a number.
    static func errorCode(_ text: String) -> HTTP2ErrorCode? {
        if let number = UInt32(text) { return HTTP2ErrorCode(rawValue: number) }
        let name = text.uppercased().map { $0 == "-" ? "_" : $0 }
        return (0...13).lazy.map { HTTP2ErrorCode(rawValue: $0) }
            .first { $0.description.prefix { $0 != " " }.elementsEqual(name) }
    }
}

/// Statuses and reasons that belong together (Apple: Handling notification responses from APNs).
enum FaultReasons {
    /// Reasons that no request of a client causes, and those that say the same in other places.
    private static let table: [(name: String, status: UInt16)] = [
        ("InternalServerError", 500), ("ServiceUnavailable", 503), ("Shutdown", 503),
        ("TooManyRequests", 429), ("TooManyProviderTokenUpdates", 429), ("Unregistered", 410),
        ("ExpiredToken", 410), ("IdleTimeout", 400), ("ExpiredProviderToken", 403),
        ("Forbidden", 403), ("BadDeviceToken", 400), ("DeviceTokenNotForTopic", 400),
        ("PayloadTooLarge", 413), ("MethodNotAllowed", 405), ("BadPath", 404),
    ]

    static var names: [String] {
        let own = table.map(\.name)
        return own + GatewayReason.allCases.map(\.name).filter { !own.contains($0) }
    }

    static func status(of reason: String) -> UInt16? {
        table.first { $0.name == reason }?.status
            ?? GatewayReason.allCases.first { $0.name == reason }?.status
    }

    /// The reason that goes with a status when none is given; nil for a status that Apple does not
    /// use.
    static func usual(for status: UInt16) -> String? { table.first { $0.status == status }?.name }
}
