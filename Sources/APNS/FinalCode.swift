/// The last byte of a row in the ledger: what became of it, and why.
///
/// Ledgers and run folders outlive a version of Peal, so **a number is never changed and never used
/// again for something else**; a new reason takes a free number. 0–15 are the ledger's own states.
/// The meaning of each code stands in `FinalCode.table`; a code that is not listed there (a damaged
/// ledger, or one of a later version) reads as `unknown`, with a reason that says so.
package struct FinalCode: RawRepresentable, Sendable, Hashable {
    /// The byte in the ledger.
    package let rawValue: UInt8

    /// Takes any byte, for it may come from a file; see `isListed`.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    private init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// The smallest number of a final code.
    package static let rawValueMin: UInt8 = 16

    /// 200.
    package static let accepted = FinalCode(16)

    // unregistered: 20–31
    /// 410 Unregistered.
    package static let unregistered = FinalCode(20)
    /// 410 ExpiredToken.
    package static let expiredToken = FinalCode(21)
    /// 400 BadDeviceToken.
    package static let badDeviceToken = FinalCode(22)
    /// A reason that the table does not know.
    package static let unregisteredOther = FinalCode(31)

    // rejected: 32–95
    /// 400 BadCollapseId.
    package static let badCollapseID = FinalCode(32)
    /// 400 BadExpirationDate.
    package static let badExpirationDate = FinalCode(33)
    /// 400 BadMessageId.
    package static let badMessageID = FinalCode(34)
    /// 400 BadPriority.
    package static let badPriority = FinalCode(35)
    /// 400 BadTopic.
    package static let badTopic = FinalCode(36)
    /// 400 DeviceTokenNotForTopic.
    package static let deviceTokenNotForTopic = FinalCode(37)
    /// 400 DuplicateHeaders.
    package static let duplicateHeaders = FinalCode(38)
    /// 400 InvalidPushType.
    package static let invalidPushType = FinalCode(39)
    /// 400 MissingDeviceToken.
    package static let missingDeviceToken = FinalCode(40)
    /// 400 MissingTopic.
    package static let missingTopic = FinalCode(41)
    /// 400 PayloadEmpty.
    package static let payloadEmpty = FinalCode(42)
    /// 400 TopicDisallowed.
    package static let topicDisallowed = FinalCode(43)
    /// 403 BadCertificate.
    package static let badCertificate = FinalCode(44)
    /// 403 BadCertificateEnvironment.
    package static let badCertificateEnvironment = FinalCode(45)
    /// 403 ExpiredProviderToken.
    package static let expiredProviderToken = FinalCode(46)
    /// 403 Forbidden.
    package static let forbidden = FinalCode(47)
    /// 403 InvalidProviderToken.
    package static let invalidProviderToken = FinalCode(48)
    /// 403 MissingProviderToken.
    package static let missingProviderToken = FinalCode(49)
    /// 403 UnrelatedKeyIdInToken.
    package static let unrelatedKeyIDInToken = FinalCode(50)
    /// 403 BadEnvironmentKeyInToken.
    package static let badEnvironmentKeyInToken = FinalCode(51)
    /// 404 BadPath.
    package static let badPath = FinalCode(52)
    /// 405 MethodNotAllowed.
    package static let methodNotAllowed = FinalCode(53)
    /// 413 PayloadTooLarge.
    package static let payloadTooLarge = FinalCode(54)
    /// A reason that the table does not know.
    package static let rejectedOther = FinalCode(95)

    // exhausted: 96–127; the code keeps which transient failure was the last one
    /// 400 IdleTimeout.
    package static let idleTimeout = FinalCode(96)
    /// 429 TooManyRequests.
    package static let tooManyRequests = FinalCode(97)
    /// 429 TooManyProviderTokenUpdates.
    package static let tooManyProviderTokenUpdates = FinalCode(98)
    /// 500 InternalServerError.
    package static let internalServerError = FinalCode(99)
    /// 503 ServiceUnavailable.
    package static let serviceUnavailable = FinalCode(100)
    /// 503 Shutdown.
    package static let shutdown = FinalCode(101)
    /// Timeout, found by Peal.
    package static let exhaustedTimeout = FinalCode(102)
    /// ConnectionLost, found by Peal.
    package static let exhaustedConnectionLost = FinalCode(103)
    /// StreamReset, found by Peal.
    package static let exhaustedStreamReset = FinalCode(104)
    /// A reason that the table does not know.
    package static let exhaustedOther = FinalCode(127)

    // unknown: 128–143
    /// Timeout, found by Peal.
    package static let unknownTimeout = FinalCode(128)
    /// ConnectionLost, found by Peal.
    package static let unknownConnectionLost = FinalCode(129)
    /// StreamReset, found by Peal.
    package static let unknownStreamReset = FinalCode(130)
    /// For a cause that has no code of its own.
    package static let unknownOther = FinalCode(143)

    // invalid: 144–191
    /// RecordTooLong, found by Peal.
    package static let recordTooLong = FinalCode(144)
    /// RunawayQuote, found by Peal.
    package static let runawayQuote = FinalCode(145)
    /// WrongFieldCount, found by Peal.
    package static let wrongFieldCount = FinalCode(146)
    /// BrokenQuoting, found by Peal.
    package static let brokenQuoting = FinalCode(147)
    /// BrokenUTF8, found by Peal.
    package static let brokenUTF8 = FinalCode(148)
    /// BrokenJSON, found by Peal.
    package static let brokenJSON = FinalCode(149)
    /// NotAnObject, found by Peal.
    package static let notAnObject = FinalCode(150)
    /// MissingToken, found by Peal.
    package static let missingToken = FinalCode(151)
    /// BadTokenForm, found by Peal.
    package static let badTokenForm = FinalCode(152)
    /// MissingValue, found by Peal.
    package static let missingValue = FinalCode(153)
    /// BadValue, found by Peal.
    package static let badValue = FinalCode(154)
    /// UnknownPlaceholder, found by Peal.
    package static let unknownPlaceholder = FinalCode(155)
    /// PayloadTooLarge, found by Peal.
    package static let invalidPayloadTooLarge = FinalCode(156)
    /// CollapseIDTooLong, found by Peal.
    package static let collapseIDTooLong = FinalCode(157)
    /// For a cause that has no code of its own.
    package static let invalidOther = FinalCode(191)

    // one code each: 192–207
    /// Found by Peal.
    package static let duplicate = FinalCode(192)
    /// Found by Peal.
    package static let suppressed = FinalCode(193)
    /// Found by Peal.
    package static let heldOut = FinalCode(194)
}

extension FinalCode {
    /// What became of the row. No allocation.
    package var outcome: Outcome { row.outcome }

    /// The reason: APNs' word, Peal's word for a local one, "other" for a reason that the table
    /// does not know (the text itself is in the run's failure lines); empty where the outcome says
    /// it all (accepted, duplicate, suppressed, heldOut). Not unique: `exhausted` and `unknown`
    /// share some.
    package var reason: String {
        isListed ? row.reason.description : "code \(rawValue)"
    }

    /// The HTTP status that brings this reason; 0 for a local reason and for "other".
    package var status: UInt16 { row.status }

    /// What to do, in one plain sentence for the engineer who reads the report.
    package var advice: String { row.advice.description }

    /// How a sender treats the answer. No allocation.
    package var handling: AnswerHandling { row.handling }

    /// Whether the table knows this code.
    package var isListed: Bool { rawValue >= Self.rawValueMin && row.code == self }

    private var row: FinalCodeRow { FinalCodeTable.rowByRawValue[Int(rawValue)] }
}
