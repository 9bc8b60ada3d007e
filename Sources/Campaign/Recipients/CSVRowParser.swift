internal import APNS
internal import Glibc
internal import JSON

/// Takes the fields out of one CSV record at a time, without allocating.
///
/// *Thread*: one. *Limits*: records of at most `RecordLimits.recordBytesMax` bytes.
package final class CSVRowParser {
    /// Number of fields of every row: that of the header.
    package let fieldCount: Int

    private let delimiter: UInt8
    private let fields: UnsafeMutablePointer<UnsafeRawBufferPointer>  // owned, fieldCount of them
    /// Fields with doubled quotes are put here without the doubling. Fields never grow by that, so
    /// a record's worth of bytes is enough for all of them. Owned.
    private let scratch: UnsafeMutableRawBufferPointer

    package init(header: CSVHeader) {
        fieldCount = header.names.count
        delimiter = header.delimiter
        fields = .allocate(capacity: fieldCount)
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)
        fields.initialize(repeating: empty, count: fieldCount)
        scratch = .allocate(byteCount: RecordLimits.recordBytesMax, alignment: 16)
    }

    deinit {
        fields.deallocate()
        scratch.deallocate()
    }

    /// Splits a record (without its line end) into fields; nil when all is well.
    ///
    /// Problems: BrokenUTF8, BrokenQuoting, WrongFieldCount, RecordTooLong. A NUL byte counts as
    /// BrokenUTF8: Unicode has the character, but text with it is UTF-16 or a binary file, and no
    /// notification should carry it to a phone.
    /// *Ownership*: the fields point into `record` and into the parser; they are valid while the
    /// record's bytes are, and until the next call.
    package func parse(_ record: UnsafeRawBufferPointer) -> RowProblem? {
        guard record.count <= RecordLimits.recordBytesMax else {
            return RowProblem(.recordTooLong)
        }
        if let count = splitPlain(record) {
            return count == fieldCount ? nil : wrongFieldCount(count)
        }
        if let problem = findBrokenText(record) { return problem }
        var cursor = CSVFieldCursor(record: record, delimiter: delimiter, scratch: scratch)
        var count = 0
        while true {
            switch cursor.next() {
            case .field(let field):
                if count < fieldCount { fields[count] = field }
                count += 1
            case .end:
                return count == fieldCount ? nil : wrongFieldCount(count)
            case .textAfterQuote(let at):
                return problem(
                    .brokenQuoting, record, at, "there is text after the quote that ends the field")
            case .unclosedQuote(let at):
                return problem(
                    .brokenQuoting, record, at, "the quote that opens here is not closed")
            }
        }
    }

    /// The number of fields of a record without quotes, found in one pass over it, eight bytes at a
    /// time, which also checks the text; nil when the record is to be looked at in the other way:
    /// it has a quote or a fault, or fewer than eight bytes.
    @inline(__always)
    private func splitPlain(_ record: UnsafeRawBufferPointer) -> Int? {
        guard let base = record.baseAddress, record.count >= 8 else { return nil }
        var count = 0
        var start = 0  // of the field
        var special: UInt64 = 0
        var allBits: UInt64 = 0
        var index = 0
        while index < record.count {
            let word = Self.word(base, at: index, of: record.count)
            special |= ByteWord.zeros(word) | ByteWord.matches(word, UInt8(ascii: "\""))
            allBits |= word
            var delimiters = ByteWord.exactMatches(word, delimiter)
            while delimiters != 0 {
                let end = index &+ ByteWord.firstIndex(delimiters)
                if count < fieldCount {
                    fields[count] = UnsafeRawBufferPointer(start: base + start, count: end &- start)
                }
                count &+= 1  // never more than the record's bytes, as all of these
                start = end &+ 1
                delimiters &= delimiters &- 1
            }
            index &+= 8
        }
        guard special == 0 else { return nil }
        if allBits & ByteWord.tops != 0, UTF8Check.firstFault(in: record) != nil { return nil }
        if count < fieldCount {
            fields[count] = UnsafeRawBufferPointer(start: base + start, count: record.count - start)
        }
        return count + 1
    }

    /// The eight bytes at `index`. Past the end, of the `count` bytes, stands a letter: no
    /// delimiter, quote or fault. *Limits*: `count` is eight at least.
    @inline(__always)
    private static func word(_ base: UnsafeRawPointer, at index: Int, of count: Int) -> UInt64 {
        let left = count &- index
        if left >= 8 {
            return UInt64(littleEndian: base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        }
        let last = UInt64(
            littleEndian: base.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
        let letters = ByteWord.ones &* UInt64(UInt8(ascii: "a"))
        return last >> UInt64(8 &* (8 &- left)) | letters << UInt64(8 &* left)
    }

    /// The field of this column (0-based) of the record parsed last; empty for an empty cell.
    package func field(_ column: Int) -> UnsafeRawBufferPointer {
        precondition(column >= 0 && column < fieldCount)
        return fields[column]
    }

    /// Where a field of the record that was parsed last starts; a quoted one, with its quote. Walks
    /// over the record again, because only a row with a problem is asked.
    func place(ofField column: Int, in record: UnsafeRawBufferPointer) -> TextPlace {
        var cursor = CSVFieldCursor(record: record, delimiter: delimiter, scratch: scratch)
        for _ in 0..<column { _ = cursor.next() }
        return TextPlace(of: min(cursor.index, record.count), in: record)
    }

    private func findBrokenText(_ record: UnsafeRawBufferPointer) -> RowProblem? {
        if let at = UTF8Check.firstFault(in: record) {
            return problem(.brokenUTF8, record, at, "the bytes here are not UTF-8")
        }
        if let start = record.baseAddress, let found = memchr(start, 0, record.count) {
            let at = UnsafeRawPointer(found) - start
            return problem(.brokenUTF8, record, at, "there is a NUL byte here")
        }
        return nil
    }

    private func wrongFieldCount(_ count: Int) -> RowProblem {
        RowProblem(.wrongFieldCount, detail: .fieldCount(row: count, header: fieldCount))
    }

    private func problem(
        _ code: FinalCode, _ record: UnsafeRawBufferPointer, _ at: Int, _ text: StaticString
    ) -> RowProblem {
        let place = TextPlace(of: at, in: record)
        return RowProblem(
            code, lineDelta: place.lineDelta, column: place.column, detail: .text(text))
    }
}

/// Where a byte stands, for people.
struct TextPlace {
    /// Line feeds before the byte.
    var lineDelta = 0
    /// 1-based column in bytes.
    var column = 1

    init(of index: Int, in bytes: UnsafeRawBufferPointer) {
        for byte in bytes[..<index] {
            if byte == UInt8(ascii: "\n") {
                lineDelta += 1
                column = 1
            } else {
                column += 1
            }
        }
    }
}
