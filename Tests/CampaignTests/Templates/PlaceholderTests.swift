import Testing

@testable import Campaign

@Suite struct PlaceholderTests {
    private static func column(
        _ name: String, _ kind: Placeholder.Kind = .text, _ fallback: String? = nil
    ) -> TemplatePiece {
        .placeholder(Placeholder(column: name, kind: kind, fallback: fallback))
    }

    @Test(
        arguments: [
            ("", []), ("plain", [.literal("plain")]), ("{{a}}", [column("a")]),
            ("Hi {{ first name }}!", [.literal("Hi "), column("first name"), .literal("!")]),
            ("{{a}}{{b}}", [column("a"), column("b")]), ("{{a|}}", [column("a", .text, "")]),
            ("{{a| b }}", [column("a", .text, " b ")]), ("{{a|b|c}}", [column("a", .text, "b|c")]),
            ("{{a|b:c}}", [column("a", .text, "b:c")]), ("{{a:int}}", [column("a", .int)]),
            ("{{ a : int | 5}}", [column("a", .int, " 5")]),
            ("{{a:b:bool}}", [column("a:b", .bool)]),
            ("{{{{", [.literal("{{")]), ("{{{{a}}", [.literal("{{a}}")]),
            ("}}{", [.literal("}}{")]),
            ("{{{{{{a}}", [.literal("{{"), column("a")]), ("{ {a} }", [.literal("{ {a} }")]),
            ("{{a}}}", [column("a"), .literal("}")]), ("{{\u{918}}}", [column("\u{918}")]),
            ("{{a|x}}}}", [column("a", .text, "x"), .literal("}}")]),
            ("{{a:json|{}}}", [column("a", .json, "{}")]),
            ("{{a:json|{\"b\":{\"c\":[1]}}}}", [column("a", .json, "{\"b\":{\"c\":[1]}}")]),
            ("{{a:json|1}} {", [column("a", .json, "1"), .literal(" {")]),
        ] as [(String, [TemplatePiece])])
    func stringsAreCutAtTheirPlaceholders(_ text: String, _ pieces: [TemplatePiece]) throws {
        #expect(try PlaceholderParser.pieces(of: text) == pieces)
    }

    @Test(arguments: ["{{", "a {{", "{{a", "{{a}", "{{a} }", "{{{{ {{b", "{{a:json|{}}"])
    func unclosedPlaceholdersAreRefused(_ text: String) {
        let error = #expect(throws: PlaceholderError.self) {
            try PlaceholderParser.pieces(of: text)
        }
        #expect(error?.message.contains("is not closed") == true)
    }
}
