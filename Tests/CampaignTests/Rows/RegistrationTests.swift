import APNS
import TestSupport
import Testing

@testable import Campaign

/// B81: since when the sender knows a token, as databases export it.
@Suite struct RegistrationTests {
    private static let changes = ["columns": "{registeredAt: 'since'}"]

    /// `date -u -d @1773478800` says 2026-03-14 09:00:00.
    @Test(arguments: [
        ("1773478800", 1_773_478_800_000), ("1773478800123", 1_773_478_800_123),
        ("2026-03-14T09:00:00Z", 1_773_478_800_000),
        ("2026-03-14T11:00:00.1239+02:00", 1_773_478_800_123),
        ("2026-03-14 09:00:00.5Z", 1_773_478_800_500),
        ("1000000000", 1_000_000_000_000), ("9999999999999", 9_999_999_999_999),
    ])
    func aTimeIsReadInAllItsForms(_ text: String, _ milliseconds: Int64) throws {
        let csv = try RowFixture(Self.changes, columns: ["token", "since"])
        #expect(csv.csv(text).code == nil)
        #expect(csv.reader.registeredAtMs == milliseconds)
        let ndjson = try RowFixture(Self.changes, columns: nil)
        #expect(ndjson.json("\"since\":\"\(text)\"").code == nil)
        #expect(ndjson.reader.registeredAtMs == milliseconds)
    }

    @Test func jsonNumbersAreTimesToo() throws {
        let ndjson = try RowFixture(Self.changes, columns: nil)
        #expect(ndjson.json("\"since\":1773478800").code == nil)
        #expect(ndjson.reader.registeredAtMs == 1_773_478_800_000)
    }

    @Test(arguments: [
        "0", "-1", "20260314", "999999999", "10000000000", "999999999999", "10000000000000",
        "1773478800123456", "2026-03-14", "2026-03-14T09:00:00", "14.03.2026", "yesterday",
        "1773478800.5", "1.7e9", "1999-12-31T23:59:59Z", "2286-11-20T17:46:40Z", " 1773478800",
    ])
    func whatIsNoTimeMakesTheRowInvalid(_ text: String) throws {
        let csv = try RowFixture(Self.changes, columns: ["token", "since"])
        let row = csv.csv(text)
        #expect(row.code == .badValue)
        #expect(row.detail?.contains("\"since\"") == true)
        #expect(csv.reader.registeredAtMs == nil)
    }

    @Test func aBadTimeInJSONHasItsColumn() throws {
        let ndjson = try RowFixture(Self.changes, columns: nil)
        let row = ndjson.json("\"since\":true")
        #expect(row.code == .badValue)
        // {"token":"<64 characters>","since":
        #expect(row.column == 10 + 64 + 2 + 8 + 1)
        #expect(ndjson.json("\"since\":[1]").code == .badValue)
    }

    @Test func aRowNeedNotHaveATime() throws {
        let csv = try RowFixture(Self.changes, columns: ["token", "since"])
        #expect(csv.csv("").code == nil)
        #expect(csv.reader.registeredAtMs == nil)
        let ndjson = try RowFixture(Self.changes, columns: nil)
        #expect(ndjson.json("").code == nil)
        #expect(ndjson.json("\"since\":null").code == nil)
    }

    @Test func aHeaderWithoutTheColumnIsRefused() throws {
        let error = #expect(throws: CampaignError.self) {
            try RowFixture(Self.changes, columns: ["token", "sinse"])
        }
        #expect(error?.description.contains("columns.registeredAt") == true)
        #expect(error?.description.contains("did you mean \"sinse\"?") == true)
    }
}
