internal import JSON

/// What an answer of APNs means for a row and for the run.
package enum AnswerClass: Sendable, Equatable {
    /// The row is decided.
    case final(FinalCode)
    /// Try the row again later; the code is for when its attempts have run out. `code.status` 429
    /// means that this one token is held back; `code.handling` says whether the connection should
    /// be replaced.
    case transient(FinalCode)
    /// Every row would be answered so until the campaign or its credentials are corrected.
    case configuration(FinalCode)
    /// New provider token, new connection, the row again; no attempt is spent.
    case providerTokenExpired
    /// The provider token was changed too often: keep the old one, the row again later; no attempt
    /// is spent.
    case providerTokenUpdates

    /// The final code of a row that ends with this answer.
    package var code: FinalCode {
        switch self {
        case .final(let code), .transient(let code), .configuration(let code): code
        case .providerTokenExpired: .expiredProviderToken
        case .providerTokenUpdates: .tooManyProviderTokenUpdates
        }
    }
}

/// What stands in the body of an error answer.
package struct ErrorBody: Sendable, Equatable {
    /// The bytes of the reason in the body, without quotes; escapes are left as they are. Empty
    /// when there is none. At most `APNSLimits.reasonBytesMax` long.
    package var reason: Range<Int> = 0..<0
    /// With 410: when APNs found the token invalid, in **milliseconds** since 1970. Nil when absent
    /// or not a believable time.
    package var timestampMs: Int64?
}

/// Reading of answers. Everything here takes borrowed bytes and allocates nothing.
package enum Reasons {
    /// Reasons with a second spelling: what Apple's page prints, and what is on the wire.
    static let synonyms: [(spelling: StaticString, code: FinalCode)] = [
        ("BadEnvironmentKeyIdInToken", .badEnvironmentKeyInToken)
    ]

    /// The class of an answer with this final status and this reason (empty for none).
    ///
    /// A reason counts only together with its own status, because a wrong match could remove a good
    /// token; everything else goes by status: 410 unregistered, 429 and 5xx transient, 403
    /// configuration (Apple: a fault of the certificate or token), the rest rejected.
    package static func classify(status: UInt16, reason: UnsafeRawBufferPointer) -> AnswerClass {
        if status == 200 { return .final(.accepted) }
        if let code = code(status: status, reason: reason) {
            return answerClass(of: code)
        }
        switch status {
        case 410: return .final(.unregisteredOther)
        case 429, 500...599: return .transient(.exhaustedOther)
        case 403: return .configuration(.rejectedOther)
        default: return .final(.rejectedOther)
        }
    }

    /// The code of APNs' answer with exactly this status and reason; nil when the table has none.
    package static func code(status: UInt16, reason: UnsafeRawBufferPointer) -> FinalCode? {
        guard status != 0 else { return nil }  // rows of 0 are local reasons and "other"
        for row in FinalCode.table where row.status == status && row.reason.equals(reason) {
            return row.code
        }
        for synonym in synonyms
        where synonym.spelling.equals(reason) && synonym.code.status == status {
            return synonym.code
        }
        return nil
    }

    /// Reads `{"reason":"…","timestamp":…}` as far as it can be read: a body that is cut off, is
    /// not JSON or is empty gives what was found until then. Serves GOAWAY's debug data as well.
    /// *Limits*: what nests deeper than `JSONScanner.depthMax` ends the reading.
    package static func reason(inBody body: UnsafeRawBufferPointer) -> ErrorBody {
        var found = ErrorBody()
        var scanner = JSONScanner(body)
        do throws(JSONError) {
            guard try scanner.next() == .beginObject else { return found }
            while try scanner.next() == .key {
                let isReason = scanner.text.equals("reason")
                let isTimestamp = scanner.text.equals("timestamp")
                let token = try scanner.next()
                if isReason, token == .string, found.reason.isEmpty {
                    let start = scanner.position.offset + "\"".utf8.count
                    let length = min(scanner.text.raw.count, APNSLimits.reasonBytesMax)
                    found.reason = start..<start + length
                } else if isTimestamp, token == .number, found.timestampMs == nil {
                    found.timestampMs = wholePart(scanner.numberText).flatMap(believable)
                } else {
                    _ = try scanner.finishValue(token)
                }
            }
        } catch {}  // What was found counts.
        return found
    }

    /// The whole part of a number as JSON writes it; nil when it has an exponent or does not fit.
    private static func wholePart(_ number: UnsafeRawBufferPointer) -> Int64? {
        var result: Int64 = 0
        for byte in number {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let (shifted, overflow) = result.multipliedReportingOverflow(by: 10)
                let (sum, overflowAgain) = shifted.addingReportingOverflow(Int64(byte - 0x30))
                guard !overflow, !overflowAgain else { return nil }
                result = sum
            case UInt8(ascii: "."): return result
            default: return nil
            }
        }
        return result
    }

    /// From the start of 2009, when APNs was new, to the end of 2099. Seconds instead of
    /// milliseconds fall outside, as do negative numbers.
    private static func believable(_ milliseconds: Int64) -> Int64? {
        (1_230_768_000_000..<4_102_444_800_000).contains(milliseconds) ? milliseconds : nil
    }

    private static func answerClass(of code: FinalCode) -> AnswerClass {
        switch code.handling {
        case .final, .local: .final(code)
        case .transient, .transientReconnect: .transient(code)
        case .configuration: .configuration(code)
        case .providerTokenExpired: .providerTokenExpired
        case .providerTokenUpdates: .providerTokenUpdates
        }
    }
}

extension JSONText {
    /// Whether the decoded text is this.
    func equals(_ text: StaticString) -> Bool {
        equals(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

extension StaticString {
    /// Whether the UTF-8 bytes are the same.
    func equals(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard utf8CodeUnitCount == bytes.count else { return false }
        for index in 0..<bytes.count where bytes[index] != utf8Start[index] { return false }
        return true
    }
}
