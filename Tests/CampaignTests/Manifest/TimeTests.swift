import Foundation
import JSON
import TestSupport
import Testing

@testable import Campaign

@Suite struct TimeTests {
    @Test(
        arguments: [
            ("0s", 0), ("1ms", 1), ("500ms", 500), ("30s", 30_000), ("15m", 900_000),
            ("15min", 900_000),
            ("4h", 14_400_000), ("2d", 172_800_000), ("366d", 31_622_400_000),
        ] as [(String, Int64)])
    func durationsAreRead(_ text: String, _ milliseconds: Int64) {
        #expect(ManifestDuration.milliseconds(text) == milliseconds)
    }

    @Test(arguments: [
        "", "s", "5", "-1s", "+1s", "1.5s", "1 s", " 1s", "1S", "1w", "1s1m", "367d", "٣s",
        "99999999999999999999s", "9223372036854775807d",
    ])
    func otherTextsAreNoDurations(_ text: String) {
        #expect(ManifestDuration.milliseconds(text) == nil)
    }

    @Test func rangesHaveTwoEndsInOrder() {
        #expect(ManifestDuration.millisecondsRange("1s..5s") == 1000...5000)
        #expect(ManifestDuration.millisecondsRange("2s") == 2000...2000)
        for text in ["5s..1s", "1s...5s", "1s..", "..5s", "1s.5s", "..", ".", ""] {
            #expect(ManifestDuration.millisecondsRange(text) == nil, "\(text)")
        }
    }

    @Test(
        arguments: [
            // RFC 3339 section 5.8; seconds by `date -u -d … +%s`
            ("1985-04-12T23:20:50.52Z", 482_196_050), ("1996-12-19T16:39:57-08:00", 851_042_397),
            ("1990-12-31T23:59:60Z", 662_687_999), ("1937-01-01T12:00:27.87+00:20", -1_041_337_173),
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29t12:00:00z", 951_825_600),
            ("2026-03-14 21:00:00+02:00", 1_773_514_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, Int64)])
    func instantsAreRead(_ text: String, _ seconds: Int64) {
        #expect(ManifestInstant.unixSeconds(text) == seconds)
    }

    @Test(arguments: [
        "", "2026-03-14", "2026-03-14T21:00:00", "2026-03-14T21:00Z", "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00+2:00", "2026-01-01T00:00:00+0200", "2026-01-01T00:00:00Zx",
        "26-01-01T00:00:00Z", "2026-1-1T00:00:00Z", "2026/01/01T00:00:00Z",
    ])
    func otherTextsAreNoInstants(_ text: String) {
        #expect(ManifestInstant.unixSeconds(text) == nil)
    }

    @Test func instantsAgreeWithFoundation() {
        var generator = SeededGenerator()
        let formatter = ISO8601DateFormatter()
        for _ in 0..<500 {
            let seconds = Int64.random(in: 0...4_102_444_800, using: &generator)
            let zone = Int.random(in: -14...14, using: &generator) * 3600
            formatter.timeZone = TimeZone(secondsFromGMT: zone)
            let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
            #expect(ManifestInstant.unixSeconds(text) == seconds, "\(text)")
        }
    }
}

@Suite struct SuggestionTests {
    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("ab", "ba", 1), ("abc", "abc", 0),
        ("flaw", "lawn", 2),
    ])
    func editDistanceCountsChangesAndSwaps(_ first: String, _ second: String, _ distance: Int) {
        #expect(Suggestion.editDistance(Array(first), Array(second)) == distance)
        #expect(Suggestion.editDistance(Array(second), Array(first)) == distance)
    }

    @Test(arguments: [
        ("frist_name", "first_name"), ("FirstName", "first_name"), ("token ", "token"),
        ("tokens", "token"), ("lo", "locale"), ("xyz", nil), ("", nil),
    ])
    func theNearestNameIsSuggested(_ written: String, _ name: String?) {
        #expect(Suggestion.nearest(to: written, among: ["token", "first_name", "locale"]) == name)
    }
}
