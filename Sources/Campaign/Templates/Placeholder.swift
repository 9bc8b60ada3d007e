internal import JSON

/// `{{column[:type][|default]}}` in a string of the manifest.
struct Placeholder: Equatable {
    enum Kind: String, CaseIterable {
        case text
        case int
        case number
        case bool
        case json
    }

    var column: String
    var kind: Kind
    /// As written; nil when there is none.
    var fallback: String?
}

/// A string of the manifest, cut at its placeholders.
enum TemplatePiece: Equatable {
    case literal(String)
    case placeholder(Placeholder)
}

/// What is wrong with a placeholder.
struct PlaceholderError: Error, Equatable {
    var message: String
    var remedy: String
    /// Bytes of the string before the placeholder.
    var offset = 0
}

/// Cuts strings at their placeholders.
struct PlaceholderParser {
    /// The types that can be written; no type means text.
    static let typeNames = ["int", "number", "bool", "json"]

    private let bytes: [UInt8]
    private var index = 0
    private var literal: [UInt8] = []
    private var pieces: [TemplatePiece] = []

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// The pieces of `text`, neighbouring literals joined; empty for the empty string.
    static func pieces(of text: String) throws(PlaceholderError) -> [TemplatePiece] {
        var parser = PlaceholderParser(text)
        while parser.index < parser.bytes.count {
            do throws(PlaceholderError) { try parser.step() } catch {
                var placed = error
                placed.offset = parser.index
                throw placed
            }
        }
        parser.endLiteral()
        return parser.pieces
    }

    private mutating func step() throws(PlaceholderError) {
        guard isPair("{", at: index) else {
            literal.append(bytes[index])
            index += 1
            return
        }
        if isPair("{", at: index + 2) {
            literal += "{{".utf8
            index += 4
            return
        }
        let end = try endOfPlaceholder()
        endLiteral()
        pieces.append(.placeholder(try Self.placeholder(text(index + 2..<end))))
        index = end + 2
    }

    /// Where the closing braces stand. The default of a `:json` may itself hold braces, so there
    /// they close only where its own are balanced; everywhere else the first two do.
    private func endOfPlaceholder() throws(PlaceholderError) -> Int {
        for end in index + 2..<max(bytes.count, index + 2)
        where isPair("}", at: end) && isComplete(text(index + 2..<end)) {
            return end
        }
        throw PlaceholderError(
            message: "\"\(text(index..<min(bytes.count, index + 40)))\" is not closed",
            remedy: "add the missing \"}}\", or write \"{{{{\" for a literal \"{{\"")
    }

    private func isComplete(_ content: String) -> Bool {
        guard let bar = content.firstIndex(of: "|"),
            Self.trimmed(content[..<bar].split(separator: ":").last ?? "") == "json"
        else { return true }
        let opened = content.utf8.count { $0 == UInt8(ascii: "{") }
        return opened == content.utf8.count { $0 == UInt8(ascii: "}") }
    }

    private static func placeholder(_ content: String) throws(PlaceholderError) -> Placeholder {
        let bar = content.firstIndex(of: "|")
        let specification = content[..<(bar ?? content.endIndex)]
        let colon = specification.lastIndex(of: ":")
        let column = trimmed(specification[..<(colon ?? specification.endIndex)])
        let fallback = bar.map { String(content[content.index(after: $0)...]) }
        var kind = Placeholder.Kind.text
        if let colon {
            let type = trimmed(specification[specification.index(after: colon)...])
            guard typeNames.contains(type), let known = Placeholder.Kind(rawValue: type) else {
                throw PlaceholderError(
                    message: "\"{{\(content)}}\" names the unknown type \"\(type)\"",
                    remedy: Suggestion.remedy(for: type, among: typeNames, noun: "type"))
            }
            kind = known
        }
        try check(column: column, fallback: fallback, kind: kind, content: content)
        return Placeholder(column: column, kind: kind, fallback: fallback)
    }

    private static func check(
        column: String, fallback: String?, kind: Placeholder.Kind, content: String
    ) throws(PlaceholderError) {
        if column.isEmpty {
            throw PlaceholderError(
                message: "\"{{\(content)}}\" names no column",
                remedy: "write {{column}}, or \"{{{{\" for a literal \"{{\"")
        }
        let isNested = kind != .json && fallback?.contains("{{") == true
        if column.contains(where: { $0 == "{" || $0 == "}" }) || isNested {
            throw PlaceholderError(
                message: "\"{{\(content)}}\" has braces inside",
                remedy: "placeholders do not nest; write \"{{{{\" for a literal \"{{\"")
        }
    }

    private mutating func endLiteral() {
        guard !literal.isEmpty else { return }
        pieces.append(.literal(String(decoding: literal, as: UTF8.self)))
        literal = []
    }

    private func isPair(_ brace: Unicode.Scalar, at place: Int) -> Bool {
        place + 1 < bytes.count && bytes[place] == UInt8(ascii: brace)
            && bytes[place + 1] == UInt8(ascii: brace)
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// Without blanks and tabs around.
    static func trimmed(_ text: some StringProtocol) -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = text.drop(while: isBlank)
        var end = start.endIndex
        while end > start.startIndex, isBlank(start[start.index(before: end)]) {
            end = start.index(before: end)
        }
        return String(start[..<end])
    }
}
