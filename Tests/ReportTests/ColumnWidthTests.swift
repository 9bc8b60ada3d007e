import Report
import Testing

struct ColumnWidthTests {
    /// Widths by Unicode's EastAsianWidth.txt and emoji-data.txt.
    @Test(arguments: [
        ("peal", 4), ("Привет", 6), ("東京", 4), ("한국어", 6), ("🔔", 2), ("e\u{301}", 1), ("ＡＢ", 4),
        ("", 0),
        ("👨‍👩‍👧", 2), ("a·b…", 4),
    ])
    func wideCharactersTakeTwoColumnsAndMarksNone(text: String, columns: Int) {
        #expect(ColumnWidth.of(text) == columns)
    }

    @Test(arguments: [
        ("peal", 4, "peal"), ("peals", 4, "pea…"), ("東京都", 5, "東京…"), ("東京都", 4, "東…"),
        ("東京都", 6, "東京都"),
        ("peal", 1, "…"), ("peal", 0, ""), ("peal", -1, ""),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
    ])
    func aTextIsCutBetweenCharactersToWhatFits(text: String, columns: Int, cut: String) {
        #expect(ColumnWidth.truncated(text, to: columns) == cut)
        #expect(ColumnWidth.of(cut) <= max(0, columns))
    }
}
