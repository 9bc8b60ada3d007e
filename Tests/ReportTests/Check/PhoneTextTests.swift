import Testing

@testable import Report

@Suite struct PhoneTextTests {
    private func phone(_ payload: String, columns: Int = 30) -> [String] {
        PhoneText.lines(
            payload: Array(payload.utf8), topic: "com.example.app", columns: columns)
    }

    @Test func titleSubtitleAndBodyAreDrawnInABox() {
        let lines = phone(
            #"{"aps":{"alert":{"title":"Sale","subtitle":"Today","body":"All of it, for you and me"}}}"#
        )
        #expect(
            lines == [
                "╭────────────────────────────╮",
                "│ com.example.app        now │",
                "│ Sale                       │",
                "│ Today                      │",
                "│ All of it, for you and me  │",
                "╰────────────────────────────╯",
            ])
    }

    @Test(
        arguments: [
            "春のセール、王小明さん。本日限り、東京の店舗で20%オフ。", "नमस्ते दोस्तों, आज ही आइए और देखिए",
            "👨‍👩‍👧‍👦 family 🇵🇹 👋🏽 ünïcödé", "ไทยไม่มีช่องว่างระหว่างคำเลยสักคำเดียว",
            String(repeating: "x", count: 200),
        ], [20, 33, 50, 80])
    func everyLineOfTheBoxIsAsWideAsTheOthers(text: String, columns: Int) {
        let lines = phone("{\"aps\":{\"alert\":\"\(text)\"}}", columns: columns)
        let widths = Set(lines.map { ColumnWidth.of($0) })
        #expect(widths == [min(columns, 50)])
        // Nothing of the text is lost.
        let shown = lines.dropFirst(2).dropLast().joined().filter { !"│ ".contains($0) }
        #expect(shown == text.filter { $0 != " " })
    }

    @Test func whatAPhoneDoesNotShowStandsBeneath() {
        let lines = phone(
            #"{"aps":{"alert":"Hi","badge":3,"sound":{"name":"bell.caf"},"thread-id":"offers"},"id":7,"on":true}"#
        )
        #expect(
            lines.dropFirst(4) == [
                "badge: 3", #"sound: {"name":"bell.caf"}"#, "thread: offers", "id: 7", "on: true",
            ])
    }

    @Test func textsOfTheAppAreNamed() {
        let lines = phone(
            #"{"aps":{"alert":{"title-loc-key":"T","loc-key":"GAME","loc-args":["Ann",2]}}}"#)
        #expect(lines.contains("│ [T]                        │"))
        #expect(lines.contains("│ [GAME, Ann, 2]             │"))
    }

    @Test func aBackgroundPushShowsNothing() {
        let lines = phone(#"{"aps":{"content-available":1}}"#, columns: 80)
        #expect(lines.contains { $0.contains("the app is woken") })
        #expect(lines.last == "content-available: 1")
    }

    @Test func aTerminalIsNotSteered() {
        let lines = phone(#"{"aps":{"alert":"a\u001b[2Jb"},"k\u0007":"\u009b1m"}"#)
        #expect(!lines.joined().unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x9B })
    }
}
