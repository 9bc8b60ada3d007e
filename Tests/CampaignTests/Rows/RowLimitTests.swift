import APNS
import Campaign
import Testing

@Suite struct RowLimitTests {
    /// Lesson B84: bytes of the final JSON count, escapes included, characters do not.
    @Test(arguments: ["x", "\u{E9}", "\u{928}", "\u{1F600}", "\"", "\u{1}"])
    func payloadsMayFillTheLimitAndNotPassIt(_ character: String) throws {
        let fixture = try RowFixture(
            ["payload": "{aps: {alert: '{{a}}'}, p: '{{p|}}'}"], columns: nil)
        let jsonBytes = character == "\"" ? 2 : character == "\u{1}" ? 6 : character.utf8.count
        let escaped = character == "\"" ? "\\\"" : character == "\u{1}" ? "\\u0001" : character
        let fixed = #"{"aps":{"alert":""},"p":""}"#.utf8.count
        let count = (4096 - fixed) / jsonBytes
        let padding = (4096 - fixed) % jsonBytes
        let text = String(repeating: escaped, count: count)
        func row(_ extra: Int) -> RenderedRow {
            fixture.json(
                "\"a\":\"\(text)\",\"p\":\"\(String(repeating: "p", count: padding + extra))\"")
        }
        #expect(row(0).payload.utf8.count == 4096)
        #expect(row(1).code == .invalidPayloadTooLarge)
        #expect(row(1).detail == "4097 bytes, the limit is 4096")
        #expect(row(4000).code == .invalidPayloadTooLarge)
        #expect(row(4000).detail == "8096 bytes, the limit is 4096")
        #expect(row(0).code == nil)
    }

    @Test func voipPayloadsHaveALimitOfTheirOwn() throws {
        let fixture = try RowFixture(
            ["pushType": "'voip'", "topic": "'a.voip'", "payload": "{a: '{{a}}'}"],
            columns: ["token", "a"])
        #expect(fixture.csv(String(repeating: "x", count: 5120 - 8)).payload.utf8.count == 5120)
        #expect(
            fixture.csv(String(repeating: "x", count: 5120 - 7)).code == .invalidPayloadTooLarge)
    }

    @Test func jsonValuesCountWithoutTheirBlanks() throws {
        let fixture = try RowFixture(
            ["payload": "{aps: {alert: 'x'}, j: '{{j:json}}'}"], columns: nil)
        let blanks = String(repeating: " ", count: 10_000)
        #expect(fixture.json("\"j\":[\(blanks)1\(blanks)]").payload.hasSuffix("\"j\":[1]}"))
    }

    @Test func collapseIDsAreFilledAndLimited() throws {
        let fixture = try RowFixture(["collapseID": "'s-{{id}}'"], columns: ["token", "id"])
        #expect(fixture.csv("7").collapseID == "s-7")
        #expect(fixture.csv("a\"b\\").collapseID == "s-a\"b\\")
        #expect(fixture.csv(String(repeating: "\u{E9}", count: 31)).collapseID.utf8.count == 64)
        #expect(fixture.csv(String(repeating: "\u{E9}", count: 32)).code == .collapseIDTooLong)
        #expect(
            fixture.csv(String(repeating: "x", count: 65_000)).detail
                == "65002 bytes, the limit is 64")
        #expect(fixture.csv("").code == .missingValue)
        for bad in ["a\nb", "a\tb", "\u{7F}", "a\r", "a "] {
            #expect(fixture.csv(bad).code == .badValue, "\(bad)")
        }
    }

    @Test func collapseIDsWithoutAValueOrPlaceholderWork() throws {
        let fixed = try RowFixture(["collapseID": "'sale'"], columns: ["token"])
        #expect(fixed.row(goodToken).collapseID == "sale")
        let empty = try RowFixture(["collapseID": "'{{id|}}'"], columns: nil)
        #expect(empty.json("") == RenderedRow(payload: #"{"aps":{"alert":"Hello"}}"#))
        #expect(empty.json(#""id":"a\nb""#).code == .badValue)
        #expect(empty.json(#""id":12"#).collapseID == "12")
        let none = try RowFixture([:], columns: ["token"])
        #expect(none.row(goodToken).collapseID == "")
    }
}
