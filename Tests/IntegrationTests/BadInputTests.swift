import Foundation
import TestSupport
import Testing

/// What goes wrong in real life: one clear message with the place and the remedy, the right exit
/// status, and no lost row.
@Suite(.timeLimit(.minutes(5))) struct BadInputTests {
    private let peal = PealProgram()
    private static let token = String(repeating: "ab", count: 32)

    /// Refused before anything is sent: exit status 2, nothing on standard output, no run folder.
    private func expectRefusal(
        _ campaign: String, _ options: [String] = [], says parts: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let result = try peal.run(["send", campaign, "--mock"] + options)
        #expect(result.status == 2, "\(result.errors)", sourceLocation: sourceLocation)
        #expect(result.output.isEmpty, sourceLocation: sourceLocation)
        let isOneMessage = result.errors.split(separator: "\n").count == 1
        #expect(isOneMessage, "\(result.errors)", sourceLocation: sourceLocation)
        for part in parts {
            #expect(
                result.errors.contains(part), "\(result.errors)", sourceLocation: sourceLocation)
        }
        let runs = FileManager.default.fileExists(atPath: peal.folder.path + "/runs")
        #expect(!runs, sourceLocation: sourceLocation)
    }

    private func campaign(
        _ recipients: String = "token\n\(token)\n", _ changes: [String: String] = [:]
    ) throws -> String {
        try peal.campaign(
            recipients: recipients.utf8,
            changes: ["payload": "{ aps: { alert: 'Hi' } }"].merging(changes) { $1 })
    }

    // MARK: The campaign

    @Test func anUnknownKeyIsRefusedWithASuggestion() throws {
        try expectRefusal(
            try campaign("token\n", ["pushTipe": "'alert'"]), says: "campaign.json:", "pushTipe",
            "pushType")
    }

    @Test func aPlaceholderWithoutAColumnNamesTheColumns() throws {
        try expectRefusal(
            try campaign(
                "token,first_name\n", ["payload": "{ aps: { alert: 'Hi {{frist_name}}' } }"]),
            says: "frist_name", "first_name")
    }

    @Test func aFileWithoutTheTokenColumnNamesTheColumns() throws {
        try expectRefusal(try campaign("device,name\n"), says: "token", "device")
    }

    @Test func aKeyFileThatIsACertificateIsCalledOne() throws {
        let campaign = try campaign(
            "token\n",
            ["credentials": "{ key: 'key.p8', keyID: 'ABC123DEFG', teamID: 'DEF123GHIJ' }"])
        let made = try Subprocess.run([
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout",
            "/dev/null", "-out", campaign + "/key.p8",
        ])
        try #require(made.status == 0, "\(made.errors)")
        try expectRefusal(campaign, says: "key.p8", "certificate")
    }

    @Test func aMissingKeyFileIsNamed() throws {
        try expectRefusal(
            try campaign(
                "token\n",
                ["credentials": "{ key: 'none.p8', keyID: 'ABC123DEFG', teamID: 'DEF123GHIJ' }"]),
            says: "none.p8")
    }

    @Test func aFixedPartOverTheLimitRefusesTheCampaign() throws {
        let long = String(repeating: "я", count: 2_100)
        try expectRefusal(
            try campaign("token\n", ["payload": "{ aps: { alert: '\(long)' } }"]), says: "4096")
    }

    @Test func aBackgroundPushWithPriorityTenIsRefusedWithTheRightOne() throws {
        try expectRefusal(
            try campaign(
                "token\n",
                [
                    "pushType": "'background'", "priority": "10",
                    "payload": "{ aps: { 'content-available': 1 } }",
                ]), says: "priority", "5")
    }

    @Test func aKeyOfLaterVersionsIsNotYetSupported() throws {
        try expectRefusal(
            try campaign("token\n", ["holdOut": "5"]), says: "not yet supported",
            "holdOut")
    }

    @Test func developmentCredentialsAreForServersOnThisMachineOnly() throws {
        let result = try peal.run("send", try campaign(), "--yes")
        #expect(result.status == 2)
        #expect(result.errors.contains("development"))
    }

    @Test func aMissingCampaignIsNamed() throws {
        try expectRefusal(peal.folder.path + "/nothing", says: "nothing")
    }

    // MARK: The file

    @Test func anEmptyFileIsRefused() throws {
        try expectRefusal(try campaign(""), says: "recipients.csv", "empty")
    }

    @Test func aFolderInPlaceOfTheFileIsRefused() throws {
        try expectRefusal(
            try campaign(), ["--recipients", peal.folder.path], says: peal.folder.path, "folder")
    }

    @Test func aFileThatIsNotThereIsRefused() throws {
        try expectRefusal(try campaign(), ["--recipients", "gone.csv"], says: "gone.csv")
    }

    @Test func aFileWithoutAHeaderRowIsRefused() throws {
        try expectRefusal(try campaign("\(Self.token)\n\(Self.token)\n"), says: "header")
    }

    @Test func aCompressedFileIsRefusedWithTheWayAround() throws {
        let campaign = try campaign()
        let zipped = try Subprocess.run(["gzip", campaign + "/recipients.csv"])
        try #require(zipped.status == 0)
        try expectRefusal(
            campaign, ["--recipients", campaign + "/recipients.csv.gz"], says: "recipients.csv.gz",
            "--recipients -")
    }

    @Test func aHeaderAloneCompletesWithAWarning() throws {
        let result = try peal.run("send", try campaign("token\n"), "--mock")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().rows == 0)
        #expect(result.errors.contains("no rows") || result.errors.contains("0 rows"))
    }

    // MARK: Rows

    /// Two good rows around a bad one: the good ones arrive, the bad one is invalid with its place.
    private func expectOneInvalidRow(
        _ bad: [UInt8], reason: String, named file: String = "recipients.csv",
        good: (String) -> String = { "\($0),Ann" }, header: String? = "token,name",
        line: Int? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let first = good(String(repeating: "01", count: 32))
        let last = good(String(repeating: "02", count: 32))
        let head = header.map { $0 + "\n" } ?? ""
        let content = Array("\(head)\(first)\n".utf8) + bad + Array("\n\(last)\n".utf8)
        let campaign = try peal.campaign(
            recipients: content, named: file,
            changes: ["payload": "{ aps: { alert: 'Hi {{name}}' } }"])
        let result = try peal.run("send", campaign, "--mock")
        #expect(result.status == 0, "\(result.errors)", sourceLocation: sourceLocation)
        #expect(
            try peal.summary().counted == ["accepted": 2, "invalid": 1],
            sourceLocation: sourceLocation)
        let failure = try #require(try peal.failures()[2], sourceLocation: sourceLocation)
        #expect(failure["reason"] as? String == reason, sourceLocation: sourceLocation)
        let expectedLine = line ?? (header == nil ? 2 : 3)
        #expect(failure["line"] as? Int == expectedLine, sourceLocation: sourceLocation)
        #expect(failure["column"] as? Int != nil, sourceLocation: sourceLocation)
        #expect(result.errors.contains(reason), "\(result.errors)", sourceLocation: sourceLocation)
    }

    @Test func aTokenThatIsNoHexIsOneInvalidRow() throws {
        try expectOneInvalidRow(Array("not-a-token,Bob".utf8), reason: "BadTokenForm")
    }

    @Test func aRowWithTooManyFieldsIsOneInvalidRow() throws {
        try expectOneInvalidRow(Array("\(Self.token),Bob,x".utf8), reason: "WrongFieldCount")
    }

    @Test func halfAUTF8SequenceIsOneInvalidRow() throws {
        try expectOneInvalidRow(
            Array("\(Self.token),".utf8) + [0xD0], reason: "BrokenUTF8")
    }

    @Test func aLoneSurrogateInUTF8IsOneInvalidRow() throws {
        try expectOneInvalidRow(
            Array("\(Self.token),".utf8) + [0xED, 0xA0, 0x80], reason: "BrokenUTF8")
    }

    @Test func zeroBytesAreOneInvalidRow() throws {
        try expectOneInvalidRow([0, 0, 0, 0], reason: "BrokenUTF8")
    }

    @Test func aLineOfAMebibyteIsOneInvalidRow() throws {
        try expectOneInvalidRow(
            Array("\(Self.token),".utf8) + [UInt8](repeating: 0x61, count: 1 << 20),
            reason: "RecordTooLong")
    }

    @Test func anEmptyCellWithoutADefaultIsOneInvalidRow() throws {
        try expectOneInvalidRow(Array("\(Self.token),".utf8), reason: "MissingValue")
    }

    @Test func aQuoteThatNeverClosesIsOneInvalidRow() throws {
        try expectOneInvalidRow(
            Array("\(Self.token),\"Bob".utf8), reason: "RunawayQuote")
    }

    @Test func aRowOverTheLimitIsOneInvalidRow() throws {
        let long = String(repeating: "я", count: 2_100)
        try expectOneInvalidRow(Array("\(Self.token),\(long)".utf8), reason: "PayloadTooLarge")
    }

    @Test(arguments: [
        ("{\"token\":\"\(token)\",\"name\":\"\\ud83d\"}", "BrokenJSON"),
        ("{\"token\":\"\(token)\",\"name\":\"Bob\"", "BrokenJSON"),
        ("[1,2]", "NotAnObject"),
        ("{\"name\":\"Bob\"}", "MissingToken"),
    ])
    func aBrokenJSONLineIsOneInvalidRow(line: String, reason: String) throws {
        try expectOneInvalidRow(
            Array(line.utf8), reason: reason, named: "recipients.ndjson",
            good: { "{\"token\":\"\($0)\",\"name\":\"Ann\"}" }, header: nil)
    }
}
