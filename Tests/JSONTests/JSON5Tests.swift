import JSON
import Testing

/// The JSON5 specification (spec.json5.org, version 1.0.0), section by section.
@Suite struct JSON5Tests {
    /// The example of the specification's introduction, without its Infinity.
    @Test func theExampleOfTheSpecificationIsRead() throws {
        let text = #"""
            {
              // comments
              unquoted: 'and you can quote me on that',
              singleQuotes: 'I can use "double quotes" here',
              lineBreaks: "Look, Mom! \
            No \\n's!",
              hexadecimal: 0xdecaf,
              leadingDecimalPoint: .8675309, andTrailing: 8675309.,
              positiveSign: +1,
              trailingComma: 'in objects', andIn: ['arrays',],
              "backwardsCompatible": "with JSON",
            }
            """#
        let node = try JSONDocument.parse(Array(text.utf8), dialect: .json5)
        #expect(node["unquoted"]?.asString == "and you can quote me on that")
        #expect(node["singleQuotes"]?.asString == "I can use \"double quotes\" here")
        #expect(node["lineBreaks"]?.asString == "Look, Mom! No \\n's!")
        #expect(node["hexadecimal"]?.asInt == 912_559)
        #expect(numberText(node["leadingDecimalPoint"]) == "0.8675309")
        #expect(numberText(node["andTrailing"]) == "8675309")
        #expect(numberText(node["positiveSign"]) == "1")
        #expect(node["andIn"]?.elements?.count == 1)
        #expect(node["backwardsCompatible"]?.asString == "with JSON")
    }

    @Test(arguments: [
        ("0", "0"), ("-0", "-0"), (".5", "0.5"), ("-.5", "-0.5"), ("+.5", "0.5"), ("5.", "5"),
        ("-5.", "-5"), ("5.e3", "5e3"), (".5E-3", "0.5E-3"), ("+1.50", "1.50"), ("0x1F", "31"),
        ("-0X1f", "-31"), ("0xFFFFFFFFFFFFFFFF", "18446744073709551615"),
        ("0x00000000000000001", "1"), ("1.0", "1.0"), ("1e400", "1e400"),
    ])
    func numbersBecomeJSONNumbers(_ written: String, _ text: String) throws {
        let node = try JSONDocument.parse(Array(written.utf8), dialect: .json5)
        #expect(numberText(node) == text)
        #expect(faultOfStrict(Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        (#"'\'\"\\\b\f\n\r\t\v\0\/'"#, "'\"\\\u{8}\u{C}\n\r\t\u{B}\0/"),
        (#"'\x41\xe9'"#, "A\u{E9}"),
        (#"'\a\A\é'"#, "aA\u{E9}"), ("'a\\\nb'", "ab"), ("'a\\\rb'", "ab"), ("'a\\\r\nb'", "ab"),
        ("'a\\\u{2028}b\\\u{2029}c'", "abc"), ("'\u{2028}'", "\u{2028}"), ("'\t'", "\t"),
        (#"'\u00e9\uD83D\uDE00'"#, "\u{E9}\u{1F600}"), ("\"'\"", "'"), ("'\"'", "\""),
    ])
    func stringsAreDecoded(_ written: String, _ text: String) throws {
        let node = try JSONDocument.parse(Array(written.utf8), dialect: .json5)
        #expect(Array((node.asString ?? "none").utf8) == Array(text.utf8))
    }

    @Test(arguments: [
        ("a", "a"), ("$_1", "$_1"), ("\u{FC}nic\u{F6}de", "\u{FC}nic\u{F6}de"), ("null", "null"),
        ("Infinity", "Infinity"), (#"\u0061b"#, "ab"), ("a\u{200D}b", "a\u{200D}b"),
        ("\u{928}\u{92E}\u{938}\u{94D}", "\u{928}\u{92E}\u{938}\u{94D}"),
    ])
    func keysNeedNoQuotes(_ written: String, _ key: String) throws {
        let node = try JSONDocument.parse(Array("{\(written):1}".utf8), dialect: .json5)
        #expect(node[key]?.asInt == 1)
    }

    @Test(arguments: [
        "//", "// a\n", "// a\r", "/**/", "/***/", "/* * / */", "/* // */", "\u{FEFF}", "\u{A0}",
        "\u{2028}", "\u{3000}", "\u{B}\u{C}", "// a\u{2029}",
    ])
    func blanksAndCommentsMayStandAnywhere(_ blank: String) throws {
        let lineEnd = blank == "//" ? "\n" : ""
        let b = blank + lineEnd
        let text = "\(b){\(b)a\(b):\(b)[\(b)1\(b),\(b)2\(b)]\(b),\(b)}\(blank)"
        let node = try JSONDocument.parse(Array(text.utf8), dialect: .json5)
        #expect(node["a"]?.elements?.count == 2)
    }

    @Test(arguments: [
        ("Infinity", JSONFault.notFinite), ("-Infinity", .notFinite), ("+NaN", .notFinite),
        ("NaN", .notFinite), ("[,]", .valueExpected), ("[1,,]", .valueExpected),
        ("{,}", .keyExpected), ("{a:1,,}", .keyExpected), ("/*", .unclosedComment),
        ("/* *", .unclosedComment), ("/ 1", .unknownWord), ("'a", .unclosedString),
        ("'a\nb'", .newlineInString), ("'\u{1}'", .controlCharacter), (#"'\1'"#, .badEscape),
        (#"'\01'"#, .badEscape), (#"'\x4'"#, .badUnicodeEscape), (#"'\u004'"#, .badUnicodeEscape),
        (#"'\ud800'"#, .loneSurrogate), ("{1a:1}", .keyExpected), ("{a-b:1}", .colonExpected),
        (#"{\u0031a:1}"#, .keyExpected), (#"{\x41:1}"#, .badUnicodeEscape),
        ("{\u{1F600}:1}", .keyExpected),
        ("0x", .badNumber), ("0xG", .badNumber), ("0x1.0", .badNumber), (".", .badNumber),
        (".e1", .badNumber), ("+", .badNumber), ("+-1", .badNumber), ("01", .leadingZero),
        ("0x10000000000000000", .hexTooLarge), ("1n", .badNumber), ("undefined", .unknownWord),
        ("{a:1,'a':2}", .repeatedKey), ("{a:1,\"\\x61\":2}", .repeatedKey), ("1 2", .trailingText),
    ])
    func otherTextsAreRefused(_ text: String, _ fault: JSONFault) {
        #expect(throws: (any Error).self) {
            try JSONDocument.parse(Array(text.utf8), dialect: .json5)
        }
        do throws(JSONError) {
            _ = try JSONDocument.parse(Array(text.utf8), dialect: .json5)
        } catch {
            #expect(error.fault == fault)
        }
    }

    @Test func whatIsJSONIsJSON5() throws {
        let text = #"{"a": [1, -2.5e3, "\u00e9", true, false, null], "b": {}}"#
        let strict = try JSONDocument.parse(Array(text.utf8), dialect: .strict)
        let json5 = try JSONDocument.parse(Array(text.utf8), dialect: .json5)
        #expect(compact(strict) == compact(json5))
    }
}

func numberText(_ node: JSONNode?) -> String? {
    if case .number(let text) = node?.value { text } else { nil }
}

func compact(_ node: JSONNode) -> String {
    var writer = JSONWriter()
    writer.value(node)
    return String(decoding: writer.bytes, as: UTF8.self)
}
