extension JSONScanner {
    // MARK: Strings

    /// Reads from the opening `quote` to behind the closing one.
    @inline(__always)
    mutating func scanString(quote: UInt8) throws(JSONError) {
        hasEscapes = false
        let opening = cursor
        cursor &+= 1  // the quote is there
        skipPlainCharacters(quote: quote)
        if cursor < bytes.count, bytes[cursor] == quote {
            cursor &+= 1
            return
        }
        try scanSpecialString(quote: quote, opening: opening)
    }

    /// Reads on in a string that has more in it than plain characters.
    private mutating func scanSpecialString(quote: UInt8, opening: Int) throws(JSONError) {
        let openingLine = (line, lineStart)
        while true {
            guard cursor < bytes.count else {
                (line, lineStart) = openingLine
                cursor = opening
                throw error(.unclosedString)
            }
            let byte = bytes[cursor]
            switch byte {
            case quote:
                cursor += 1
                return
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try scanEscape()
            case 10, 13: throw error(.newlineInString)
            case 9 where isJSON5: cursor += 1
            case ..<0x20: throw error(.controlCharacter)
            case ..<0x80: cursor += 1
            default: try scanCharacter()
            }
            skipPlainCharacters(quote: quote)
        }
    }

    /// Nearly all of nearly every string, in a loop that stays in registers. It may stop early, in
    /// the last bytes of the input.
    @inline(__always)
    private mutating func skipPlainCharacters(quote: UInt8) {
        var index = cursor
        let lastWord = bytes.count &- 8
        while index <= lastWord {
            let word = UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let special =
                ByteWord.matches(word, quote) | ByteWord.matches(word, UInt8(ascii: "\\"))
                | ByteWord.below(word, 0x20) | word & ByteWord.tops
            if special != 0 {
                cursor = index &+ ByteWord.firstIndex(special)  // below bytes.count
                return
            }
            index &+= 8  // at most bytes.count
        }
        while index < bytes.count {
            let byte = bytes[index]
            if byte == quote || byte == UInt8(ascii: "\\") || byte < 0x20 || byte > 0x7F { break }
            index &+= 1  // below bytes.count
        }
        cursor = index
    }

    private mutating func scanEscape() throws(JSONError) {
        guard cursor + 1 < bytes.count else { throw error(.unclosedString) }
        switch bytes[cursor + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            cursor += 2
        case UInt8(ascii: "u"): try scanUnicodeEscape()
        default:
            guard isJSON5 else { throw error(.badEscape) }
            try scanJSON5Escape(bytes[cursor + 1])
        }
    }

    private mutating func scanJSON5Escape(_ byte: UInt8) throws(JSONError) {
        switch byte {
        case UInt8(ascii: "x"):
            guard hexValue(at: cursor + 2, digits: 2) != nil else { throw error(.badUnicodeEscape) }
            cursor += 4
        case UInt8(ascii: "0"):
            if cursor + 2 < bytes.count, isDigit(bytes[cursor + 2]) { throw error(.badEscape) }
            cursor += 2
        case UInt8(ascii: "1")...UInt8(ascii: "9"): throw error(.badEscape)
        case 10, 13:
            cursor += 1
            skipLineEnd()
        case ..<0x20: throw error(.controlCharacter)
        default:
            cursor += 1
            try scanCharacter()
        }
    }

    private mutating func scanUnicodeEscape() throws(JSONError) {
        guard let unit = hexValue(at: cursor + 2, digits: 4) else { throw error(.badUnicodeEscape) }
        switch unit {
        case 0xDC00...0xDFFF: throw error(.loneSurrogate)
        case 0xD800...0xDBFF:
            guard bytes.count - cursor >= 12, bytes[cursor + 6] == UInt8(ascii: "\\"),
                bytes[cursor + 7] == UInt8(ascii: "u"),
                let low = hexValue(at: cursor + 8, digits: 4), 0xDC00...0xDFFF ~= low
            else { throw error(.loneSurrogate) }
            cursor += 12
        default: cursor += 6
        }
    }

    private mutating func scanCharacter() throws(JSONError) {
        let length = UTF8Check.sequenceBytes(bytes, at: cursor)
        if length == 0 { throw error(.badUTF8) }
        cursor += length
    }

    private func hexValue(at index: Int, digits: Int) -> UInt32? {
        if bytes.count - index < digits { return nil }
        var value: UInt32 = 0
        for offset in index..<index + digits {
            guard let digit = hexDigitValue(bytes[offset]) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    // MARK: Numbers

    /// Reads one number; `cursor` is behind it afterwards, and at its fault when it throws.
    mutating func scanNumber() throws(JSONError) {
        if bytes[cursor] == UInt8(ascii: "+") && !isJSON5 { throw error(.plusSign) }
        if bytes[cursor] == UInt8(ascii: "-") || bytes[cursor] == UInt8(ascii: "+") { cursor += 1 }
        guard cursor < bytes.count else { throw error(.badNumber) }
        let first = bytes[cursor]
        if first == UInt8(ascii: "I") || first == UInt8(ascii: "N") {
            throw error(isJSON5 ? .notFinite : .badNumber)
        }
        if first == UInt8(ascii: "0"), cursor + 1 < bytes.count {
            let second = bytes[cursor + 1]
            if isDigit(second) { throw error(.leadingZero) }
            if second | 0x20 == UInt8(ascii: "x") {
                guard isJSON5 else { throw error(.badNumber) }
                return try scanHexNumber()
            }
        }
        try scanDecimalNumber()
    }

    private mutating func scanDecimalNumber() throws(JSONError) {
        let whole = skipDigits()
        if whole == 0 && !isJSON5 { throw error(.badNumber) }
        if cursor < bytes.count, bytes[cursor] == UInt8(ascii: ".") {
            cursor += 1
            let fraction = skipDigits()
            if fraction == 0 && (!isJSON5 || whole == 0) { throw error(.badNumber) }
        } else if whole == 0 {
            throw error(.badNumber)
        }
        if cursor < bytes.count, bytes[cursor] | 0x20 == UInt8(ascii: "e") {
            cursor += 1
            if cursor < bytes.count,
                bytes[cursor] == UInt8(ascii: "-") || bytes[cursor] == UInt8(ascii: "+")
            {
                cursor += 1
            }
            if skipDigits() == 0 { throw error(.badNumber) }
        }
        try checkNumberEnd()
    }

    private mutating func scanHexNumber() throws(JSONError) {
        cursor += 2
        let start = cursor
        var value: UInt64 = 0
        while cursor < bytes.count, let digit = hexDigitValue(bytes[cursor]) {
            if value >> 60 != 0 { throw error(.hexTooLarge) }
            value = value << 4 | UInt64(digit)
            cursor += 1
        }
        if cursor == start { throw error(.badNumber) }
        try checkNumberEnd()
    }

    private func checkNumberEnd() throws(JSONError) {
        guard cursor < bytes.count else { return }
        if isWordByte(bytes[cursor]) || bytes[cursor] == UInt8(ascii: ".") {
            throw error(.badNumber)
        }
    }

    private mutating func skipDigits() -> Int {
        let start = cursor
        while cursor < bytes.count, isDigit(bytes[cursor]) { cursor += 1 }
        return cursor - start
    }

    // MARK: Unquoted keys (JSON5: an IdentifierName of ECMAScript 5.1, 7.6)

    mutating func scanIdentifier() throws(JSONError) {
        hasEscapes = false
        let start = cursor
        while cursor < bytes.count {
            let length = UTF8Check.sequenceBytes(bytes, at: cursor)
            if length == 0 { throw error(.badUTF8) }
            if bytes[cursor] == UInt8(ascii: "\\") {
                try scanIdentifierEscape(isFirst: cursor == start)
                continue
            }
            guard isIdentifierPart(scalar(at: cursor, length: length), isFirst: cursor == start)
            else { break }
            cursor += length
        }
        if cursor == start { throw error(.keyExpected) }
    }

    private mutating func scanIdentifierEscape(isFirst: Bool) throws(JSONError) {
        guard bytes.count - cursor >= 6, bytes[cursor + 1] == UInt8(ascii: "u"),
            let value = hexValue(at: cursor + 2, digits: 4)
        else { throw error(.badUnicodeEscape) }
        guard isIdentifierPart(value, isFirst: isFirst) else { throw error(.keyExpected) }
        hasEscapes = true
        cursor += 6
    }

    private func isIdentifierPart(_ value: UInt32, isFirst: Bool) -> Bool {
        if value < 0x80 {
            let byte = UInt8(value)
            return isWordByte(byte) && !(isFirst && isDigit(byte))
        }
        guard let scalar = Unicode.Scalar(value) else { return false }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .letterNumber:
            return true
        case .nonspacingMark, .spacingMark, .decimalNumber, .connectorPunctuation: return !isFirst
        default: return !isFirst && (value == 0x200C || value == 0x200D)
        }
    }

    // MARK: Blanks and comments

    /// Mostly there are none.
    @inline(__always)
    mutating func skipBlanks() throws(JSONError) {
        guard cursor < bytes.count else { return }
        let byte = bytes[cursor]
        if byte <= UInt8(ascii: " ") || byte >= 0x80 || byte == UInt8(ascii: "/") {
            try skipBlanksHere()
        }
    }

    private mutating func skipBlanksHere() throws(JSONError) {
        while cursor < bytes.count {
            switch bytes[cursor] {
            case UInt8(ascii: " "), 9: cursor += 1
            case 10, 13: skipLineEnd()
            case UInt8(ascii: "/"):
                guard isJSON5 else { throw error(.comment) }
                try skipComment()
            case 11, 12:
                guard isJSON5 else { return }
                cursor += 1
            case 0x80...:
                guard isJSON5, try skipWideBlank() else { return }
            default: return
            }
        }
    }

    private mutating func skipComment() throws(JSONError) {
        let opening = error(.unclosedComment)
        let kind = cursor + 1 < bytes.count ? bytes[cursor + 1] : 0
        guard kind == UInt8(ascii: "/") || kind == UInt8(ascii: "*") else {
            throw error(.unknownWord)
        }
        cursor += 2
        while cursor < bytes.count {
            switch bytes[cursor] {
            case 10, 13:
                skipLineEnd()
                if kind == UInt8(ascii: "/") { return }
            case UInt8(ascii: "*")
            where kind == UInt8(ascii: "*") && cursor + 1 < bytes.count
                && bytes[cursor + 1] == UInt8(ascii: "/"):
                cursor += 2
                return
            case 0x80...:
                let start = cursor
                try scanCharacter()
                if kind == UInt8(ascii: "/"), isLineSeparator(at: start) { return }
            default: cursor += 1
            }
        }
        if kind == UInt8(ascii: "*") { throw opening }
    }

    /// JSON5 section 8: no-break space, byte order mark, line and paragraph separator, and Zs.
    private mutating func skipWideBlank() throws(JSONError) -> Bool {
        let length = UTF8Check.sequenceBytes(bytes, at: cursor)
        if length == 0 { throw error(.badUTF8) }
        let value = scalar(at: cursor, length: length)
        let isBlank =
            value == 0xFEFF || value == 0x2028 || value == 0x2029
            || Unicode.Scalar(value)?.properties.generalCategory == .spaceSeparator
        if isBlank { cursor += length }
        return isBlank
    }

    private mutating func skipLineEnd() {
        let isCR = bytes[cursor] == 13
        cursor += 1
        if isCR, cursor < bytes.count, bytes[cursor] == 10 { cursor += 1 }
        line += 1
        lineStart = cursor
    }

    // MARK: Characters

    private func isLineSeparator(at index: Int) -> Bool {
        bytes[index] == 0xE2 && bytes[index + 1] == 0x80 && bytes[index + 2] & 0xFE == 0xA8
    }

    /// The character of the well-formed sequence at `index`.
    private func scalar(at index: Int, length: Int) -> UInt32 {
        if length == 1 { return UInt32(bytes[index]) }
        var value = UInt32(bytes[index]) & (0x7F >> UInt32(length))
        for offset in 1..<length { value = value << 6 | UInt32(bytes[index + offset]) & 0x3F }
        return value
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
}
