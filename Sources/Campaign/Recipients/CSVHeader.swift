/// The header row of a CSV file: the names of its columns and the delimiter between fields.
package struct CSVHeader: Sendable, Equatable {
    /// `,` `;` tab or `|`.
    package let delimiter: UInt8
    /// At least one; none is empty or there twice; without blanks around them.
    package let names: [String]
    /// Physical line on which the header starts; 1 unless blank lines come before it.
    package let line: UInt64

    /// *Limits*: `names` holds one name at least; the delimiter is an ASCII character that is not a
    /// quote or part of a line end.
    package init(delimiter: UInt8 = UInt8(ascii: ","), names: [String], line: UInt64 = 1) {
        precondition(!names.isEmpty)
        precondition(delimiter < 0x80 && ![0x0A, 0x0D, 0x22].contains(delimiter))
        self.delimiter = delimiter
        self.names = names
        self.line = line
    }

    /// The column of this name, 0-based.
    package func column(named name: String) -> Int? { names.firstIndex(of: name) }
}
