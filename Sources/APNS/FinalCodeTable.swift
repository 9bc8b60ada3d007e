/// How a sender treats an answer; the column of the reason table that the retry and stop rules
/// read.
package enum AnswerHandling: UInt8, Sendable {
    /// The row is decided.
    case final
    /// Worth another attempt, of this row only, after a delay.
    case transient
    /// Worth another attempt, on another connection: this one will answer nothing good any more.
    case transientReconnect
    /// Every row would be answered so until the campaign or its credentials are corrected.
    case configuration
    /// The provider token is too old: a new token, a new connection, the row again.
    case providerTokenExpired
    /// The provider token was changed too often: keep the old one, the row again later.
    case providerTokenUpdates
    /// Decided by Peal; no answer of APNs has it.
    case local
}

/// One row of the reason table.
package struct FinalCodeRow: Sendable {
    /// The number.
    package let code: FinalCode
    /// HTTP status; 0 for a local reason and for "other".
    package let status: UInt16
    /// As `FinalCode.reason` tells it.
    package let reason: StaticString
    /// What became of the row.
    package let outcome: Outcome
    /// How a sender treats the answer.
    package let handling: AnswerHandling
    /// One sentence for the engineer who reads the report.
    package let advice: StaticString

    fileprivate init(
        _ code: FinalCode, _ status: UInt16, _ reason: StaticString, _ outcome: Outcome,
        _ handling: AnswerHandling, _ advice: StaticString
    ) {
        self.code = code
        self.status = status
        self.reason = reason
        self.outcome = outcome
        self.handling = handling
        self.advice = advice
    }
}

extension FinalCode {
    /// Every code with its meaning. The statuses and reasons of APNs are those of Apple's "Handling
    /// notification responses from APNs"; handling and advice follow its retry rules.
    package static let table: [FinalCodeRow] = answers + transientAnswers + localResults

    private static let answers: [FinalCodeRow] = [
        FinalCodeRow(
            .accepted, 200, "", .accepted, .final,
            "Nothing to do: APNs took it; whether it is shown is decided on the device."),

        FinalCodeRow(
            .unregistered, 410, "Unregistered", .unregistered, .final,
            "Remove the token, unless the app registered it again after the time in invalid_since."),
        FinalCodeRow(
            .expiredToken, 410, "ExpiredToken", .unregistered, .final,
            "Remove the token: it has expired, and the app will register a new one."),
        FinalCodeRow(
            .badDeviceToken, 400, "BadDeviceToken", .unregistered, .final,
            "Check that the tokens belong to this environment (production or sandbox) before removing any."
        ),
        FinalCodeRow(
            .unregisteredOther, 0, "other", .unregistered, .final,
            "APNs answered 410 with a reason that Peal does not know: remove the token."),

        FinalCodeRow(
            .badCollapseID, 400, "BadCollapseId", .rejected, .final,
            "Keep collapseID within 64 bytes and free of control characters."),
        FinalCodeRow(
            .badExpirationDate, 400, "BadExpirationDate", .rejected, .configuration,
            "Correct expiration in the campaign: APNs does not accept its value."),
        FinalCodeRow(
            .badMessageID, 400, "BadMessageId", .rejected, .configuration,
            "Set apnsID to false and report this: APNs did not accept the id that Peal made."),
        FinalCodeRow(
            .badPriority, 400, "BadPriority", .rejected, .configuration,
            "Set priority to 10, 5 or 1 as the push type allows (background: 5)."),
        FinalCodeRow(
            .badTopic, 400, "BadTopic", .rejected, .configuration,
            "Correct topic in the campaign: the bundle id of the app, with the push type's suffix."),
        FinalCodeRow(
            .deviceTokenNotForTopic, 400, "DeviceTokenNotForTopic", .rejected, .final,
            "The token belongs to another app: file it there, or correct topic if all rows say this."
        ),
        FinalCodeRow(
            .duplicateHeaders, 400, "DuplicateHeaders", .rejected, .configuration,
            "A header was sent twice: look for a proxy in between, and report this if there is none."
        ),
        FinalCodeRow(
            .invalidPushType, 400, "InvalidPushType", .rejected, .configuration,
            "Correct pushType in the campaign: it must fit the payload and the topic."),
        FinalCodeRow(
            .missingDeviceToken, 400, "MissingDeviceToken", .rejected, .configuration,
            "The token did not reach APNs in the path: look for a proxy in between that rewrites it."
        ),
        FinalCodeRow(
            .missingTopic, 400, "MissingTopic", .rejected, .configuration,
            "Set topic in the campaign: the bundle id of the app, with the push type's suffix."),
        FinalCodeRow(
            .payloadEmpty, 400, "PayloadEmpty", .rejected, .configuration,
            "The payload did not reach APNs: look for a proxy in between that drops the body."),
        FinalCodeRow(
            .topicDisallowed, 400, "TopicDisallowed", .rejected, .configuration,
            "This key or certificate may not push to this topic: correct topic or the credentials."
        ),
        FinalCodeRow(
            .badCertificate, 403, "BadCertificate", .rejected, .configuration,
            "Use a valid push certificate: this one is expired, revoked or of another kind."),
        FinalCodeRow(
            .badCertificateEnvironment, 403, "BadCertificateEnvironment", .rejected,
            .configuration,
            "Use the certificate of this environment, or correct environment in the campaign."),
        FinalCodeRow(
            .expiredProviderToken, 403, "ExpiredProviderToken", .rejected, .providerTokenExpired,
            "Check this machine's clock: a fresh provider token counts as more than an hour old."),
        FinalCodeRow(
            .forbidden, 403, "Forbidden", .rejected, .configuration,
            "The account may not do this: check the rights of the key or certificate with Apple."),
        FinalCodeRow(
            .invalidProviderToken, 403, "InvalidProviderToken", .rejected, .configuration,
            "Check that key, keyID and teamID belong together, and that the key is not revoked."),
        FinalCodeRow(
            .missingProviderToken, 403, "MissingProviderToken", .rejected, .configuration,
            "Set credentials in the campaign: neither a provider token nor a certificate arrived."
        ),
        FinalCodeRow(
            .unrelatedKeyIDInToken, 403, "UnrelatedKeyIdInToken", .rejected, .configuration,
            "Use one signing key per run: this key is unrelated to the one the connection began with."
        ),
        // Apple's page prints BadEnvironmentKeyIdInToken; this is what live answers say. Both are
        // understood (`Reasons.synonyms`).
        FinalCodeRow(
            .badEnvironmentKeyInToken, 403, "BadEnvironmentKeyInToken", .rejected, .configuration,
            "The key is for the other environment: use its key, or correct environment."),
        FinalCodeRow(
            .badPath, 404, "BadPath", .rejected, .configuration,
            "The path did not reach APNs as sent: look for a proxy in between that rewrites it."),
        FinalCodeRow(
            .methodNotAllowed, 405, "MethodNotAllowed", .rejected, .configuration,
            "The method did not reach APNs as POST: look for a proxy in between that rewrites it."
        ),
        FinalCodeRow(
            .payloadTooLarge, 413, "PayloadTooLarge", .rejected, .final,
            "Shorten the payload: 4096 bytes, for voip 5120."),
        FinalCodeRow(
            .rejectedOther, 0, "other", .rejected, .final,
            "APNs refused it with a reason that Peal does not know: see the text in failures.ndjson."
        ),
    ]

    private static let transientAnswers: [FinalCodeRow] = [
        FinalCodeRow(
            .idleTimeout, 400, "IdleTimeout", .exhausted, .transientReconnect,
            "Resume later: APNs gave up connections for being idle, each time."),
        FinalCodeRow(
            .tooManyRequests, 429, "TooManyRequests", .exhausted, .transient,
            "Send to this device less often: APNs holds back pushes to this one token."),
        FinalCodeRow(
            .tooManyProviderTokenUpdates, 429, "TooManyProviderTokenUpdates", .exhausted,
            .providerTokenUpdates,
            "Stop other programs that make provider tokens with this key, wait 20 minutes, resume."
        ),
        FinalCodeRow(
            .internalServerError, 500, "InternalServerError", .exhausted, .transient,
            "Send these rows again in 15 minutes or later: APNs had a fault."),
        FinalCodeRow(
            .serviceUnavailable, 503, "ServiceUnavailable", .exhausted, .transient,
            "Send these rows again in 15 minutes or later: APNs was unavailable."),
        FinalCodeRow(
            .shutdown, 503, "Shutdown", .exhausted, .transientReconnect,
            "Send these rows again in 15 minutes or later: the servers were being stopped."),
        FinalCodeRow(
            .exhaustedTimeout, 0, "Timeout", .exhausted, .local,
            "Check the network and raise timeouts.request: no answer came in any attempt."),
        FinalCodeRow(
            .exhaustedConnectionLost, 0, "ConnectionLost", .exhausted, .local,
            "Check the network between here and APNs: the connection broke in every attempt."),
        FinalCodeRow(
            .exhaustedStreamReset, 0, "StreamReset", .exhausted, .local,
            "Look for a proxy in between: the server broke off the request in every attempt."),
        FinalCodeRow(
            .exhaustedOther, 0, "other", .exhausted, .transient,
            "Send these rows again later: APNs kept failing, see the text in failures.ndjson."),
    ]

    private static let localResults: [FinalCodeRow] = [
        FinalCodeRow(
            .unknownTimeout, 0, "Timeout", .unknown, .local,
            "It may have been delivered: send again only if a second notification does no harm."),
        FinalCodeRow(
            .unknownConnectionLost, 0, "ConnectionLost", .unknown, .local,
            "It may have been delivered: send again only if a second notification does no harm."),
        FinalCodeRow(
            .unknownStreamReset, 0, "StreamReset", .unknown, .local,
            "It may have been delivered: send again only if a second notification does no harm."),
        FinalCodeRow(
            .unknownOther, 0, "other", .unknown, .local,
            "It may have been delivered: send again only if a second notification does no harm."),

        FinalCodeRow(
            .recordTooLong, 0, "RecordTooLong", .invalid, .local,
            "Shorten the record to 64 KiB, or close the quote that runs on."),
        FinalCodeRow(
            .runawayQuote, 0, "RunawayQuote", .invalid, .local,
            "Close the quote that was opened on this line, or double it if it is part of the text."
        ),
        FinalCodeRow(
            .wrongFieldCount, 0, "WrongFieldCount", .invalid, .local,
            "Give the row as many fields as the header has; quote fields that hold the delimiter."
        ),
        FinalCodeRow(
            .brokenQuoting, 0, "BrokenQuoting", .invalid, .local,
            "Put nothing between a closing quote and the delimiter; double quotes inside a field."
        ),
        FinalCodeRow(
            .brokenUTF8, 0, "BrokenUTF8", .invalid, .local,
            "Save the file as UTF-8: this row holds bytes that are not."),
        FinalCodeRow(
            .brokenJSON, 0, "BrokenJSON", .invalid, .local,
            "Correct the row: it is not valid JSON (one object per line)."),
        FinalCodeRow(
            .notAnObject, 0, "NotAnObject", .invalid, .local,
            "Make each line a JSON object, such as {\"token\":\"…\"}."),
        FinalCodeRow(
            .missingToken, 0, "MissingToken", .invalid, .local,
            "Give the row a device token."),
        FinalCodeRow(
            .badTokenForm, 0, "BadTokenForm", .invalid, .local,
            "Write the device token in hexadecimal: an even number of digits, 32 to 512."),
        FinalCodeRow(
            .missingValue, 0, "MissingValue", .invalid, .local,
            "Fill the column that the payload asks for, or give its placeholder a default."),
        FinalCodeRow(
            .badValue, 0, "BadValue", .invalid, .local,
            "Correct the value: it is not of the type that its placeholder names."),
        FinalCodeRow(
            .unknownPlaceholder, 0, "UnknownPlaceholder", .invalid, .local,
            "Give the row the key that the payload asks for, or give its placeholder a default."),
        FinalCodeRow(
            .invalidPayloadTooLarge, 0, "PayloadTooLarge", .invalid, .local,
            "Shorten the values of this row: the payload is limited to 4096 bytes, for voip to 5120."
        ),
        FinalCodeRow(
            .collapseIDTooLong, 0, "CollapseIDTooLong", .invalid, .local,
            "Shorten the values of this row: the collapse id is limited to 64 bytes."),
        FinalCodeRow(
            .invalidOther, 0, "other", .invalid, .local,
            "Correct the row: see the text in failures.ndjson."),

        FinalCodeRow(
            .duplicate, 0, "", .duplicate, .local,
            "Nothing to do: another row with the same token is the one that is sent."),
        FinalCodeRow(
            .suppressed, 0, "", .suppressed, .local,
            "Nothing to do: the token is on a suppression list."),
        FinalCodeRow(
            .heldOut, 0, "", .heldOut, .local,
            "Nothing to do: the token was chosen for the hold-out share."),
    ]
}

/// The table by number.
enum FinalCodeTable {
    /// 256 rows; a code that is not listed has a row of code 0. Read-only once built.
    static let rowByRawValue: [FinalCodeRow] = {
        let unlisted = FinalCodeRow(
            FinalCode(rawValue: 0), 0, "", .unknown, .local,
            "Read the run folder with the version of Peal that wrote it: this code is not known here."
        )
        var rows = [FinalCodeRow](repeating: unlisted, count: 256)
        for row in FinalCode.table { rows[Int(row.code.rawValue)] = row }
        return rows
    }()
}
