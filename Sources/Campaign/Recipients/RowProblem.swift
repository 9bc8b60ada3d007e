package import APNS

/// Why a row cannot be turned into a request, and where in the row.
///
/// A value without heap storage of its own, so that a file full of broken rows costs no allocation:
/// the text for people is made by `detail` when somebody asks.
package struct RowProblem: Sendable {
    /// The parts of which `detail` is made.
    package enum Detail: Sendable {
        case none
        case text(StaticString)
        /// A text about something with a name, such as a column: `TEXT "NAME"`.
        case named(StaticString, String)
        /// The row's number of fields and the header's.
        case fieldCount(row: Int, header: Int)
        /// What was rendered, and what it may have at the most; both in bytes.
        case size(bytes: Int, bytesMax: Int)
    }

    /// Becomes the row's final byte in the ledger; its outcome is `invalid`.
    package let code: FinalCode
    /// Physical lines after the record's first one; 0 unless quotes hold line breaks.
    package let lineDelta: Int
    /// 1-based column in bytes, in the physical line of `lineDelta`.
    package let column: Int

    private let parts: Detail

    package init(
        _ code: FinalCode, lineDelta: Int = 0, column: Int = 1, detail: Detail = .none
    ) {
        self.code = code
        self.lineDelta = lineDelta
        self.column = column
        self.parts = detail
    }

    /// What is wrong, in words; nil where the code says it all. Allocates.
    package var detail: String? {
        switch parts {
        case .none: nil
        case .text(let text): text.description
        case .named(let text, let name): "\(text) \"\(name)\""
        case .fieldCount(let row, let header):
            "the row has \(row) \(row == 1 ? "field" : "fields"), the header has \(header)"
        case .size(let bytes, let bytesMax): "\(bytes) bytes, the limit is \(bytesMax)"
        }
    }
}
