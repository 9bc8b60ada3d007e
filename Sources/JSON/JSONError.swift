/// A place in a JSON text.
package struct JSONPosition: Sendable, Equatable {
    /// Bytes before the place.
    package let offset: Int
    /// 1-based; lines end at LF, CR or CR LF.
    package let line: Int
    /// 1-based, counted in bytes of UTF-8 from the start of the line.
    package let column: Int

    package init(offset: Int, line: Int, column: Int) {
        self.offset = offset
        self.line = line
        self.column = column
    }
}

/// What is wrong with a JSON text, and where. Making one allocates nothing, so a scanner may throw
/// it for every bad row of a large file.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    package let position: JSONPosition
    package let fault: JSONFault

    package init(position: JSONPosition, fault: JSONFault) {
        self.position = position
        self.fault = fault
    }

    package var offset: Int { position.offset }
    package var line: Int { position.line }
    package var column: Int { position.column }
    package var message: String { fault.message }
    package var description: String { "\(line):\(column): \(message)" }
}

/// The ways in which a text is not the JSON (RFC 8259) or JSON5 that Peal reads.
package enum JSONFault: UInt8, Sendable, CaseIterable {
    case noValue
    case trailingText
    case unclosedObject
    case unclosedArray
    case unclosedString
    case unclosedComment
    case valueExpected
    case keyExpected
    case keyNotQuoted
    case colonExpected
    case commaOrBraceExpected
    case commaOrBracketExpected
    case trailingComma
    case singleQuote
    case comment
    case controlCharacter
    case newlineInString
    case badEscape
    case badUnicodeEscape
    case loneSurrogate
    case badUTF8
    case byteOrderMark
    case badNumber
    case leadingZero
    case plusSign
    case hexTooLarge
    case notFinite
    case unknownWord
    case tooDeep
    case repeatedKey

    /// What is wrong and what to do about it, as a clause that follows the place.
    package var message: String { text.description }

    /// The message, without an allocation.
    package var text: StaticString {
        switch self {
        case .noValue: "there is no JSON value here; write one"
        case .trailingText: "text follows the end of the JSON value; remove it"
        case .unclosedObject: "an object is not closed; add the missing \"}\""
        case .unclosedArray: "an array is not closed; add the missing \"]\""
        case .unclosedString: "a string is not closed; add the missing quote"
        case .unclosedComment: "a comment is not closed; add the missing \"*/\""
        case .valueExpected: "a value is missing here; write it"
        case .keyExpected: "a key is missing here; write it, or remove the comma"
        case .keyNotQuoted: "a key must stand in double quotes"
        case .colonExpected: "a \":\" is missing after the key"
        case .commaOrBraceExpected: "a \",\" or \"}\" is missing here"
        case .commaOrBracketExpected: "a \",\" or \"]\" is missing here"
        case .trailingComma: "a comma stands before the closing bracket; remove it"
        case .singleQuote: "single quotes are not JSON; use double quotes"
        case .comment: "comments are not JSON; remove it"
        case .controlCharacter: "a raw control character stands in a string; write it as \\u00XX"
        case .newlineInString: "a string runs over its line's end; write \\n, or close the quote"
        case .badEscape: "a backslash is followed by what is no escape; write \\\\ for a backslash"
        case .badUnicodeEscape: "an escape lacks its hexadecimal digits (\\u takes four)"
        case .loneSurrogate: "a \\u escape is half of a surrogate pair; write both halves"
        case .badUTF8: "the bytes are not UTF-8; save the file as UTF-8"
        case .byteOrderMark: "a byte order mark stands before the value; save without it"
        case .badNumber: "this is not a number; correct it, or put text in quotes"
        case .leadingZero: "a number may not start with a zero that is followed by digits"
        case .plusSign: "a number may not start with \"+\""
        case .hexTooLarge: "a hexadecimal number is larger than 64 bits"
        case .notFinite: "Infinity and NaN cannot be sent as JSON; use a finite number or null"
        case .unknownWord: "this is no value; put text in quotes (others: true, false, null)"
        case .tooDeep: "values are nested deeper than 64 levels"
        case .repeatedKey: "a key is repeated in this object; keep one of them"
        }
    }
}
