import APNS
import Campaign
import TestSupport
import Testing

@testable import Check

/// Files as they come from other programs, counted by hand.
@Suite struct CampaignCheckTests {
    @Test func aPlainFileIsCounted() throws {
        let facts = try CheckFixture(
            "token,name\n\(token(1)),Ann\n\(token(2)),\n\(token(3)),Bo\n".utf8
        ).check()
        #expect(facts.rows == 3)
        #expect(facts.validCount == 3)
        #expect(facts.repeatedCount == 0)
        // {"aps":{"alert":"Hi Ann"}} has 26 bytes, with "friend" 29, with "Bo" 25.
        #expect(facts.sizes.smallest == 25)
        #expect(facts.sizes.median == 26)
        #expect(facts.sizes.largest == 29)
        #expect(facts.sizes.largestRow == 2)
        #expect(facts.sizes.totalBytes == 80)
        #expect(
            facts.placeholders == [
                PlaceholderUse(column: "name", rows: 3, emptyRows: 1, defaults: ["friend"])
            ])
        #expect(facts.sample?.row == 1)
        #expect(
            facts.sample.map { String(decoding: $0.payload, as: UTF8.self) }
                == "{\"aps\":{\"alert\":\"Hi Ann\"}}")
        #expect(facts.sample?.token == "00000000…000001")
    }

    /// Judged behind the token and before the text, so a row that could not be rendered counts.
    @Test func rowsOnASuppressionListAreToldApart() throws {
        let fixture = try CheckFixture(
            "token,name\n\(token(1)),Ann\n\(token(2)),\nxyz,Bo\n\(token(1)),Cy\n\(token(3)),Di\n"
                .utf8,
            payload: "{ aps: { alert: '{{name}}' } }", changes: ["suppress: ['list.txt']"])
        _ = fixture.folder.write("\(token(2).uppercased())\n\(token(1))\n".utf8, to: "list.txt")
        let facts = try fixture.check(threads: 2)
        #expect(facts.rows == 5)
        #expect(facts.suppressedCount == 3)
        #expect(facts.invalid.map(\.code) == [.badTokenForm])
        #expect(facts.validCount == 1)
        #expect(facts.repeatedCount == 0)
        #expect(try fixture.row(1).isSuppressed)
        #expect(try !fixture.row(5).isSuppressed)
    }

    @Test func aSuppressionListThatIsNotThereIsRefusedAsInARun() throws {
        let fixture = try CheckFixture(
            "token\n\(token(1))\n".utf8, payload: "{ aps: { alert: 'Hi' } }",
            changes: ["suppress: ['nowhere.csv']"])
        let error = #expect(throws: CheckError.self) { try fixture.check() }
        #expect(error?.kind == .refused)
        #expect(error?.description.contains("suppress: ") == true)
        #expect(error?.description.contains("nowhere.csv") == true)
    }

    @Test(arguments: ["\n", "\r\n"], ["", "\u{FEFF}"])
    func lineEndsAndByteOrderMarksChangeNothing(lineEnd: String, mark: String) throws {
        let lines = ["token,name", "\(token(1)),\"A\"\"b\"\"\"", "", "\(token(2)),你好", ""]
        let facts = try CheckFixture((mark + lines.joined(separator: lineEnd)).utf8).check()
        #expect(facts.rows == 2)
        #expect(facts.invalid.isEmpty)
        // Hi A\"b\" with two escapes: 29 bytes; 你好 has 6 bytes, so 29 too.
        #expect(facts.sizes.smallest == 29)
        #expect(facts.sizes.largest == 29)
        #expect(facts.sizes.largestRow == 1)
    }

    /// Places are those of the file: lines inside quotes count, blank lines too.
    @Test func invalidRowsAreToldWithTheirPlace() throws {
        let rows = [
            "name,token", "Ann,\(token(1))", "Bo,nonsense", "", "\"two\nlines\",xyz",
            "\"A\"\"b\",", "one field", "Ann,\(token(2)),more", "Cy,123", "Di,12345",
        ]
        let facts = try CheckFixture(rows.joined(separator: "\n").utf8).check()
        #expect(facts.rows == 8)
        #expect(facts.validCount == 1)
        #expect(facts.invalid.map(\.code) == [.badTokenForm, .wrongFieldCount, .missingToken])
        #expect(facts.invalid.map(\.count) == [4, 2, 1])
        let bad = facts.invalid[0].examples
        #expect(bad.map(\.row) == [2, 3, 7])
        #expect(bad.map(\.line) == [3, 6, 10])  // "xyz" stands on the second line of its row
        #expect(bad.map(\.column) == [4, 8, 4])
        #expect(bad[0].detail == "no device token in hexadecimal in \"token\"")
        #expect(facts.invalid[1].examples.map(\.line) == [8, 9])
        let missing = facts.invalid[2].examples
        #expect(missing.map(\.line) == [7])
        #expect(missing.map(\.column) == [8])
    }

    @Test func ndjsonRowsAreCountedAsTheyAre() throws {
        let rows = [
            "{\"token\":\"\(token(1))\",\"name\":\"A\\u00e9\"}", "[1]", "{\"token\":null}",
            "{\"name\":\"x\",\"token\":\"\(token(2))\"}", "{\"token\":\"\(token(3))\"", "",
            "  {\"token\":\"\(token(1))\",\"name\":null}",
        ]
        let facts = try CheckFixture(
            rows.joined(separator: "\n").utf8, named: "recipients.ndjson"
        ).check()
        #expect(facts.rows == 6)
        #expect(facts.validCount == 3)
        #expect(
            Set(facts.invalid.map(\.code.reason)) == ["NotAnObject", "MissingToken", "BrokenJSON"])
        #expect(facts.repeatedCount == 1)
        #expect(facts.repeatedRows == [RepeatedRow(row: 6, firstRow: 1)])
        #expect(facts.placeholders.map(\.emptyRows) == [1])
        #expect(facts.placeholders.map(\.rows) == [3])
    }

    @Test func aHeaderAloneHasNoRows() throws {
        let facts = try CheckFixture("token,name\n".utf8).check()
        #expect(facts.rows == 0)
        #expect(facts.sizes.smallest == nil)
        #expect(facts.sample == nil)
    }

    @Test(arguments: [("", "empty"), ("\n\n", "header"), ("device,name\n", "\"token\"")])
    func whatARunRefusesIsRefused(recipients: String, says: String) throws {
        let error = #expect(throws: CheckError.self) {
            try CheckFixture(recipients.utf8).check()
        }
        #expect(error?.kind == .refused)
        #expect(error?.description.contains(says) == true)
    }

    @Test func theLimitLeavesOutTheRest() throws {
        let rows = (1...10).map { "\(token(($0 - 1) % 4)),x\n" }.joined()
        let facts = try CheckFixture(("token,name\n" + rows).utf8).check(limit: 6)
        #expect(facts.rows == 6)
        #expect(facts.repeatedCount == 2)
    }

    @Test func localesAreCountedWithTheirPayload() throws {
        let locales = ["pt-BR", "pt_br", "PT-br", "pt", "ru", "", "uk", "uk", "pt-PT"]
        let rows = locales.enumerated().map { "\(token($0.offset + 1)),\($0.element)\n" }.joined()
        let facts = try CheckFixture(
            ("token,locale\n" + rows).utf8, payload: "{ aps: { alert: 'Hi' } }",
            changes: [
                "payloads: { pt: { aps: { alert: 'Oi' } }, 'pt-BR': { aps: { alert: 'Oi!' } }, "
                    + "ru: { aps: { alert: 'x{{name|y}}' } } }"
            ].map { $0.replacing("{{name|y}}", with: "y") }
        ).check()
        #expect(
            facts.locales == [
                LocaleUse(text: "pt-BR", rows: 3, payloadIndex: 1),
                LocaleUse(text: "uk", rows: 2, payloadIndex: -1),
                LocaleUse(text: "", rows: 1, payloadIndex: -1),
                LocaleUse(text: "pt", rows: 1, payloadIndex: 0),
                LocaleUse(text: "pt-PT", rows: 1, payloadIndex: 0),
                LocaleUse(text: "ru", rows: 1, payloadIndex: 2),
            ])
        #expect(facts.rowsByPayload == [3, 2, 3, 1])
        #expect(facts.otherLocaleRows == 0)
    }

    /// Memory for locales is bounded, however many a file makes up.
    @Test func furtherLocalesAreCountedTogether() throws {
        let rows = (1...2_000).map { "\(token($0)),l\($0)\n" }.joined()
        let facts = try CheckFixture(
            ("token,locale\n" + rows).utf8, payload: "{ aps: { alert: 'Hi' } }",
            changes: ["payloads: { pt: { aps: { alert: 'Oi' } } }"]
        ).check()
        #expect(facts.locales.count == 768)
        #expect(facts.otherLocaleRows == 2_000 - 768)
        #expect(facts.rowsByPayload == [2_000, 0])
    }

    /// A row whose payload does not name the column is not asked for a value there.
    @Test func placeholdersCountForThePayloadsThatNameThem() throws {
        let facts = try CheckFixture(
            "token,locale,name\n\(token(1)),pt,\n\(token(2)),ru,\n\(token(3)),,\n".utf8,
            payload: "{ aps: { alert: 'Hi {{name}}' } }",
            changes: [
                "payloads: { pt: { aps: { alert: 'Oi {{name|amigo}}' } }, "
                    + "ru: { aps: { alert: 'x' } } }"
            ]
        ).check()
        #expect(
            facts.placeholders == [
                PlaceholderUse(column: "name", rows: 2, emptyRows: 2, defaults: [nil, "amigo"])
            ])
        #expect(facts.invalid.map(\.code) == [.missingValue])
        #expect(facts.validCount == 2)
    }

    /// However many threads read, and wherever chunks end, the facts are the same: those that the
    /// numbers say.
    @Test(arguments: [1, 2, 4])
    func threadsAgree(threads: Int) throws {
        // Every 10th row has no token, every 7th repeats the token of row 1; a row has 80 bytes, so
        // there are a dozen chunks.
        let count = 40_000
        var text = "token,name\n"
        for row in 1...count {
            let isBad = row % 10 == 0
            let number = row % 7 == 0 ? 1 : row
            text +=
                isBad
                ? "-,\(row)\n" : "\(token(number)),\(String(repeating: "n", count: row % 20))\n"
        }
        let facts = try CheckFixture(text.utf8).check(threads: threads)
        #expect(facts.rows == UInt64(count))
        #expect(facts.invalidCount == 4_000)
        #expect(facts.invalid.first?.examples.map(\.row) == [10, 20, 30])
        let repeated = (1...count).count { $0 % 7 == 0 && $0 % 10 != 0 }
        #expect(facts.repeatedCount == UInt64(repeated))
        #expect(facts.repeatedRows.map(\.row) == [7, 14, 21])
        #expect(facts.repeatedRows.allSatisfy { $0.firstRow == 1 })
        #expect(facts.mostRepeated == RepeatedToken(firstRow: 1, count: UInt64(repeated + 1)))
        #expect(facts.sizes.largest == 23 + 19)
        #expect(facts.sizes.largestRow == 19)
        #expect(facts.placeholders.map(\.emptyRows) == [0])  // row 20, 40, … have no token
        #expect(facts.sample?.row == 1)
    }

    // MARK: One row

    @Test func aRowIsShownAsItWouldBeSent() throws {
        let fixture = try CheckFixture(
            "token,name\n\(token(1)),Ann\n\nbad,Bo\n\(token(255)),\"O'Neil \"\"x\"\"\"\n".utf8,
            changes: ["collapseID: 'c-{{name|none}}'"])
        let row = try fixture.row(3)
        #expect(row.line == 5)
        #expect(
            String(decoding: row.payload, as: UTF8.self)
                == "{\"aps\":{\"alert\":\"Hi O'Neil \\\"x\\\"\"}}")
        #expect(row.collapseID == "c-O'Neil \"x\"")
        #expect(row.token == "00000000…0000ff")
        #expect(row.payloadName == "payload")
        let bad = try fixture.row(2)
        #expect(bad.problem?.code == .badTokenForm)
        #expect(bad.problem?.place.line == 4)
        #expect(bad.payload.isEmpty)
        #expect(bad.token == nil)
    }

    @Test func aRowThatIsNotThereIsRefusedWithTheLastOne() throws {
        let fixture = try CheckFixture("token,name\n\(token(1)),A\n\(token(2)),B\n".utf8)
        let error = #expect(throws: CheckError.self) { try fixture.row(3) }
        #expect(error?.kind == .refused)
        #expect(error?.description.contains("the last one is 2") == true)
    }
}
