internal import APNS
internal import JSON

/// Makes a `CSVHeader` of a file's first record, or says why that record is no header.
struct CSVHeaderParser {
    let file: String
    /// Physical line on which the record starts.
    let line: UInt64
    let delimiter: UInt8

    /// In the order in which they win when there are equally many.
    private static let candidates: [UInt8] = [",", ";", "\t", "|"].map { UInt8(ascii: $0) }

    /// The delimiter of the record at the front: the candidate that stands there most often outside
    /// quotes; a comma when there is none. nil when the record's end is not there yet.
    static func delimiter(of front: UnsafeRawBufferPointer, isWhole: Bool) -> UInt8? {
        var counts = [Int](repeating: 0, count: candidates.count)
        var isQuoted = false
        var canOpen = true
        let window = min(front.count, RecordLimits.windowBytes)
        var isComplete = isWhole || window == RecordLimits.windowBytes
        for byte in front[..<window] {
            if byte == UInt8(ascii: "\"") {
                // A doubled quote closes and opens again; that comes to the same here.
                let closes = isQuoted
                isQuoted = !isQuoted && canOpen
                canOpen = closes
                continue
            }
            canOpen = false
            if isQuoted { continue }
            if byte == UInt8(ascii: "\n") {
                isComplete = true
                break
            }
            if let index = candidates.firstIndex(of: byte) {
                counts[index] += 1
                canOpen = true
            }
        }
        guard isComplete else { return nil }
        let most = counts.max() ?? 0
        return most == 0 ? candidates[0] : candidates[counts.firstIndex(of: most) ?? 0]
    }

    /// The header that the record (without its line end) holds.
    func parse(_ record: UnsafeRawBufferPointer) throws(RecipientsError) -> CSVHeader {
        try checkText(record)
        let scratch = UnsafeMutableRawBufferPointer.allocate(
            byteCount: record.count, alignment: 1)
        defer { scratch.deallocate() }
        var cursor = CSVFieldCursor(record: record, delimiter: delimiter, scratch: scratch)
        var names: [String] = []
        var known: Set<String> = []
        while true {
            let start = cursor.index
            switch cursor.next() {
            case .field(let field):
                let name = try self.name(field, at: start, in: record)
                guard known.insert(name).inserted else {
                    throw refusal(
                        at: start, in: record, "the column name \"\(name)\" is there twice",
                        remedy: "give every column its own name")
                }
                names.append(name)
            case .end:
                return CSVHeader(delimiter: delimiter, names: names, line: line)
            case .textAfterQuote(let at):
                throw refusal(
                    at: at, in: record, "there is text after the quote that ends a column name",
                    remedy: "remove it, or double the quotes inside the name")
            case .unclosedQuote(let at):
                throw refusal(
                    at: at, in: record, "the quote that opens here is not closed",
                    remedy: "close it")
            }
        }
    }

    private func name(
        _ field: UnsafeRawBufferPointer, at start: Int, in record: UnsafeRawBufferPointer
    ) throws(RecipientsError) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let trimmed = field.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        if trimmed.isEmpty {
            throw refusal(
                at: start, in: record, "a column has no name",
                remedy: "name it, or remove the column (look for a delimiter too many)")
        }
        if Self.looksLikeDeviceToken(field) {
            throw refusal(
                at: start, in: record, "the header row is missing: this is a device token",
                remedy: "add `\(exampleHeader(record))` as the first line")
        }
        return String(decoding: Array(trimmed), as: UTF8.self)
    }

    /// As `token,…`, with this file's delimiter; a single column has no more to name.
    private func exampleHeader(_ record: UnsafeRawBufferPointer) -> String {
        record.contains(delimiter) ? "token\(Character(Unicode.Scalar(delimiter)))…" : "token"
    }

    /// No column is called by 32 or more hexadecimal digits.
    static func looksLikeDeviceToken(_ field: UnsafeRawBufferPointer) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: DeviceToken.hexCharactersMax, alignment: 1) {
            DeviceToken.normalise(field, into: $0) != nil
        }
    }

    private func checkText(_ record: UnsafeRawBufferPointer) throws(RecipientsError) {
        if let at = record.firstIndex(of: 0) {
            throw refusal(
                at: at, in: record, "there is a NUL byte: this is UTF-16 or no text at all",
                remedy: "if it is UTF-16, convert it: iconv -f UTF-16LE -t UTF-8")
        }
        if let at = UTF8Check.firstFault(in: record) {
            throw refusal(
                at: at, in: record, "the header is not UTF-8",
                remedy: "convert the file, such as: iconv -f WINDOWS-1252 -t UTF-8")
        }
        if record.first == UInt8(ascii: "{") {
            throw refusal(
                at: 0, in: record, "this looks like JSON lines, not like the header of a CSV",
                remedy: "name the file .ndjson")
        }
    }
}

// What is wrong with it.
extension CSVHeaderParser {
    func missing() -> RecipientsError {
        RecipientsError(
            .refused, file: file, message: "it holds nothing but blank lines",
            remedy: "begin it with a header row, such as `token,locale`")
    }

    func tooLong() -> RecipientsError {
        RecipientsError(
            .refused, file: file, line: line,
            message: "the header row is longer than \(RecordLimits.recordBytesMax) bytes",
            remedy: "check that the file is a CSV with line ends LF or CR LF")
    }

    func runaway() -> RecipientsError {
        RecipientsError(
            .refused, file: file, line: line, message: "a quote in the header row is not closed",
            remedy: "close it, or double it if it is part of a name")
    }

    private func refusal(
        at index: Int, in record: UnsafeRawBufferPointer, _ message: String, remedy: String
    ) -> RecipientsError {
        let place = TextPlace(of: index, in: record)
        return RecipientsError(
            .refused, file: file, line: line + UInt64(place.lineDelta), column: place.column,
            message: message, remedy: remedy)
    }
}
