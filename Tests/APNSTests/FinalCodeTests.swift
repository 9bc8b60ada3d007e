import APNS
import Testing

@Suite struct FinalCodeTests {
    /// Apple, "Handling notification responses from APNs", the table of reasons, copied by hand.
    static let appleTable: [(UInt16, String)] = [
        (400, "BadCollapseId"),
        (400, "BadDeviceToken"),
        (400, "BadExpirationDate"),
        (400, "BadMessageId"),
        (400, "BadPriority"),
        (400, "BadTopic"),
        (400, "DeviceTokenNotForTopic"),
        (400, "DuplicateHeaders"),
        (400, "IdleTimeout"),
        (400, "InvalidPushType"),
        (400, "MissingDeviceToken"),
        (400, "MissingTopic"),
        (400, "PayloadEmpty"),
        (400, "TopicDisallowed"),
        (403, "BadCertificate"),
        (403, "BadCertificateEnvironment"),
        (403, "ExpiredProviderToken"),
        (403, "Forbidden"),
        (403, "InvalidProviderToken"),
        (403, "MissingProviderToken"),
        (403, "UnrelatedKeyIdInToken"),
        (403, "BadEnvironmentKeyIdInToken"),
        (404, "BadPath"),
        (405, "MethodNotAllowed"),
        (410, "ExpiredToken"),
        (410, "Unregistered"),
        (413, "PayloadTooLarge"),
        (429, "TooManyProviderTokenUpdates"),
        (429, "TooManyRequests"),
        (500, "InternalServerError"),
        (503, "ServiceUnavailable"),
        (503, "Shutdown"),
    ]

    /// Ledgers of runs outlive a version: this list is the promise, and is only ever appended to.
    static let promisedNumbers: [UInt8: String] = [
        16: "accepted ",
        20: "unregistered Unregistered", 21: "unregistered ExpiredToken",
        22: "unregistered BadDeviceToken", 31: "unregistered other",
        32: "rejected BadCollapseId", 33: "rejected BadExpirationDate",
        34: "rejected BadMessageId", 35: "rejected BadPriority", 36: "rejected BadTopic",
        37: "rejected DeviceTokenNotForTopic", 38: "rejected DuplicateHeaders",
        39: "rejected InvalidPushType", 40: "rejected MissingDeviceToken",
        41: "rejected MissingTopic", 42: "rejected PayloadEmpty", 43: "rejected TopicDisallowed",
        44: "rejected BadCertificate", 45: "rejected BadCertificateEnvironment",
        46: "rejected ExpiredProviderToken", 47: "rejected Forbidden",
        48: "rejected InvalidProviderToken", 49: "rejected MissingProviderToken",
        50: "rejected UnrelatedKeyIdInToken", 51: "rejected BadEnvironmentKeyInToken",
        52: "rejected BadPath", 53: "rejected MethodNotAllowed", 54: "rejected PayloadTooLarge",
        95: "rejected other",
        96: "exhausted IdleTimeout", 97: "exhausted TooManyRequests",
        98: "exhausted TooManyProviderTokenUpdates", 99: "exhausted InternalServerError",
        100: "exhausted ServiceUnavailable", 101: "exhausted Shutdown",
        102: "exhausted Timeout", 103: "exhausted ConnectionLost",
        104: "exhausted StreamReset", 127: "exhausted other",
        128: "unknown Timeout", 129: "unknown ConnectionLost", 130: "unknown StreamReset",
        143: "unknown other",
        144: "invalid RecordTooLong", 145: "invalid RunawayQuote",
        146: "invalid WrongFieldCount", 147: "invalid BrokenQuoting", 148: "invalid BrokenUTF8",
        149: "invalid BrokenJSON", 150: "invalid NotAnObject", 151: "invalid MissingToken",
        152: "invalid BadTokenForm", 153: "invalid MissingValue", 154: "invalid BadValue",
        155: "invalid UnknownPlaceholder", 156: "invalid PayloadTooLarge",
        157: "invalid CollapseIDTooLong", 191: "invalid other",
        192: "duplicate ", 193: "suppressed ", 194: "heldOut ",
    ]

    @Test func everyRowOfApplesTableIsKnownWithItsStatus() {
        for (status, reason) in Self.appleTable {
            let code = withBytes(reason) { Reasons.code(status: status, reason: $0) }
            #expect(code?.status == status, "\(reason)")
            // Apple's page prints another spelling of this one than its servers send.
            let expected =
                reason == "BadEnvironmentKeyIdInToken" ? "BadEnvironmentKeyInToken" : reason
            #expect(code?.reason == expected)
        }
    }

    @Test func theTableHasNoReasonsOfAPNsThatAppleDoesNotHave() {
        let known = FinalCode.table.filter { $0.status != 0 && $0.code != .accepted }
        #expect(known.count == Self.appleTable.count)
    }

    @Test func numbersAreUniqueAndNeverChange() {
        #expect(FinalCode.table.count == Self.promisedNumbers.count)
        #expect(Set(FinalCode.table.map(\.code)).count == FinalCode.table.count)
        for row in FinalCode.table {
            let meaning = "\(row.outcome.name) \(row.reason)"
            #expect(Self.promisedNumbers[row.code.rawValue] == meaning)
            #expect(row.code.rawValue >= FinalCode.rawValueMin)
        }
    }

    @Test func outcomeAndReasonTogetherAreUnique() {
        let names = FinalCode.table.map { "\($0.outcome.name) \($0.reason)" }
        #expect(Set(names).count == names.count)
    }

    @Test func everyOutcomeHasACodeAndOutcomesWithReasonsHaveOther() {
        for outcome in Outcome.allCases {
            let reasons = FinalCode.table.filter { $0.outcome == outcome }.map {
                $0.reason.description
            }
            #expect(reasons.contains("other") || reasons == [""], "\(outcome)")
        }
    }

    @Test func everyCodeHasAPlainSentenceOfAdvice() {
        for row in FinalCode.table {
            let advice = row.advice.description
            #expect(advice.hasSuffix("."), "\(row.reason)")
            #expect(advice.first?.isUppercase == true)
            #expect(advice.utf8.count > 20 && advice.utf8.count < 120, "\(advice)")
        }
    }

    @Test func aCodeThatIsNotListedSaysSoAndDoesNotTrap() {
        for number in UInt8.min...UInt8.max {
            let code = FinalCode(rawValue: number)
            #expect(code.isListed == (Self.promisedNumbers[number] != nil))
            if !code.isListed {
                #expect(code.outcome == .unknown)
                #expect(code.reason == "code \(number)")
                #expect(code.advice.contains("version"))
            }
        }
    }

    @Test func outcomeNamesAreThoseOfTheRunsFiles() {
        #expect(
            Outcome.allCases.map(\.name) == [
                "accepted", "unregistered", "rejected", "exhausted", "unknown", "invalid",
                "duplicate", "suppressed", "heldOut",
            ])
    }
}
