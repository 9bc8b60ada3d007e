import Testing

@testable import Report

@Suite struct ScreenTextTests {
    @Test func wordsAreKeptWhole() {
        #expect(ScreenText.wrapped("one two three", to: 8) == ["one two", "three"])
        #expect(ScreenText.wrapped("one two", to: 7) == ["one two"])
        #expect(ScreenText.wrapped("", to: 7) == [""])
        #expect(ScreenText.wrapped("a\nb\r\n\nc", to: 7) == ["a", "b", "", "c"])
    }

    @Test func whatHasNoBlanksIsBrokenAnywhere() {
        #expect(ScreenText.wrapped("abcdefgh", to: 3) == ["abc", "def", "gh"])
        // Each of these takes two columns (UAX 11).
        #expect(ScreenText.wrapped("本日限り", to: 5) == ["本日", "限り"])
        #expect(ScreenText.wrapped("a 本日限り b", to: 6) == ["a", "本日限", "り b"])
    }

    @Test func whatCouldSteerATerminalIsTakenOut() {
        #expect(
            ScreenText.harmless("a\u{1B}[2Jb\u{202E}c\u{9B}") == "a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}")
        #expect(ScreenText.harmless("नमस्ते 👋🏽 é") == "नमस्ते 👋🏽 é")
    }

    @Test func paddingCountsColumns() {
        #expect(ScreenText.padded("本日", to: 6) == "本日  ")
        #expect(ScreenText.padded("本日限り", to: 6) == "本日… ")
        #expect(ScreenText.right("12", in: 4) == "  12")
    }
}
