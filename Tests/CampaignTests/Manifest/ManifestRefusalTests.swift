import Campaign
import Foundation
import TestSupport
import Testing

@Suite struct ManifestRefusalTests {
    /// Key, value, a part of the message or remedy.
    @Test(arguments: [
        ("name", "'a b'", "letters, digits"), ("name", "''", "empty"), ("name", "'.x'", "folder"),
        ("name", "'a/b'", "folder"), ("name", "7", "in quotes"), ("name", "'\u{E9}'", "letters"),
        ("topic", "'com example'", "bundle id"), ("topic", "'.voip'", "does not fit"),
        ("pushType", "'alrt'", "did you mean \"alert\"?"), ("pushType", "'x'", "known push types"),
        ("pushType", "5", "in quotes"), ("priority", "7", "10, 5 or 1"),
        ("priority", "'10'", "10, 5 or 1"), ("priority", "10.0", "10, 5 or 1"),
        ("expiration", "3600", "duration"), ("expiration", "'4 h'", "duration"),
        ("expiration", "'2026-02-29T00:00:00Z'", "instant"), ("expiration", "'400d'", "duration"),
        ("collapseID", "5", "in quotes"), ("collapseID", "''", "empty"),
        ("collapseID", "'{{id:int}}'", "write {{id}}"), ("collapseID", "'a\\nb'", "control"),
        ("collapseID", "' a'", "blank"), ("apnsID", "'yes'", "true or false"),
        ("environment", "'prod'", "did you mean \"production\"?"),
        ("environment", "'live'", "known values: production, sandbox"),
        ("environment", "'sandbx'", "did you mean \"sandbox\"?"),
        ("credentials", "'none'", "development"), ("credentials", "{key: 'a.p8'}", "keyID"),
        ("credentials", "{identity: 'a.p12', keyID: 'ABC123DEFG'}", "remove \"identity\""),
        ("credentials", "{identity: ''}", "identity"),
        ("credentials", "{key: 'a.p8', keyEnv: 'KEY'}", "keep one of them"),
        ("credentials", "{keyEnv: '-----BEGIN'}", "name of an environment variable"),
        ("credentials", "{identity: 'a.p12', passphraseEnv: 'open sesame'}", "variable's name"),
        (
            "credentials", "{key: 'a.p8', keyID: 'ABC', teamID: 'DEF123GHIJ'}",
            "10 letters and digits"
        ),
        ("credentials", "{key: 'a.p8', keyID: 'ABC123DEFG', teamID: 'DEF-23GHIJ'}", "teamID"),
        ("credentials", "{key: 'a.p8', keyId: 'ABC123DEFG'}", "did you mean \"keyID\"?"),
        ("recipients", "'list.txt'", ".ndjson"),
        ("recipients", "'list.csv.gz'", "not yet supported"),
        ("recipients", "'list.csv.zst'", "not yet supported"),
        ("columns", "{tokn: 't'}", "did you mean \"token\"?"),
        ("columns", "{registeredAt: ''}", "empty"),
        ("columns", "{timeZone: 't'}", "not yet supported"), ("columns", "[]", "an object"),
        ("duplicates", "'drop'", "skip, send"), ("suppress", "'a.csv'", "a list of files"),
        ("suppress", "['a.csv', 5]", "a list of files"), ("suppress", "['']", "a list of files"),
        ("suppress", "['-']", "standard input"),
        ("variants", "[]", "not yet supported"), ("holdOut", "0", "not yet supported"),
        ("payload", "[]", "write an object"),
        ("payload", "'{{p:json}}'", "write an object"),
        ("payload", "{aps: 'x'}", "write an object"),
        ("payload", "{x: 1}", "has no aps"),
        ("payload", "{aps: {badge: '{{b}}'}}", "{{badge:int}}"),
        ("payload", "{aps: {alert: 5}}", "a string or an object"),
        ("payload", "{aps: {alert: 'x'}, '{{k}}': 1}", "placeholders stand in values only"),
        ("payload", "{aps: {alert: 'Hi {{name'}}", "not closed"),
        ("payload", "{aps: {alert: '{{}}'}}", "names no column"),
        ("payload", "{aps: {alert: '{{a:integer}}'}}", "known types: int, number, bool, json"),
        ("payload", "{aps: {alert: '{{a:jsn}}'}}", "did you mean \"json\"?"),
        ("payload", "{aps: {alert: 'x {{a:int}}'}}", "only part of a string"),
        ("payload", "{aps: {alert: '{{a:int}}{{b}}'}}", "only part of a string"),
        ("payload", "{aps: {alert: '{{{a}}'}}", "braces inside"),
        ("payload", "{aps: {alert: '{{a|{{b}}}}'}}", "braces inside"),
        ("payload", "{aps: {alert: '{{a:int|x}}'}}", "the default \"x\""),
        ("payload", "{aps: {alert: '{{a:int|007}}'}}", "the default \"007\""),
        ("payload", "{aps: {alert: '{{a:bool|yes}}'}}", "the default \"yes\""),
        ("payload", "{aps: {alert: '{{a:json|{x}}'}}", "not closed"),
        ("payload", "{aps: {alert: '{{a:json|[1,]}}'}}", "the default \"[1,]\""),
        ("payload", "{aps: {alert: '{{a:number|}}'}}", "the default \"\""),
        ("payloads", "{}", "by locale"), ("payloads", "{'': {aps: {}}}", "write a locale"),
        ("payloads", "{'pt-BR': {aps: {}}, pt_br: {aps: {}}}", "the same locale"),
        ("pacing", "{mode: 'fast'}", "unknown"),
        ("pacing", "{rampUp: '10'}", "no duration"), ("pacing", "{rampUp: '0s'}", "100 ms"),
        ("pacing", "{mode: 'gentle', rampUp: '10s'}", "means nothing"),
        ("pacing", "{hours: '09:00-21:00'}", "not yet supported"),
        ("pacing", "{rate: -1}", "notifications per second"),
        ("pacing", "{connections: 0}", "1 to 1000"), ("pacing", "{streams: 1.5}", "whole number"),
        ("retry", "{attempts: 4}", "from 1 to 3"), ("retry", "{attempts: 0}", "from 1 to 3"),
        ("retry", "{secondPass: '15'}", "no duration"), ("retry", "{secondPass: '0s'}", "range"),
        ("retry", "{serverErrorDelay: '5s..1s'}", "1s..5s"),
        ("retry", "{serverErrorDelay: '1s..1h'}", "1s..5s"),
        ("retry", "{onUnknown: 'retry'}", "resend, skip"), ("timeouts", "{connect: '0s'}", "range"),
        ("timeouts", "{connect: '2h'}", "range"), ("timeouts", "{conect: '2s'}", "\"connect\"?"),
        ("timeouts", "{connect: 10}", "in quotes"), ("timeouts", "{connect: '10'}", "no duration"),
        ("collapseId", "'x'", "did you mean \"collapseID\"?"),
        ("payLoad", "{}", "did you mean \"payload\"?"), ("push_type", "'alert'", "\"pushType\"?"),
        ("zzzzzz", "1", "known keys: name, topic"),
    ])
    func wrongValuesAreRefusedWithPlaceAndRemedy(_ key: String, _ value: String, _ part: String) {
        let fixture = CampaignFixture([key: value])
        guard let error = fixture.refusal() else {
            Issue.record("\(key): \(value) was accepted")
            return
        }
        let lines = fixture.text.split(separator: "\n", omittingEmptySubsequences: false)
        let line = (lines.firstIndex { $0.hasPrefix("  \(key):") } ?? -2) + 1
        #expect(error.line == line)
        #expect(error.column >= 3)
        #expect(error.description.contains(part), "\(error)")
        #expect(!error.remedy.isEmpty)
        #expect(error.file == fixture.directory.path + "/campaign.json")
    }

    @Test(arguments: ["name", "topic", "recipients", "credentials", "payload"])
    func keysThatMustBeThereAreAskedFor(_ key: String) throws {
        let error = try #require(CampaignFixture([key: nil]).refusal())
        #expect(error.message == "\"\(key)\" is missing")
        #expect(error.remedy.hasPrefix("add \(key): "))
    }

    @Test func theEnvironmentIsAskedForWhereItMatters() throws {
        let key = "{key: 'a.p8', keyID: 'ABC123DEFG', teamID: 'DEF123GHIJ'}"
        var fixture = CampaignFixture(["credentials": key])
        #expect(fixture.refusal()?.message == "\"environment\" is missing")
        fixture.values["environment"] = "'sandbox'"
        #expect(try fixture.load().environment == .sandbox)
    }

    @Test(arguments: [
        ("'Hi {{name'", 4), ("'é {{}}'", 4), ("'{{a}} and {{b:jsn}}'", 11), ("'{{{a}}'", 1),
        // With an escape in it, the string's own place.
        (#"'\u0041 {{name'"#, 0),
    ])
    func aBrokenPlaceholderIsShownInsideItsString(_ string: String, _ offset: Int) throws {
        let before = "{aps: {alert: "
        let error = try #require(
            CampaignFixture(["payload": before + string + "}}"]).refusal())
        let start = "  payload: ".utf8.count + before.utf8.count
        #expect(error.column == start + 1 + offset, "\(error)")
    }

    @Test func thePlaceIsTheValueItself() throws {
        let fixture = CampaignFixture(["timeouts": "{\n    request: '30s', drain: 'x' }"])
        let error = try #require(fixture.refusal())
        let lines = fixture.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[error.line - 1] == "    request: '30s', drain: 'x' },")
        #expect(error.column == 28)
    }

    /// Lesson B84: bytes of UTF-8 count, and the limit of voip is its own.
    @Test func fixedPartsOverTheLimitAreRefusedWithTheirSize() throws {
        func payload(_ bytes: Int) -> String {
            // {"aps":{"alert":""}} has 20 bytes, each of these letters two
            let letters = String(repeating: "\u{43F}", count: (bytes - 20) / 2)
            return "{aps: {alert: '\(letters)\(bytes % 2 == 1 ? "x" : "")'}}"
        }
        _ = try CampaignFixture(["payload": payload(4096)]).load()
        let error = try #require(CampaignFixture(["payload": payload(4097)]).refusal())
        #expect(error.message == "\"payload\" has 4097 bytes, APNs takes 4096 for alert")
        #expect(error.remedy == "shorten it by 1 bytes")
        let local = CampaignFixture(["payloads": "{ru: \(payload(5000))}"])
        #expect(local.refusal()?.message.contains("\"payloads.ru\" has 5000 bytes") == true)
        var voip = CampaignFixture([
            "pushType": "'voip'", "topic": "'a.b.voip'", "payload": payload(5120),
        ])
        _ = try voip.load()
        voip.values["payload"] = payload(5121)
        #expect(voip.refusal()?.message.contains("5121 bytes") == true)
    }

    @Test func collapseIDsOver64BytesAreRefused() throws {
        _ = try CampaignFixture(["collapseID": "'\(String(repeating: "\u{E9}", count: 32))'"])
            .load()
        let long = CampaignFixture([
            "collapseID": "'\(String(repeating: "\u{E9}", count: 33)){{x}}'"
        ])
        #expect(
            long.refusal()?.message
                == "\"collapseID\" has 66 bytes without its placeholders, APNs takes 64")
    }

    @Test(arguments: [
        ("", "the file is empty"), ("\u{FEFF}", "no JSON value"),
        ("[]", "the campaign is an array"),
        ("{name: 'a'", "not closed"), ("{name: 'a' topic: 'b'}", "\",\""), ("{name: NaN}", "NaN"),
        ("{name: 'a', name: 'b'}", "repeated"),
    ])
    func filesThatAreNoManifestAreRefused(_ text: String, _ part: String) throws {
        let directory = TemporaryDirectory()
        directory.write(text, to: "campaign.json")
        let error = #expect(throws: CampaignError.self) { try Campaign.load(directory.path) }
        #expect(try #require(error).description.contains(part))
    }

    @Test func bytesThatAreNotUTF8AreNamed() throws {
        let directory = TemporaryDirectory()
        let path = directory.write(
            Array("{\n name: '".utf8) + [0xE9] + Array("'}".utf8), to: "x.json")
        let error = #expect(throws: CampaignError.self) { try Campaign.load(path) }
        #expect(try #require(error).description.hasPrefix("\(path):2:9: the bytes are not UTF-8"))
    }

    @Test func missingFilesAndFoldersAreNamed() throws {
        let directory = TemporaryDirectory()
        var error = #expect(throws: CampaignError.self) { try Campaign.load(directory.path) }
        #expect(try #require(error).message == "the folder holds no campaign.json")
        error = #expect(throws: CampaignError.self) { try Campaign.load(directory.path + "/none") }
        #expect(try #require(error).message == "there is no such file or folder")
        try FileManager.default.createDirectory(
            atPath: directory.path + "/campaign.json", withIntermediateDirectories: false)
        error = #expect(throws: CampaignError.self) { try Campaign.load(directory.path) }
        #expect(try #require(error).message == "this is a folder and no file")
    }

    @Test(.timeLimit(.minutes(5))) func noManifestCrashes() {
        var generator = SeededGenerator()
        let text = CampaignFixture([
            "payload": "{aps: {alert: 'a {{b|c}}', badge: '{{d:int|5}}'}, e: '{{f:json|{}}}'}",
            "pacing": "{rate: 5}", "timeouts": "{request: '3s'}", "expiration": "'4h'",
        ]).text
        let directory = TemporaryDirectory()
        for _ in 0..<500 {
            var bytes = Array(text.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                if Bool.random(using: &generator) {
                    bytes[place] = Array("{}[]:,'\"0x|é".utf8).randomElement(using: &generator) ?? 0
                } else {
                    bytes.remove(at: place)
                }
            }
            _ = try? Campaign.load(directory.write(bytes, to: "campaign.json"))
        }
    }
}
