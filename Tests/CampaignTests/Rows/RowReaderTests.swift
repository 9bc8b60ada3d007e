import APNS
import Campaign
import Testing

@Suite struct RowReaderTests {
    private static let greeting = [
        "payload":
            "{aps: {alert: {title: 'Hi {{name|friend}}', n: 1.50}, badge: '{{n:int}}'}, z: 1, a: 2}"
    ]

    @Test func aPayloadIsCompactAndKeepsOrderAndNumbers() throws {
        let expected =
            #"{"aps":{"alert":{"title":"Hi Zoë","n":1.50},"badge":7},"z":1,"a":2}"#
        let csv = try RowFixture(Self.greeting, columns: ["token", "name", "n"])
        #expect(csv.csv("Zoë", "7") == RenderedRow(payload: expected))
        let ndjson = try RowFixture(Self.greeting, columns: nil)
        #expect(ndjson.json(#""n":7,"name":"Zo\u00eb""#) == RenderedRow(payload: expected))
    }

    /// B77: what is no token is found before anything is sent.
    @Test func tokensAreNormalised() throws {
        let fixture = try RowFixture([:], columns: ["id", "token"])
        let written = "7,<\(goodToken.prefix(8)) \(goodToken.dropFirst(8).uppercased())>"
        #expect(fixture.row(written).code == nil)
        #expect(String(decoding: fixture.reader.token, as: UTF8.self) == goodToken.lowercased())
        #expect(fixture.row("7,").code == .missingToken)
        #expect(fixture.row("7,xyz").code == .badTokenForm)
        #expect(fixture.reader.token.isEmpty)
    }

    @Test(arguments: [
        ("{\"token\":null}", FinalCode.missingToken), ("{\"token\":\"\"}", .missingToken),
        ("{}", .missingToken), ("{\"Token\":\"x\"}", .missingToken),
        ("{\"token\":12345678901234567890123456789012}", .badTokenForm),
        ("{\"token\":[\"\(goodToken)\"]}", .badTokenForm), ("{\"token\":\"12\"}", .badTokenForm),
        ("[]", .notAnObject), ("\"x\"", .notAnObject), ("5", .notAnObject), ("[", .brokenJSON),
        ("5 5", .brokenJSON), ("{\"token\":\"\(goodToken)\",}", .brokenJSON),
        ("{\"token\":\"\(goodToken)\"} x", .brokenJSON), ("{'token':1}", .brokenJSON),
        ("{\"token\":\"\(goodToken)\",\"x\":\"\\ud800\"}", .brokenJSON),
        ("{\"token\":\"\(goodToken)\",\"t\\u006fken\":\"\(goodToken)\"}", .brokenJSON),
    ])
    func brokenNDJSONRowsAreNamed(_ record: String, _ code: FinalCode) throws {
        let row = try RowFixture([:], columns: nil).row(record)
        #expect(row.code == code)
    }

    @Test func keysThatTheCampaignDoesNotUseMayRepeatAndHoldAnything() throws {
        let fixture = try RowFixture([:], columns: nil)
        #expect(fixture.json(#""x":1,"x":{"token":"y"},"y":[[]]"#).code == nil)
    }

    @Test func placesOfFaultsAreColumnsInBytes() throws {
        let fixture = try RowFixture(Self.greeting, columns: nil)
        let start = #"{"token":"\#(goodToken)","é":1,"n":"#
        let bad = fixture.row(start + "\"x\"}")
        #expect(bad.code == .badValue)
        #expect(bad.column == start.utf8.count + 1)
        #expect(bad.detail?.contains("\"n\"") == true)
        let broken = fixture.row(start + "01}")
        #expect(broken.code == .brokenJSON)
        #expect(broken.column == start.utf8.count + 1)
        #expect(broken.detail?.contains("zero") == true)
        let bytes = Array(start.utf8) + [UInt8(ascii: "\""), 0xFF] + Array("\"}".utf8)
        #expect(fixture.row(bytes).code == .brokenUTF8)
        #expect(fixture.row(bytes).column == start.utf8.count + 2)
    }

    @Test func rowsWithoutAValueTakeTheDefaultOrAreInvalid() throws {
        let csv = try RowFixture(Self.greeting, columns: ["token", "name", "n"])
        #expect(csv.csv("", "7").payload.contains("\"Hi friend\""))
        #expect(csv.csv("Ann", "").code == .missingValue)
        #expect(csv.csv("Ann", "").detail?.contains("\"n\"") == true)
        let ndjson = try RowFixture(Self.greeting, columns: nil)
        for absent in [#""n":7"#, #""name":null,"n":7"#, #""name":"","n":7"#] {
            #expect(ndjson.json(absent).payload.contains("\"Hi friend\""))
        }
        #expect(ndjson.json(#""name":"Ann""#).code == .missingValue)
        #expect(ndjson.json(#""name":"Ann","n":null"#).code == .missingValue)
    }

    @Test func aRowDoesNotInheritTheValuesOfTheRowBefore() throws {
        let fixture = try RowFixture(Self.greeting, columns: nil)
        #expect(fixture.json(#""name":"Ann","n":1"#).code == nil)
        #expect(fixture.json(#""name":"Bob""#).code == .missingValue)
        #expect(fixture.row("{\"n\":1}").code == .missingToken)
    }

    @Test func keysWithEscapesAreRecognised() throws {
        let fixture = try RowFixture(["payload": "{aps: {alert: '{{имя}}'}}"], columns: nil)
        let row = fixture.json(#""\u0438\u043c\u044f":"Ян""#)
        #expect(row.payload == #"{"aps":{"alert":"Ян"}}"#)
    }

    @Test func aFixedPayloadIsOneSharedBuffer() throws {
        let fixture = try RowFixture([:], columns: ["token"])
        #expect(fixture.row(goodToken).payload == #"{"aps":{"alert":"Hello"}}"#)
        let first = fixture.reader.payload.baseAddress
        #expect(fixture.row(String(repeating: "ab", count: 32)).code == nil)
        #expect(fixture.reader.payload.baseAddress == first)
    }

    @Test func unknownColumnsAreRefusedWithTheColumnsThereAre() throws {
        let error = #expect(throws: CampaignError.self) {
            try RowFixture(Self.greeting, columns: ["token", "nmae", "n"])
        }
        let text = try #require(error).description
        #expect(text.contains("a placeholder names the column \"name\""))
        #expect(text.contains("did you mean \"nmae\"?"))
        #expect(text.contains("\"token\", \"nmae\", \"n\""))
        #expect(try #require(error).line > 0)
        let noToken = #expect(throws: CampaignError.self) {
            try RowFixture([:], columns: ["id", "device_token"])
        }
        #expect(try #require(noToken).message.contains("device tokens"))
        let noLocale = #expect(throws: CampaignError.self) {
            try RowFixture(["payloads": "{ru: {aps: {alert: 'x'}}}"], columns: ["token", "lang"])
        }
        #expect(try #require(noLocale).message.contains("\"locale\""))
    }

    @Test func csvProblemsComeThrough() throws {
        let fixture = try RowFixture([:], columns: ["token", "name"])
        #expect(fixture.row(goodToken).code == .wrongFieldCount)
        #expect(fixture.row("\(goodToken),\"a\"b").code == .brokenQuoting)
        #expect(fixture.row(Array("\(goodToken),".utf8) + [0xC3]).code == .brokenUTF8)
    }

    @Test func recordsOverTheLimitAreRefused() throws {
        let fixture = try RowFixture([:], columns: nil)
        let filler = String(repeating: "x", count: RecordLimits.recordBytesMax)
        #expect(fixture.json("\"f\":\"\(filler)\"").code == .recordTooLong)
    }

    /// The column of a problem in a CSV row is where its field starts, quotes counted.
    @Test(arguments: [
        ("\(goodToken),\"a, \"\"b\"\"\",", 77), ("\(goodToken),x,", 68), (",x,y", 1),
        ("\(goodToken),\"x\",", 70), ("\(goodToken),\"line\nfeed\",", 7),
    ])
    func csvProblemsNameTheColumnOfTheirField(record: String, column: Int) throws {
        let fixture = try RowFixture(
            ["payload": "{aps: {alert: '{{b}}'}}"], columns: ["token", "a", "b"])
        #expect(fixture.row(record).column == column)
    }
}
