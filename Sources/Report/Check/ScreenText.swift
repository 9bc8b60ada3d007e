/// Text from files, made fit for a terminal.
enum ScreenText {
    /// Control characters, which could steer the terminal, and those that turn the direction of
    /// text become U+FFFD.
    static func harmless(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isHarmful =
                switch scalar.value {
                case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
                default: false
                }
            scalars.append(isHarmful ? "\u{FFFD}" : scalar)
        }
        return String(scalars)
    }

    /// `text` in lines of at most `columns`, broken at blanks where there are any, and anywhere
    /// where a word is longer or the script has no blanks. Line breaks of the text are kept.
    static func wrapped(_ text: String, to columns: Int) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .flatMap { wrappedLine(harmless(String($0)), to: max(2, columns)) }
    }

    private static func wrappedLine(_ text: String, to columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var width = 0
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            let wordWidth = ColumnWidth.of(String(word))
            if !line.isEmpty, width + 1 + wordWidth <= columns {
                line += " " + word
                width += 1 + wordWidth
                continue
            }
            if !line.isEmpty { lines.append(line) }
            line = ""
            width = 0
            for character in word {
                let characterWidth = ColumnWidth.of(String(character))
                if width + characterWidth > columns {
                    lines.append(line)
                    line = ""
                    width = 0
                }
                line.append(character)
                width += characterWidth
            }
        }
        return lines + [line]
    }

    /// `text` with blanks after it, `columns` wide; cut where it is longer.
    static func padded(_ text: String, to columns: Int) -> String {
        let cut = ColumnWidth.truncated(text, to: columns)
        return cut + String(repeating: " ", count: max(0, columns - ColumnWidth.of(cut)))
    }

    /// `text` with blanks before it, at least `columns` wide.
    static func right(_ text: String, in columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - ColumnWidth.of(text))) + text
    }
}
