/// A text with placeholders, compiled: fixed bytes and the places where a row's values go.
///
/// A payload's template gives JSON, with the values escaped in place; a collapse id's gives text.
package struct Template: Sendable {
    /// The fixed bytes and the defaults, one after the other.
    let bytes: [UInt8]
    let segments: [TemplateSegment]
    /// The columns that the segments name, each once.
    package let columns: [TemplateColumn]

    /// Bytes that every row's result has at least: the fixed part, and one for each value that
    /// cannot be empty.
    package let bytesMin: Int

    /// Whether no row changes anything: then `fixedBytes` is the result.
    package var isFixed: Bool { columns.isEmpty }
    package var fixedBytes: [UInt8] { isFixed ? bytes : [] }

    /// The placeholders that stand in for a column, in order: the default of each as it appears in
    /// the result, nil for one without.
    package func defaults(ofColumn name: String) -> [String?] {
        segments.filter { segment in
            segment.columnIndex >= 0
                && columns[Int(segment.columnIndex)].name.utf8.elementsEqual(name.utf8)
        }.map { segment in
            guard segment.hasDefault else { return nil }
            let start = Int(segment.offset)
            return String(decoding: bytes[start..<start + Int(segment.count)], as: UTF8.self)
        }
    }
}

/// A column that a template names.
package struct TemplateColumn: Sendable {
    package let name: String
    /// Where the manifest names it first: line and column of the string.
    package let line: Int
    package let column: Int
}

/// A part of a template.
struct TemplateSegment: Sendable {
    enum Kind: UInt8, Sendable {
        /// Fixed bytes.
        case literal
        /// Text, escaped for the inside of a JSON string.
        case text
        /// Text as it is, for a header.
        case plain
        case int
        case number
        case bool
        case json
    }

    let kind: Kind
    /// Whether `offset` and `count` are a default; always false for a literal.
    let hasDefault: Bool
    /// Index into the template's columns; -1 for a literal.
    var columnIndex: Int32
    /// Into the template's bytes: the literal, or the default as it is to appear.
    let offset: Int32
    let count: Int32
}
