/// How many columns of a terminal a text takes. The C library's `wcwidth` knows nothing without a
/// UTF-8 locale, which a cron job does not have; this does not depend on one.
package enum ColumnWidth {
    /// The columns that `text` takes.
    package static func of(_ text: String) -> Int {
        text.reduce(0) { $0 + of($1) }
    }

    /// The longest start of `text` that fits `columns`; what was cut is shown by "…" at its end.
    package static func truncated(_ text: String, to columns: Int) -> String {
        if of(text) <= columns { return text }
        if columns < 1 { return "" }
        var kept = ""
        var used = 1  // the "…"
        for character in text {
            used += of(character)
            if used > columns { break }
            kept.append(character)
        }
        return kept + "…"
    }

    /// A character is as wide as its widest scalar: marks and joiners add nothing.
    private static func of(_ character: Character) -> Int {
        character.unicodeScalars.reduce(0) { max($0, of($1)) }
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        return wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The blocks whose characters are wide or full-width by Unicode's East Asian Width (UAX 11).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F,  // Hangul initials
        0x2E80...0x303E,  // CJK radicals and punctuation
        0x3041...0xA4CF,  // Kana to Yi
        0xA960...0xA97C,  // Hangul initials, extended
        0xAC00...0xD7A3,  // Hangul syllables
        0xF900...0xFAFF,  // CJK compatibility
        0xFE30...0xFE6F,  // CJK compatibility forms
        0xFF01...0xFF60,  // full-width ASCII
        0xFFE0...0xFFE6,  // full-width signs
        0x1F300...0x1F64F, 0x1F900...0x1F9FF,  // pictographs
        0x20000...0x3FFFD,  // CJK, supplementary planes
    ]
}
