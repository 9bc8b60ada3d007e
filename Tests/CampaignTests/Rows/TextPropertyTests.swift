import Campaign
import Foundation
import TestSupport
import Testing

/// Whatever text is in the recipients arrives in the payload, to the code point.
@Suite struct TextPropertyTests {
    @Test(.timeLimit(.minutes(5))) func anyTextComesThroughCSV() throws {
        var generator = SeededGenerator()
        let fixture = try RowFixture(
            ["payload": "{aps: {alert: 'a{{t|}}b'}}"], columns: ["token", "t"])
        for _ in 0..<2000 {
            let text = randomText(&generator, withNUL: false)
            let row = fixture.csv(text)
            #expect(row.code == nil)
            let arrived = scalars(try alert(row))
            #expect(arrived == scalars("a\(text)b"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func anyTextComesThroughNDJSON() throws {
        var generator = SeededGenerator()
        let fixture = try RowFixture(["payload": "{aps: {alert: 'a{{t|}}b'}}"], columns: nil)
        for _ in 0..<2000 {
            let text = randomText(&generator, withNUL: true)
            let object = ["t": text, "token": goodToken]
            let record = try JSONSerialization.data(withJSONObject: object)
            let row = fixture.row(Array(record))
            #expect(row.code == nil)
            let arrived = scalars(try alert(row))
            #expect(arrived == scalars("a\(text)b"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func everyEscapedCharacterComesThroughNDJSON() throws {
        var generator = SeededGenerator()
        let fixture = try RowFixture(["payload": "{aps: {alert: 'a{{t|}}b'}}"], columns: nil)
        for _ in 0..<500 {
            let text = randomText(&generator, withNUL: true)
            let escaped = text.utf16.map { unit in
                "\\u" + String(String(UInt32(unit) + 0x1_0000, radix: 16).dropFirst())
            }
            let row = fixture.json("\"t\":\"\(escaped.joined())\"")
            let arrived = scalars(try alert(row))
            #expect(arrived == scalars("a\(text)b"))
        }
    }

    @Test func aByteOrderMarkInsideATextIsText() throws {
        let fixture = try RowFixture(["payload": "{aps: {alert: '{{t}}'}}"], columns: nil)
        let expected = "{\"aps\":{\"alert\":\"\u{FEFF}\\n\u{FEFF}\"}}"
        #expect(fixture.json("\"t\":\"\\uFEFF\\n\u{FEFF}\"").payload == expected)
    }

    @Test(.timeLimit(.minutes(5))) func noBytesCrashTheReader() throws {
        var generator = SeededGenerator()
        let changes = [
            "payload": "{aps: {alert: 'a{{t|}}b', badge: '{{n:int|0}}'}, j: '{{j:json|null}}'}",
            "collapseID": "'{{t|x}}'",
        ]
        let csv = try RowFixture(changes, columns: ["token", "t", "n", "j"])
        let ndjson = try RowFixture(changes, columns: nil)
        let records = [
            "\(goodToken),\"te\"\"xt\",5,\"[1, {}]\"",
            #"{"token":"\#(goodToken)","t":"a\u00e9\n","n":5,"j":{"a":[true, "x\""]}}"#,
        ]
        for round in 0..<10_000 {
            var bytes = Array(records[round % 2].utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.removeSubrange(place...)
                default: bytes.insert(UInt8(ascii: "\""), at: place)
                }
                if bytes.isEmpty { bytes = [0x20] }
            }
            let row = (round % 2 == 0 ? csv : ndjson).row(bytes)
            if row.code == nil { _ = try foundationObject(row.payload) }
        }
    }

    private func scalars(_ text: String) -> String {
        text.unicodeScalars.map { String($0.value, radix: 16) }.joined(separator: " ")
    }

    private func alert(_ row: RenderedRow) throws -> String {
        let aps = try foundationObject(row.payload)["aps"] as? [String: Any]
        return try #require(aps?["alert"] as? String)
    }

    /// Text of all planes with many of the characters that need care. Without U+FEFF, which
    /// Foundation on Linux loses when it stands behind an escape.
    private func randomText(_ generator: inout SeededGenerator, withNUL: Bool) -> String {
        let special = Array(
            "\"\\/,;{}|\n\r\t\u{1}\u{1F}\u{7F}\u{85}\u{2028}\u{2029}".unicodeScalars)
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...30, using: &generator) {
            let ranges: [ClosedRange<UInt32>] = [
                withNUL ? 0...0x7F : 1...0x7F, 0x80...0x7FF, 0x800...0xFFFF, 0x10000...0x10FFFF,
            ]
            let range = ranges.randomElement(using: &generator) ?? 1...2
            let value = UInt32.random(in: range, using: &generator)
            let scalar = value == 0xFEFF ? nil : Unicode.Scalar(value)
            text.append(
                Bool.random(using: &generator)
                    ? special.randomElement(using: &generator) ?? "x" : scalar ?? "y")
        }
        return String(text)
    }
}
