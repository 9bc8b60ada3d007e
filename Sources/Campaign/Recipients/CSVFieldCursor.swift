internal import Glibc

/// Walks over the fields of one CSV record (RFC 4180 section 2, with the delimiter of the header).
///
/// A quote opens a field only at the field's start; elsewhere it is a character like any other.
struct CSVFieldCursor {
    enum Step {
        case field(UnsafeRawBufferPointer)
        case end
        /// Index of the first byte that stands between a closing quote and the delimiter.
        case textAfterQuote(Int)
        /// Index of the quote that is never closed.
        case unclosedQuote(Int)
    }

    private let record: UnsafeRawBufferPointer
    private let delimiter: UInt8
    private let scratch: UnsafeMutableRawBufferPointer
    private var scratchBytes = 0
    private var at = 0
    private var isAtEnd = false

    /// *Limits*: `scratch` has room for as many bytes as the record. *Ownership*: both are
    /// borrowed, and the fields point into them.
    init(
        record: UnsafeRawBufferPointer, delimiter: UInt8, scratch: UnsafeMutableRawBufferPointer
    ) {
        precondition(scratch.count >= record.count)
        self.record = record
        self.delimiter = delimiter
        self.scratch = scratch
    }

    /// Where the next field starts.
    var index: Int { at }

    @inline(__always)
    mutating func next() -> Step {
        if isAtEnd { return .end }
        guard at < record.count else {
            isAtEnd = true
            return .field(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        if record[at] == UInt8(ascii: "\"") { return quotedField() }
        let end = find(delimiter, from: at) ?? record.count
        let field = UnsafeRawBufferPointer(rebasing: record[at..<end])
        passDelimiter(at: end)
        return .field(field)
    }

    private mutating func quotedField() -> Step {
        let quote = UInt8(ascii: "\"")
        let open = at
        var from = open + 1
        var hasDoubledQuotes = false
        while true {
            guard let close = find(quote, from: from) else { return .unclosedQuote(open) }
            let after = close + 1
            if after < record.count, record[after] == quote {
                hasDoubledQuotes = true
                from = after + 1
                continue
            }
            guard after == record.count || record[after] == delimiter else {
                return .textAfterQuote(after)
            }
            let raw = UnsafeRawBufferPointer(rebasing: record[open + 1..<close])
            passDelimiter(at: after)
            return .field(hasDoubledQuotes ? undoubled(raw) : raw)
        }
    }

    /// Moves on behind a field that ends at `end`. A delimiter at the record's end is followed by
    /// one more field, an empty one.
    @inline(__always)
    private mutating func passDelimiter(at end: Int) {
        isAtEnd = end == record.count
        at = end + 1
    }

    private mutating func undoubled(_ raw: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let start = scratchBytes
        var index = 0
        while index < raw.count {
            scratch[scratchBytes] = raw[index]
            scratchBytes += 1
            index += raw[index] == UInt8(ascii: "\"") ? 2 : 1
        }
        return UnsafeRawBufferPointer(rebasing: scratch[start..<scratchBytes])
    }

    @inline(__always)
    private func find(_ byte: UInt8, from: Int) -> Int? {
        guard from < record.count, let start = record.baseAddress,
            let found = memchr(start + from, Int32(byte), record.count - from)
        else { return nil }
        return UnsafeRawPointer(found) - start
    }
}
