/// What one row holds for one column that the campaign uses.
///
/// Ownership: points into the record, the CSV parser or the reader's scratch memory; valid until
/// the next row is read.
struct FieldValue {
    enum Kind: UInt8 {
        /// No cell, an empty one, JSON null, or no such key.
        case none
        /// Text: a CSV field or a JSON string.
        case text
        /// Text that needs no escape in JSON: a JSON string without escapes.
        case plainText
        /// A JSON number, true or false.
        case scalar
        /// A JSON object or array.
        case nested
    }

    var kind = Kind.none
    /// Whether the row has the key, with or without a value.
    var isPresent = false
    /// The text; for a scalar or nested value, its JSON.
    var text = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The value as JSON, if it was JSON; otherwise empty.
    var json = UnsafeRawBufferPointer(start: nil, count: 0)
    /// 1-based column in bytes in a JSON record; for CSV, `CSVRowParser.place` finds it.
    var column = 1
}
