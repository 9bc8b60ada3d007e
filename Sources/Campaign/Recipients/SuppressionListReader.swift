internal import APNS
internal import JSON

/// Reads a list of device tokens that are not sent to: a CSV with a column `token` (such as the
/// `unregistered.csv` of a run), NDJSON with a key `token`, or one token per line without a header.
///
/// The content decides which of them it is. A line that cannot be read is an error and not skipped:
/// it may be the token of someone who must not be written to.
///
/// *Thread*: one; calls block for as long as the disk does. *Limits*: some 700 KiB of memory.
package final class SuppressionListReader {
    private static let columnName = "token"

    private let reader: RecipientReader
    private let chunk = RecordChunk()
    private var nextRecord = 0
    private let csv: CSVRowParser?
    private var tokenColumn = 0
    private let memory: UnsafeMutableRawBufferPointer  // owned
    private let scratch: UnsafeMutableRawBufferPointer  // owned; for JSON strings with escapes
    private var tokenBytes = 0

    /// Opens a list, and reads its header if it has one.
    package init(
        path: String, cancellation: ReadCancellation = ReadCancellation()
    ) throws(RecipientsError) {
        reader = try RecipientReader(
            path: path, format: RecipientFormat(fileName: path), cancellation: cancellation,
            takesTokenLists: true)
        csv = reader.header.map { CSVRowParser(header: $0) }
        memory = .allocate(byteCount: DeviceToken.hexCharactersMax, alignment: 8)
        scratch = .allocate(byteCount: RecordLimits.recordBytesMax, alignment: 8)
        guard let header = reader.header else { return }
        guard let column = header.column(named: Self.columnName) else {
            let names = header.names.prefix(40).map { "\"\($0)\"" }.joined(separator: ", ")
            throw RecipientsError(
                .refused, file: path, line: header.line,
                message: "a list of tokens has them in a column \"token\", and here is none",
                remedy: "rename the column that holds them; the columns are: \(names)")
        }
        tokenColumn = column
    }

    deinit {
        memory.deallocate()
        scratch.deallocate()
    }

    /// Size of the list in bytes; nil where it cannot be known.
    package var bytesTotal: UInt64? { reader.bytesTotal }

    /// The latest token, as ``RowReader/token`` has those of rows; valid until the next call.
    package var token: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: memory[..<tokenBytes])
    }

    /// Reads the next token; false at the end of the list.
    ///
    /// *Errors*: `.refused` with the line that holds none; `.stopped` if reading fails;
    /// `.interrupted` after a cancellation.
    package func next() throws(RecipientsError) -> Bool {
        if nextRecord == chunk.recordCount {
            nextRecord = 0
            guard try reader.next(into: chunk) else {
                if reader.isAtEnd { return false }
                throw RecipientsError(
                    .interrupted, file: reader.input.name, message: "interrupted",
                    remedy: "start the campaign again")
            }
        }
        let index = nextRecord
        nextRecord += 1
        let problem = chunk.records[index].problemCode
        guard problem == 0 else {
            throw broken(index, 0, FinalCode(rawValue: problem).reason)
        }
        try readToken(of: chunk.record(at: index), index)
        return true
    }

    private func readToken(
        of record: UnsafeRawBufferPointer, _ index: Int
    ) throws(RecipientsError) {
        var text: UnsafeRawBufferPointer? = record
        if let csv {
            if let problem = csv.parse(record) {
                throw broken(
                    index, problem.lineDelta, problem.detail ?? problem.code.reason,
                    column: problem.column)
            }
            text = csv.field(tokenColumn)
        } else if !reader.isTokenList {
            do throws(JSONError) { text = try jsonToken(of: record) } catch {
                throw broken(
                    index, 0, "this is no JSON object: \(error.fault.text)", column: error.column)
            }
        }
        // What Peal writes in front of cells that a spreadsheet would take for formulas.
        if let found = text, found.first == UInt8(ascii: "'") {
            text = UnsafeRawBufferPointer(rebasing: found.dropFirst())
        }
        guard let text, let length = DeviceToken.normalise(trimmed(text), into: memory) else {
            throw broken(index, 0, "there is no device token in hexadecimal")
        }
        tokenBytes = length
    }

    /// Tabs and the carriage return of a line end: the others are dropped with the blanks inside.
    private func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var end = text.count
        while end > 0, text[end - 1] == 0x0D || text[end - 1] == 0x09 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: text[..<end])
    }

    /// The string of the key `token`; nil when there is none.
    private func jsonToken(
        of record: UnsafeRawBufferPointer
    ) throws(JSONError) -> UnsafeRawBufferPointer? {
        var scanner = JSONScanner(record)
        let first = try scanner.next()
        guard first == .beginObject else {
            _ = try scanner.finishValue(first)
            return nil
        }
        var found: UnsafeRawBufferPointer?
        while try scanner.next() != .endObject {
            let isToken = scanner.text.equals(Self.key)
            let value = try scanner.next()
            if isToken, value == .string {
                let length = scanner.text.decode(into: scratch)
                found = UnsafeRawBufferPointer(rebasing: scratch[..<length])
            }
            _ = try scanner.finishValue(value)
        }
        _ = try scanner.next()
        return found
    }

    private func broken(
        _ index: Int, _ lineDelta: Int, _ message: String, column: Int? = nil
    ) -> RecipientsError {
        RecipientsError(
            .refused, file: reader.input.name, line: chunk.line(at: index) + UInt64(lineDelta),
            column: column, message: message,
            remedy: "correct the line or remove it, so that nobody on the list is written to")
    }

    private static let keyText: StaticString = "token"
    private static var key: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: keyText.utf8Start, count: keyText.utf8CodeUnitCount)
    }
}

/// One thread, one reader.
@available(*, unavailable)
extension SuppressionListReader: Sendable {}
