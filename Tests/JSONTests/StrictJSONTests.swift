import JSON
import Testing

/// The grammar of RFC 8259, case by case; the lists are written from its text.
@Suite struct StrictJSONTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "10", "-1.5", "0.5e1", "1E+2", "1e-2", "1e400",
        "123456789012345678901234567890", "\"\"", "[]", "{}", " \t\r\n1 \t\r\n", "[1,2]",
        "[[],{}]", "{\"a\":1,\"b\":[true]}", "{\"\":0}", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\\u0000\\uD834\\udd1e\"", "\"\u{7F}\u{80}\u{2028}\u{FFFF}\u{10FFFF}\"",
        "{\"a\":{\"a\":1}}",
    ])
    func validTextsAreRead(_ text: String) throws {
        _ = try JSONDocument.parse(Array(text.utf8), dialect: .strict)
    }

    @Test(arguments: [
        ("", JSONFault.noValue), ("  ", .noValue), ("1 2", .trailingText), ("{}x", .trailingText),
        ("[]]", .trailingText), ("{", .unclosedObject), ("{\"a\":1", .unclosedObject),
        ("{\"a\":", .unclosedObject), ("[", .unclosedArray), ("[1,", .unclosedArray),
        ("\"a", .unclosedString), ("\"a\\", .unclosedString), ("[,1]", .valueExpected),
        ("[1,,2]", .valueExpected), ("{\"a\":}", .valueExpected), ("]", .valueExpected),
        ("{,}", .keyExpected), ("{\"a\":1,,}", .keyExpected), ("{a:1}", .keyNotQuoted),
        ("{1:1}", .keyNotQuoted), ("{\"a\" 1}", .colonExpected), ("{\"a\"", .colonExpected),
        ("{\"a\":1 \"b\":2}", .commaOrBraceExpected), ("{\"a\":1]", .commaOrBraceExpected),
        ("[1 2]", .commaOrBracketExpected), ("[1}", .commaOrBracketExpected),
        ("[1,]", .trailingComma), ("{\"a\":1,}", .trailingComma), ("'a'", .singleQuote),
        ("{'a':1}", .singleQuote), ("/* */1", .comment), ("1//", .comment),
        ("\"\t\"", .controlCharacter), ("\"\0\"", .controlCharacter),
        ("\"a\nb\"", .newlineInString), ("\"\\x41\"", .badEscape), ("\"\\v\"", .badEscape),
        ("\"\\'\"", .badEscape), ("\"\\0\"", .badEscape), ("\"\\u12\"", .badUnicodeEscape),
        ("\"\\u12G4\"", .badUnicodeEscape), ("\"\\uD800\"", .loneSurrogate),
        ("\"\\uD800x\"", .loneSurrogate), ("\"\\uDC00\"", .loneSurrogate),
        ("\"\\uD800\\uD800\"", .loneSurrogate), ("\"\\uD800\\n\"", .loneSurrogate),
        ("\"\\uD800\\u0041\"", .loneSurrogate), ("01", .leadingZero), ("-01", .leadingZero),
        ("+1", .plusSign), ("-", .badNumber), (".5", .badNumber), ("1.", .badNumber),
        ("1.e1", .badNumber), ("1e", .badNumber), ("1e+", .badNumber), ("0x1F", .badNumber),
        ("1a", .badNumber), ("1.2.3", .badNumber), ("--1", .badNumber), ("1_000", .badNumber),
        ("-Infinity", .badNumber), ("Infinity", .notFinite), ("NaN", .notFinite),
        ("nul", .unknownWord), ("nulls", .unknownWord), ("True", .unknownWord), ("x", .unknownWord),
        ("\u{A0}1", .unknownWord), ("\u{FEFF}1", .byteOrderMark), ("\u{0B}1", .unknownWord),
        ("{\"a\":1,\"a\":2}", .repeatedKey), ("{\"a\":1,\"\\u0061\":2}", .repeatedKey),
    ])
    func invalidTextsAreRefused(_ text: String, _ fault: JSONFault) {
        #expect(faultOfStrict(Array(text.utf8)) == fault)
    }

    /// Unicode, table 3-7: what follows each first byte, one step outside it.
    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x7F], [0xC2, 0xC0],
            [0xE0, 0x9F, 0xBF], [0xE0, 0xA0], [0xE1, 0x80, 0x7F], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x90, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]])
    func bytesThatAreNotUTF8AreRefused(_ bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        #expect(faultOfStrict([quote] + bytes + [quote]) == .badUTF8)
        #expect(faultOfStrict([0x20] + bytes) == .badUTF8)
        bytes.withUnsafeBytes { #expect(UTF8Check.firstFault(in: $0) == 0) }
    }

    @Test func aFaultIsFoundWhereverItStands() {
        for before in 0..<20 {
            for after in 0..<20 {
                let good = [UInt8](repeating: 0x7F, count: before)
                let bytes = good + [0xC2] + [UInt8](repeating: 0x41, count: after)
                bytes.withUnsafeBytes { #expect(UTF8Check.firstFault(in: $0) == before) }
                let whole = good + Array("é".utf8) + [UInt8](repeating: 0x41, count: after)
                whole.withUnsafeBytes { #expect(UTF8Check.firstFault(in: $0) == nil) }
            }
        }
    }

    /// Strings are read eight bytes at a time: every byte at every place of two such pieces.
    @Test func everyByteIsLookedAtWhereverItStandsInAString() {
        for byte in UInt8.min...0x7F {
            for place in 0..<17 {
                var text = [UInt8](repeating: UInt8(ascii: "x"), count: 17)
                text[place] = byte
                let fault = faultOfStrict([0x22] + text + [0x22])
                let expected: JSONFault? =
                    switch byte {
                    case 10, 13: .newlineInString
                    case ..<0x20: .controlCharacter
                    case 0x22: .trailingText
                    case 0x5C: place == 16 ? .unclosedString : .badEscape
                    default: nil
                    }
                // A quote ends the string; what follows it is the fault.
                #expect(fault == expected, "byte \(byte) at \(place)")
            }
        }
    }

    @Test func everyUnicodeScalarIsWellFormed() {
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let bytes = Array(String(scalar).utf8)
            let length = bytes.withUnsafeBytes { UTF8Check.sequenceBytes($0, at: 0) }
            if length != bytes.count {
                Issue.record("U+\(String(value, radix: 16))")
                return
            }
        }
    }

    @Test func nestingIsLimitedTo64Levels() {
        func nested(_ depth: Int) -> [UInt8] {
            Array(
                (String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(faultOfStrict(nested(64)) == nil)
        #expect(faultOfStrict(nested(65)) == .tooDeep)
        #expect(faultOfStrict(nested(100_000)) == .tooDeep)
    }

    @Test func objectsAndArraysMayAlternateToTheDepthLimit() {
        let open = String(repeating: "[{\"a\":", count: 32)
        let close = String(repeating: "}]", count: 32)
        #expect(faultOfStrict(Array((open + "1" + close).utf8)) == nil)
        #expect(faultOfStrict(Array((open + "[]" + close).utf8)) == .tooDeep)
        let mixedUp = open + "1" + String(repeating: "]}", count: 32)
        #expect(faultOfStrict(Array(mixedUp.utf8)) == .commaOrBraceExpected)
    }

    @Test func escapesAreDecoded() throws {
        let node = try JSONDocument.parse(
            Array(#""\"\\\/\b\f\n\r\t\u00e9\u20AC\uD83D\uDE00""#.utf8), dialect: .strict)
        #expect(node.asString == "\"\\/\u{8}\u{C}\n\r\t\u{E9}\u{20AC}\u{1F600}")
    }

    @Test func everyFaultHasAMessage() {
        for fault in JSONFault.allCases { #expect(fault.message.count > 10) }
    }
}

/// The fault of a text in the strict dialect; nil when it is valid.
func faultOfStrict(_ bytes: [UInt8]) -> JSONFault? {
    do throws(JSONError) {
        _ = try JSONDocument.parse(bytes, dialect: .strict)
        return nil
    } catch {
        return error.fault
    }
}
