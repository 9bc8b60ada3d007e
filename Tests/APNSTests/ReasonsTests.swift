import APNS
import TestSupport
import Testing

@Suite struct ReasonsTests {
    @Test func status200IsAcceptedWhateverTheBody() {
        #expect(classify(200, "") == .final(.accepted))
        #expect(classify(200, "BadDeviceToken") == .final(.accepted))
    }

    @Test func deadTokensAreUnregistered() {
        for answer in [
            classify(410, "Unregistered"), classify(410, "ExpiredToken"),
            classify(400, "BadDeviceToken"),
        ] {
            guard case .final(let code) = answer else {
                Issue.record("\(answer)")
                continue
            }
            #expect(code.outcome == .unregistered)
        }
    }

    @Test func aTokenOfAnotherAppIsRejectedAndNotDead() {
        #expect(classify(400, "DeviceTokenNotForTopic") == .final(.deviceTokenNotForTopic))
        #expect(FinalCode.deviceTokenNotForTopic.outcome == .rejected)
    }

    /// `exhausted` keeps which failure it was.
    @Test func transientAnswersKeepTheirReason() {
        #expect(classify(429, "TooManyRequests") == .transient(.tooManyRequests))
        #expect(classify(500, "InternalServerError") == .transient(.internalServerError))
        #expect(classify(503, "ServiceUnavailable") == .transient(.serviceUnavailable))
        #expect(classify(503, "Shutdown") == .transient(.shutdown))
        #expect(classify(400, "IdleTimeout") == .transient(.idleTimeout))
        #expect(FinalCode.shutdown.handling == .transientReconnect)
        for row in FinalCode.table where row.handling == .transient {
            #expect(row.outcome == .exhausted)
        }
    }

    @Test func providerTokenAnswersAreTheirOwnClasses() {
        #expect(classify(403, "ExpiredProviderToken") == .providerTokenExpired)
        #expect(classify(429, "TooManyProviderTokenUpdates") == .providerTokenUpdates)
        #expect(AnswerClass.providerTokenExpired.code == .expiredProviderToken)
        #expect(AnswerClass.providerTokenUpdates.code == .tooManyProviderTokenUpdates)
    }

    /// Lesson B64: the key of another environment, in the spelling of the page and of the wire.
    @Test(arguments: ["BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken"])
    func bothSpellingsOfTheEnvironmentReasonAreConfiguration(reason: String) {
        #expect(classify(403, reason) == .configuration(.badEnvironmentKeyInToken))
    }

    @Test(arguments: [
        "BadTopic", "MissingTopic", "TopicDisallowed", "InvalidPushType", "BadPriority",
        "BadExpirationDate",
    ])
    func answersThatEveryRowWouldGetAreConfiguration(reason: String) {
        guard case .configuration(let code) = classify(400, reason) else {
            Issue.record("\(reason)")
            return
        }
        #expect(code.reason == reason)
        #expect(code.outcome == .rejected)
    }

    /// Lesson B64: a reason of tomorrow goes by its status.
    @Test(
        arguments: [
            (400, AnswerClass.final(.rejectedOther)),
            (404, .final(.rejectedOther)),
            (405, .final(.rejectedOther)),
            (413, .final(.rejectedOther)),
            (418, .final(.rejectedOther)),
            (403, .configuration(.rejectedOther)),
            (410, .final(.unregisteredOther)),
            (429, .transient(.exhaustedOther)),
            (500, .transient(.exhaustedOther)),
            (502, .transient(.exhaustedOther)),
            (503, .transient(.exhaustedOther)),
            (599, .transient(.exhaustedOther)),
            (204, .final(.rejectedOther)),
            (302, .final(.rejectedOther)),
            (0, .final(.rejectedOther)),
            (999, .final(.rejectedOther)),
        ] as [(UInt16, AnswerClass)])
    func unknownReasonsGoByStatus(status: UInt16, expected: AnswerClass) {
        for reason in ["", "ReasonOfTomorrow", "other", "unregistered", "Unregistered "] {
            #expect(classify(status, reason) == expected)
        }
    }

    /// A proxy that answers 500 with a copied body must not get tokens removed.
    @Test func aReasonCountsOnlyWithItsOwnStatus() {
        #expect(classify(500, "BadDeviceToken") == .transient(.exhaustedOther))
        #expect(classify(400, "Unregistered") == .final(.rejectedOther))
        #expect(classify(403, "BadTopic") == .configuration(.rejectedOther))
    }

    @Test func localReasonsAreNeverTakenFromTheWire() {
        for row in FinalCode.table where row.status == 0 {
            for status: UInt16 in [0, 400, 410, 429, 503] {
                let code = withBytes(row.reason.description) {
                    Reasons.code(status: status, reason: $0)
                }
                #expect(code == nil, "\(status) \(row.reason)")
            }
        }
    }
}

@Suite struct ErrorBodyTests {
    private func read(_ body: String) -> (reason: String, timestampMs: Int64?) {
        withBytes(body) { bytes in
            let found = Reasons.reason(inBody: bytes)
            return (String(decoding: bytes[found.reason], as: UTF8.self), found.timestampMs)
        }
    }

    @Test(
        arguments: [
            (#"{"reason":"BadDeviceToken"}"#, "BadDeviceToken", nil),
            (
                #"{"reason":"Unregistered","timestamp":1458114061260}"#, "Unregistered",
                1_458_114_061_260
            ),
            (
                #"{"timestamp":1458114061260,"reason":"Unregistered"}"#, "Unregistered",
                1_458_114_061_260
            ),
            (
                "{ \"reason\" : \"BadTopic\" ,\r\n\t\"timestamp\" : 1458114061260.5 } ", "BadTopic",
                1_458_114_061_260
            ),
            (#"{"details":{"reason":"inner","a":[1,{"b":"]}"}]},"reason":"outer"}"#, "outer", nil),
            (#"{"x":"a \" } , \\","reason":"R"}"#, "R", nil),
            (#"{"reason":"first","reason":"second"}"#, "first", nil),
            (#"{"reason":null,"timestamp":null}"#, "", nil),
            (#"{"reason":17}"#, "", nil),
            (#"{"REASON":"x"}"#, "", nil),
            (#"{}"#, "", nil),
            ("", "", nil),
            ("Too many concurrent streams", "", nil),
            (#"["reason","x"]"#, "", nil),
            (#""reason""#, "", nil),
            // Cut off: what was whole counts.
            (#"{"reason":"Unregistered","timesta"#, "Unregistered", nil),
            (#"{"reason":"Unregist"#, "", nil),
            (#"{"reason":"a\"#, "", nil),
        ] as [(String, String, Int64?)])
    func readsWhatCanBeRead(body: String, reason: String, timestampMs: Int64?) {
        let found = read(body)
        #expect(found.reason == reason)
        #expect(found.timestampMs == timestampMs)
    }

    /// Lesson B80: milliseconds; a number of seconds taken for them would be a day in 1970.
    @Test(arguments: [
        "1458114061", "-1458114061260", "0", "99999999999999", "92233720368547758070",
        "99999999999999999999999999", "1e12", "-", "\"1458114061260\"", "14581 14061260",
    ])
    func aTimestampThatCannotBeMillisecondsOfOurTimeIsLeftOut(number: String) {
        let found = read("{\"timestamp\":\(number),\"reason\":\"Unregistered\"}")
        #expect(found.timestampMs == nil)
    }

    @Test func anUnknownReasonKeepsItsTextUpToALimit() {
        #expect(read(#"{"reason":"Neuer Grund: größer"}"#).reason == "Neuer Grund: größer")
        let long = String(repeating: "x", count: 5000)
        #expect(read("{\"reason\":\"\(long)\"}").reason.utf8.count == APNSLimits.reasonBytesMax)
    }

    @Test func randomBytesNeverCrashAndRangesStayInside() {
        var random = SeededGenerator(seed: testSeed)
        let alphabet = Array(#"{}[]":,\ 0123456789.-etruonsa"reason""timestamp""#.utf8)
        for round in 0..<20_000 {
            let length = Int.random(in: 0...64, using: &random)
            var body = (0..<length).map { _ in
                round % 2 == 0
                    ? UInt8.random(in: 0...255, using: &random)
                    : alphabet.randomElement(using: &random) ?? 0
            }
            if round % 3 == 0 { body = Array(#"{"reason":"#.utf8) + body }
            body.withUnsafeBytes { bytes in
                let found = Reasons.reason(inBody: bytes)
                #expect(found.reason.upperBound <= bytes.count)
                _ = Reasons.classify(
                    status: UInt16.random(in: 0...UInt16.max, using: &random), reason: bytes)
                _ = ProviderTokenParts.parse(bytes)
            }
        }
    }

    @Test func everyMutationOfARealBodyIsRead() {
        let body = Array(#"{"reason":"Unregistered","timestamp":1458114061260}"#.utf8)
        for index in body.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = body
                changed[index] = byte
                changed.withUnsafeBytes { bytes in
                    let found = Reasons.reason(inBody: bytes)
                    #expect(found.reason.upperBound <= bytes.count)
                }
            }
        }
    }

    @Test func depthIsHarmless() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(read("{\"a\":\(deep)").reason == "")
        let closed = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
        #expect(read("{\"a\":\(closed),\"reason\":\"R\"}").reason == "R")
    }
}
