internal import JSON

/// Compiles a payload, or the text of a collapse id, to a template.
struct TemplateCompiler {
    private let file: String
    private var bytes: [UInt8] = []
    private var segments: [TemplateSegment] = []
    private var columns: [TemplateColumn] = []
    private var bytesMin = 0
    private var literalStart = 0

    private init(file: String) { self.file = file }

    /// The template of a payload: compact JSON, keys in order, numbers as written.
    static func payload(_ node: JSONNode, file: String) throws(CampaignError) -> Template {
        var compiler = TemplateCompiler(file: file)
        try compiler.value(node)
        return compiler.finish()
    }

    /// The template of a header's value.
    static func header(_ node: JSONNode, file: String) throws(CampaignError) -> Template {
        var compiler = TemplateCompiler(file: file)
        if let text = node.asString, text.hasPrefix(" ") || text.hasSuffix(" ") {
            throw compiler.error(
                node, "a header may not begin or end with a blank", "remove the blank")
        }
        for piece in try compiler.pieces(node) {
            switch piece {
            case .literal(let text):
                if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                    throw compiler.error(
                        node, "a header may not hold control characters", "remove them")
                }
                compiler.bytes += text.utf8
            case .placeholder(let placeholder):
                if placeholder.kind != .text {
                    throw compiler.error(
                        node,
                        "\"{{\(placeholder.column):\(placeholder.kind.rawValue)}}\" has a type",
                        "a header is text: write {{\(placeholder.column)}}")
                }
                compiler.add(placeholder, .plain, Array((placeholder.fallback ?? "").utf8), node)
            }
        }
        return compiler.finish()
    }

    // MARK: JSON

    private mutating func value(_ node: JSONNode) throws(CampaignError) {
        switch node.value {
        case .null: bytes += "null".utf8
        case .bool(let truth): bytes += (truth ? "true" : "false").utf8
        case .number(let text): bytes += text.utf8
        case .string: try string(node)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                try value(element)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members): try object(members)
        }
    }

    private mutating func object(_ members: [JSONMember]) throws(CampaignError) {
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if member.key.contains("{{") {
                throw CampaignError(
                    file: file, line: member.keyPosition.line, column: member.keyPosition.column,
                    message: "the key \"\(member.key)\" holds \"{{\"",
                    remedy: "placeholders stand in values only; rename the key")
            }
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(UInt8(ascii: "\""))
            escape(member.key)
            bytes += "\":".utf8
            try value(member.value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func string(_ node: JSONNode) throws(CampaignError) {
        let pieces = try pieces(node)
        if case .placeholder(let placeholder) = pieces.first, placeholder.kind != .text {
            guard pieces.count == 1 else { throw partOfString(placeholder, node) }
            let (kind, fallback) = try typed(placeholder, node)
            return add(placeholder, kind, fallback, node)
        }
        bytes.append(UInt8(ascii: "\""))
        for piece in pieces {
            switch piece {
            case .literal(let text): escape(text)
            case .placeholder(let placeholder):
                if placeholder.kind != .text { throw partOfString(placeholder, node) }
                var fallback: [UInt8] = []
                Array((placeholder.fallback ?? "").utf8).withUnsafeBytes {
                    JSONEscape.append($0, to: &fallback)
                }
                add(placeholder, .text, fallback, node)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The segment's kind and the default as it is to appear, checked by the placeholder's type.
    private func typed(
        _ placeholder: Placeholder, _ node: JSONNode
    ) throws(CampaignError) -> (TemplateSegment.Kind, [UInt8]) {
        let kind: TemplateSegment.Kind =
            switch placeholder.kind {
            case .text: .text
            case .int: .int
            case .number: .number
            case .bool: .bool
            case .json: .json
            }
        guard let written = placeholder.fallback else { return (kind, []) }
        var output = [UInt8](repeating: 0, count: max(written.utf8.count, 8))
        let length = Array(written.utf8).withUnsafeBytes { text in
            output.withUnsafeMutableBytes { target in
                var buffer = RenderBuffer(target)
                let result = TypedValue.write(text, as: kind, to: &buffer)
                return result == .written ? buffer.count : nil
            }
        }
        guard let length else {
            throw error(
                node, "the default \"\(written)\" of {{\(placeholder.column)}} is \(kind.mismatch)",
                "correct the default, or leave it away")
        }
        return (kind, Array(output[..<length]))
    }

    // MARK: Helpers

    private mutating func add(
        _ placeholder: Placeholder, _ kind: TemplateSegment.Kind, _ fallback: [UInt8],
        _ node: JSONNode
    ) {
        endLiteral()
        let name = placeholder.column
        var index = columns.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
        if index == nil {
            index = columns.count
            columns.append(
                TemplateColumn(name: name, line: node.position.line, column: node.position.column))
        }
        segments.append(
            TemplateSegment(
                kind: kind, hasDefault: placeholder.fallback != nil,
                columnIndex: Int32(index ?? 0), offset: Int32(bytes.count),
                count: Int32(fallback.count)))
        bytes += fallback
        if kind != .text && kind != .plain { bytesMin += 1 }
        literalStart = bytes.count
    }

    private mutating func endLiteral() {
        let count = bytes.count - literalStart
        guard count > 0 else { return }
        segments.append(
            TemplateSegment(
                kind: .literal, hasDefault: false, columnIndex: -1, offset: Int32(literalStart),
                count: Int32(count)))
        bytesMin += count
        literalStart = bytes.count
    }

    private mutating func finish() -> Template {
        endLiteral()
        return Template(bytes: bytes, segments: segments, columns: columns, bytesMin: bytesMin)
    }

    private mutating func escape(_ text: String) {
        Array(text.utf8).withUnsafeBytes { JSONEscape.append($0, to: &bytes) }
    }

    private func pieces(_ node: JSONNode) throws(CampaignError) -> [TemplatePiece] {
        do throws(PlaceholderError) {
            return try PlaceholderParser.pieces(of: node.asString ?? "")
        } catch {
            // Escapes before the placeholder would shift it; then the string's own place must do.
            let inside = node.isVerbatim ? "'".utf8.count + error.offset : 0
            throw CampaignError(
                file: file, line: node.position.line, column: node.position.column + inside,
                message: error.message, remedy: error.remedy)
        }
    }

    private func partOfString(_ placeholder: Placeholder, _ node: JSONNode) -> CampaignError {
        error(
            node,
            "\"{{\(placeholder.column):\(placeholder.kind.rawValue)}}\" is only part of a string",
            "a typed placeholder must be the whole string; leave the type away to insert text")
    }

    private func error(_ node: JSONNode, _ message: String, _ remedy: String) -> CampaignError {
        CampaignError(
            file: file, line: node.position.line, column: node.position.column, message: message,
            remedy: remedy)
    }
}

extension TemplateSegment.Kind {
    /// "no integer of 64 bits", …: what a value is that does not fit.
    var mismatch: StaticString {
        switch self {
        case .int: "no integer (digits without leading zeros, within 64 bits)"
        case .number: "no number as JSON writes it"
        case .bool: "none of true, false, 1, 0"
        case .json: "no valid JSON"
        case .literal, .text, .plain: "no text"
        }
    }
}
