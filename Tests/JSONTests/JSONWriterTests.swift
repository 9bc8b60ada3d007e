import JSON
import Testing

@Suite struct JSONWriterTests {
    @Test func compactTextHasNoBlanks() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("a")
        writer.number(-5)
        writer.key("b\"")
        writer.beginArray()
        writer.number(0.1)
        writer.bool(true)
        writer.null()
        writer.beginObject()
        writer.endObject()
        writer.endArray()
        writer.key("c")
        writer.string("\u{E9}\n")
        writer.endObject()
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"a":-5,"b\"":[0.1,true,null,{}],"c":"é\n"}"#)
    }

    @Test func prettyTextHasOneMemberPerLine() {
        var writer = JSONWriter(pretty: true)
        writer.beginObject()
        writer.key("a")
        writer.beginArray()
        writer.number(1)
        writer.number(2)
        writer.endArray()
        writer.key("b")
        writer.beginArray()
        writer.endArray()
        writer.endObject()
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": []\n}")
    }

    @Test func textThatIsNotUTF8IsRepaired() {
        var writer = JSONWriter()
        ([0x61, 0xFF, 0x62] as [UInt8]).withUnsafeBytes { writer.string(utf8: $0) }
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"a\u{FFFD}b\"")
    }

    /// RFC 8259 section 7: quote, backslash and the control characters, and nothing else.
    @Test func onlyWhatMustBeEscapedIsEscaped() {
        for byte in UInt8(0)..<128 {
            var output: [UInt8] = []
            [byte].withUnsafeBytes { JSONEscape.append($0, to: &output) }
            let mustEscape = byte < 0x20 || byte == 0x22 || byte == 0x5C
            #expect((output != [byte]) == mustEscape)
            let text = [0x22] + output + [0x22]
            let back = try? JSONDocument.parse(text, dialect: .strict)
            #expect(back?.asString == String(decoding: [byte], as: UTF8.self))
        }
    }

    @Test func escapingStopsWhereTheRoomEnds() {
        let text = Array("ab\"c\u{1}d".utf8)  // escaped: a b \" c \u0001 d = 12 bytes
        for room in 0...13 {
            var output = [UInt8](repeating: 0xEE, count: room + 1)
            var position = 0
            let fits = text.withUnsafeBytes { source in
                output.withUnsafeMutableBytes {
                    JSONEscape.append(
                        source, to: UnsafeMutableRawBufferPointer(rebasing: $0[..<room]),
                        at: &position)
                }
            }
            #expect(fits == (room >= 12))
            #expect(position == (fits ? 12 : 0))
            #expect(output[room] == 0xEE)
        }
    }
}

@Suite struct JSONTextTests {
    @Test(arguments: [
        (#"token"#, "token", true), (#"t\u006fken"#, "token", true),
        (#"token\u0000"#, "token", false),
        (#"toke"#, "token", false), (#"\u0074oken2"#, "token", false),
        (#"\uD83D\uDE00"#, "\u{1F600}", true),
        (#"\n\/"#, "\n/", true), (#"é"#, "é", true), (#"\u00e9"#, "é", true), ("", "", true),
    ])
    func keysAreComparedWithoutDecoding(_ written: String, _ name: String, _ equal: Bool) throws {
        try Array("\"\(written)\"".utf8).withUnsafeBytes { bytes throws in
            var scanner = JSONScanner(bytes)
            #expect(try scanner.next() == .string)
            let isEqual = Array(name.utf8).withUnsafeBytes { scanner.text.equals($0) }
            #expect(isEqual == equal)
            #expect((scanner.text.string == name) == equal)
        }
    }

    @Test func theRestOfAValueIsSkippedAndLent() throws {
        try Array(#"{"a": [1, {"b":"]"}] , "c":2}"#.utf8).withUnsafeBytes { bytes throws in
            var scanner = JSONScanner(bytes)
            #expect(try scanner.next() == .beginObject)
            #expect(try scanner.next() == .key)
            let first = try scanner.next()
            let value = try scanner.finishValue(first)
            #expect(String(decoding: value, as: UTF8.self) == #"[1, {"b":"]"}]"#)
            #expect(try scanner.next() == .key)
            #expect(scanner.text.string == "c")
            let second = try scanner.finishValue(try scanner.next())
            #expect(String(decoding: second, as: UTF8.self) == "2")
            #expect(try scanner.next() == .endObject)
            #expect(try scanner.next() == .end)
        }
    }
}
