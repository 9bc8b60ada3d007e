/// What is read: strict JSON (RFC 8259), or JSON5 (spec.json5.org).
///
/// Deviations of `json5` from its specification, on purpose: `Infinity` and `NaN` are refused,
/// since no JSON can carry them, and so are raw control characters in strings other than the tab.
package enum JSONDialect: Sendable {
    case strict
    case json5
}

/// One step of a JSON text.
package enum JSONToken: Sendable {
    case beginObject
    case endObject
    case beginArray
    case endArray
    case key
    case string
    case number
    case `true`
    case `false`
    case null
    /// The value is complete, and nothing but blanks follows it.
    case end
}

/// Reads a JSON text token by token, checking all of it, without allocating.
///
/// Every byte is checked: grammar, UTF-8, escapes (a lone surrogate is refused). What it does not
/// check is that keys are unique, because that needs memory: see `JSONDocument`.
///
/// Ownership: borrows the input, which must outlive the scanner and the texts that it lends.
/// Limits: values nest at most `depthMax` deep.
package struct JSONScanner {
    /// Levels of arrays and objects: one bit each of `objectBits`. Apple's payloads use five.
    package static let depthMax = 64

    private enum State {
        case value
        case firstElement
        case nextElement
        case firstKey
        case nextKey
        case afterElement
        case end
    }

    let bytes: UnsafeRawBufferPointer
    let isJSON5: Bool
    /// The next byte to look at.
    var cursor = 0
    var line = 1
    var lineStart = 0
    var hasEscapes = false
    private var tokenStart = 0
    private var tokenLine = 1
    private var tokenLineStart = 0
    private var contentStart = 0
    private var contentEnd = 0
    private var state = State.value
    private var objectBits: UInt64 = 0
    /// Open arrays and objects.
    package private(set) var depth = 0

    package init(_ bytes: UnsafeRawBufferPointer, dialect: JSONDialect = .strict) {
        self.bytes = bytes
        isJSON5 = dialect == .json5
    }

    /// Where the latest token starts.
    package var position: JSONPosition {
        JSONPosition(
            offset: tokenStart, line: tokenLine, column: tokenStart - tokenLineStart + 1)
    }

    /// The bytes read so far: up to the end of the latest token (with a key, its colon).
    package var offset: Int { cursor }

    /// The content of the latest key or string.
    package var text: JSONText {
        JSONText(
            raw: UnsafeRawBufferPointer(rebasing: bytes[contentStart..<contentEnd]),
            hasEscapes: hasEscapes)
    }

    /// The latest number as it stands in the input.
    package var numberText: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[contentStart..<contentEnd])
    }

    /// Reads the next token. After `end` or an error, the scanner must not be asked again.
    package mutating func next() throws(JSONError) -> JSONToken {
        while true {
            try skipBlanks()
            markToken()
            guard cursor < bytes.count else { return try atEndOfInput() }
            let byte = bytes[cursor]
            switch state {
            case .value: return try value(byte)
            case .firstElement, .nextElement:
                if byte == UInt8(ascii: "]") {
                    if state == .nextElement && !isJSON5 { throw error(.trailingComma) }
                    return close(.endArray)
                }
                return try value(byte)
            case .firstKey, .nextKey:
                if byte == UInt8(ascii: "}") {
                    if state == .nextKey && !isJSON5 { throw error(.trailingComma) }
                    return close(.endObject)
                }
                return try key(byte)
            case .afterElement:
                if let token = try separator(byte) { return token }
            case .end: throw error(.trailingText)
            }
        }
    }

    /// Reads the rest of the value whose first token was just read (nothing for a scalar), and
    /// returns its bytes as they stand in the input.
    package mutating func finishValue(
        _ first: JSONToken
    ) throws(JSONError) -> UnsafeRawBufferPointer {
        let start = tokenStart
        if first == .beginObject || first == .beginArray {
            let outside = depth - 1
            while depth > outside { _ = try next() }
        }
        return UnsafeRawBufferPointer(rebasing: bytes[start..<cursor])
    }

    // MARK: Grammar

    private mutating func value(_ byte: UInt8) throws(JSONError) -> JSONToken {
        switch byte {
        case UInt8(ascii: "{"): return try open(isObject: true)
        case UInt8(ascii: "["): return try open(isObject: false)
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            try string(quote: byte)
            return finish(.string)
        case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            contentStart = cursor
            try scanNumber()
            contentEnd = cursor
            return finish(.number)
        case UInt8(ascii: "t"): return finish(try word("true", .true))
        case UInt8(ascii: "f"): return finish(try word("false", .false))
        case UInt8(ascii: "n"): return finish(try word("null", .null))
        case UInt8(ascii: "I"): _ = try word("Infinity", .number)
        case UInt8(ascii: "N"): _ = try word("NaN", .number)
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ":"):
            throw error(.valueExpected)
        case 0xEF where byteOrderMarkFollows: throw error(.byteOrderMark)
        default:
            throw error(UTF8Check.sequenceBytes(bytes, at: cursor) == 0 ? .badUTF8 : .unknownWord)
        }
        cursor = tokenStart
        throw error(.notFinite)
    }

    private mutating func key(_ byte: UInt8) throws(JSONError) -> JSONToken {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): try string(quote: byte)
        case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "]"), UInt8(ascii: "["),
            UInt8(ascii: "{"):
            throw error(.keyExpected)
        default:
            guard isJSON5 else { throw error(.keyNotQuoted) }
            contentStart = cursor
            try scanIdentifier()
            contentEnd = cursor
        }
        try skipBlanks()
        guard cursor < bytes.count, bytes[cursor] == UInt8(ascii: ":") else {
            throw error(.colonExpected)
        }
        cursor += 1
        state = .value
        return .key
    }

    /// A comma (nil: read on) or the end of the innermost object or array.
    private mutating func separator(_ byte: UInt8) throws(JSONError) -> JSONToken? {
        let inObject = isInObject
        switch byte {
        case UInt8(ascii: ","):
            cursor += 1
            state = inObject ? .nextKey : .nextElement
            return nil
        case UInt8(ascii: "}") where inObject: return close(.endObject)
        case UInt8(ascii: "]") where !inObject: return close(.endArray)
        default: throw error(inObject ? .commaOrBraceExpected : .commaOrBracketExpected)
        }
    }

    private mutating func open(isObject: Bool) throws(JSONError) -> JSONToken {
        if depth == Self.depthMax { throw error(.tooDeep) }
        objectBits = objectBits << 1 | (isObject ? 1 : 0)
        depth += 1
        cursor += 1
        state = isObject ? .firstKey : .firstElement
        return isObject ? .beginObject : .beginArray
    }

    private mutating func close(_ token: JSONToken) -> JSONToken {
        objectBits >>= 1
        depth -= 1
        cursor += 1
        return finish(token)
    }

    private mutating func finish(_ token: JSONToken) -> JSONToken {
        state = depth == 0 ? .end : .afterElement
        return token
    }

    private func atEndOfInput() throws(JSONError) -> JSONToken {
        if depth > 0 { throw error(isInObject ? .unclosedObject : .unclosedArray) }
        if state != .end { throw error(.noValue) }
        return .end
    }

    private mutating func word(
        _ text: StaticString, _ token: JSONToken
    ) throws(JSONError) -> JSONToken {
        let expected = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard bytes.count - cursor >= expected.count,
            bytes[cursor..<cursor + expected.count].elementsEqual(expected)
        else { throw error(.unknownWord) }
        let after = cursor + expected.count
        if after < bytes.count, isWordByte(bytes[after]) { throw error(.unknownWord) }
        cursor = after
        return token
    }

    private mutating func string(quote: UInt8) throws(JSONError) {
        if quote == UInt8(ascii: "'") && !isJSON5 { throw error(.singleQuote) }
        contentStart = cursor + 1
        try scanString(quote: quote)
        contentEnd = cursor - 1
    }

    // MARK: Helpers

    private var isInObject: Bool { objectBits & 1 == 1 }

    private var byteOrderMarkFollows: Bool {
        bytes.count - cursor >= 3 && bytes[cursor + 1] == 0xBB && bytes[cursor + 2] == 0xBF
    }

    private mutating func markToken() {
        tokenStart = cursor
        tokenLine = line
        tokenLineStart = lineStart
    }

    /// An error at the byte that would be looked at next.
    func error(_ fault: JSONFault) -> JSONError {
        JSONError(
            position: JSONPosition(offset: cursor, line: line, column: cursor - lineStart + 1),
            fault: fault)
    }
}

/// Whether `byte` runs on a word or number: an ASCII letter, digit, "_" or "$". Not what is outside
/// ASCII: in JSON5 that may be a blank, and anything else there is refused in the next step.
func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"):
        true
    default: false
    }
}
