internal import APNS
internal import Glibc

/// Finds where records end; the same for every way of cutting the input into pieces, because a
/// decision looks at nothing but the bytes from the record's start to the end of its window
/// (`RecordLimits.windowBytes`) and at whether the input ends there.
///
/// A CSV record ends at the first line end outside quotes, an NDJSON record at its line end. A NUL
/// byte is a byte like any other here; the parsers refuse it.
struct RecordSplitter {
    let format: RecipientFormat
    let delimiter: UInt8  // CSV only

    /// What stands at the front of the bytes.
    enum Piece {
        /// More bytes are needed to tell.
        case unfinished
        /// A line without a record, of so many bytes with its line end.
        case blank(bytes: Int)
        case record(Record)
        /// A physical line past the limit, whose end is not known.
        case endlessLine
    }

    struct Record {
        /// Bytes without the line end.
        var bytes: Int
        /// Bytes with the line end.
        var wholeBytes: Int
        /// Physical lines.
        var lines: Int
        var problem: FinalCode?
    }

    /// Looks at the front of `bytes`, which are not empty. `isWhole`: the input ends with them.
    @inline(__always)
    func first(of bytes: UnsafeRawBufferPointer, isWhole: Bool) -> Piece {
        let window = min(bytes.count, RecordLimits.windowBytes)
        guard let line = firstLine(of: bytes, in: window, isWhole: isWhole) else {
            return window == RecordLimits.windowBytes ? .endlessLine : .unfinished
        }
        guard line.bytes <= RecordLimits.recordBytesMax else { return .endlessLine }
        if isBlank(bytes, line.bytes) { return .blank(bytes: line.wholeBytes) }
        if format == .csv, memchr(bytes.baseAddress!, Self.quote, line.bytes) != nil {
            return quotedRecord(bytes, firstLine: line, isWhole: isWhole)
        }
        return .record(line)
    }

    private static let quote = Int32(UInt8(ascii: "\""))
    private static let lineFeed = Int32(UInt8(ascii: "\n"))

    /// The first physical line; nil if its end does not show in the first `window` bytes.
    @inline(__always)
    private func firstLine(
        of bytes: UnsafeRawBufferPointer, in window: Int, isWhole: Bool
    ) -> Record? {
        let start = bytes.baseAddress!
        if let found = memchr(start, Self.lineFeed, window) {
            let end = UnsafeRawPointer(found) - UnsafeRawPointer(start)
            return Record(
                bytes: Self.trimmed(bytes, end), wholeBytes: end + 1, lines: 1, problem: nil)
        }
        guard isWhole, window == bytes.count else { return nil }
        return Record(
            bytes: Self.trimmed(bytes, window), wholeBytes: window, lines: 1, problem: nil)
    }

    /// Bytes of a line that ends at `end`, without the CR of CR LF (or of a file cut within one).
    @inline(__always)
    private static func trimmed(_ bytes: UnsafeRawBufferPointer, _ end: Int) -> Int {
        end > 0 && bytes[end - 1] == UInt8(ascii: "\r") ? end - 1 : end
    }

    /// An empty line; for NDJSON also one of blanks, which cannot be meant as an object. (For CSV,
    /// a line of blanks is a field with blanks in it.)
    @inline(__always)
    private func isBlank(_ bytes: UnsafeRawBufferPointer, _ count: Int) -> Bool {
        if count == 0 { return true }
        guard format == .ndjson, bytes[0] != UInt8(ascii: "{") else { return false }
        return bytes[..<count].allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    }
}

// Records with quotes.
extension RecordSplitter {
    private enum Scan {
        /// The record's content ends here (index of the line end, or of the end of the input).
        case ends(Int)
        /// Text after a closing quote at this index.
        case textAfterQuote(Int)
        /// The window or the bytes ended first.
        case runsOut
    }

    private func quotedRecord(
        _ bytes: UnsafeRawBufferPointer, firstLine: Record, isWhole: Bool
    ) -> Piece {
        let window = min(bytes.count, RecordLimits.windowBytes)
        switch scan(UnsafeRawBufferPointer(rebasing: bytes[..<window]), isWhole: isWhole) {
        case .ends(let end):
            let content = Self.trimmed(bytes, end)
            if content > RecordLimits.recordBytesMax { return failed(firstLine, .recordTooLong) }
            let whole = min(end + 1, bytes.count)
            return .record(
                Record(
                    bytes: content, wholeBytes: whole,
                    lines: firstLine.wholeBytes == whole ? 1 : Self.lines(bytes, end),
                    problem: nil))
        case .textAfterQuote(let at):
            // In one line it is the row parser's to refuse, with its column.
            return at < firstLine.wholeBytes
                ? .record(firstLine) : failed(firstLine, .runawayQuote)
        case .runsOut:
            if window == RecordLimits.windowBytes { return failed(firstLine, .recordTooLong) }
            guard isWhole else { return .unfinished }
            // The quote is never closed. If there is but one line, the row parser says so.
            return firstLine.wholeBytes == bytes.count
                ? .record(firstLine) : failed(firstLine, .runawayQuote)
        }
    }

    /// One invalid row; reading goes on after its first physical line.
    private func failed(_ firstLine: Record, _ code: FinalCode) -> Piece {
        var record = firstLine
        record.problem = code
        return .record(record)
    }

    private func scan(_ window: UnsafeRawBufferPointer, isWhole: Bool) -> Scan {
        let isEnd = isWhole && window.count < RecordLimits.windowBytes
        var at = 0  // the start of a field
        while at < window.count {
            guard window[at] == UInt8(ascii: "\"") else {
                // An unquoted field ends at the delimiter or the line feed, whichever is first.
                while at < window.count, window[at] != delimiter {
                    if window[at] == UInt8(ascii: "\n") { return .ends(at) }
                    at += 1
                }
                if at == window.count { return isEnd ? .ends(at) : .runsOut }
                at += 1
                continue
            }
            guard let after = closeQuote(window, from: at + 1) else { return .runsOut }
            if after == window.count { return isEnd ? .ends(after) : .runsOut }
            switch window[after] {
            case delimiter: at = after + 1
            case UInt8(ascii: "\n"): return .ends(after)
            case UInt8(ascii: "\r"):
                if after + 1 == window.count { return isEnd ? .ends(after + 1) : .runsOut }
                return window[after + 1] == UInt8(ascii: "\n")
                    ? .ends(after + 1) : .textAfterQuote(after)
            default: return .textAfterQuote(after)
            }
        }
        return isEnd ? .ends(at) : .runsOut
    }

    /// The index after the quote that closes a field whose text starts at `from`; nil if none does.
    private func closeQuote(_ window: UnsafeRawBufferPointer, from: Int) -> Int? {
        let start = UnsafeRawPointer(window.baseAddress!)
        var from = from
        while from < window.count,
            let found = memchr(start + from, Self.quote, window.count - from)
        {
            let after = UnsafeRawPointer(found) - start + 1
            guard after < window.count, window[after] == UInt8(ascii: "\"") else { return after }
            from = after + 1
        }
        return nil
    }

    /// Physical lines of a record whose content ends at `end`.
    private static func lines(_ bytes: UnsafeRawBufferPointer, _ end: Int) -> Int {
        1 + bytes[..<end].reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    }
}
