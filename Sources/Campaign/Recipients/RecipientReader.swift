internal import APNS
internal import Glibc

/// Reads recipients from front to end and cuts them into chunks of whole records.
///
/// Row numbers count records from 1; a CSV header is no row, blank lines are skipped. How the input
/// arrives and how it is cut never changes a number. A record past 64 KiB, or one of several lines
/// with text after a closing quote, is one invalid row (`RecordEntry.problemCode`), and reading
/// goes on after its first physical line.
///
/// *Thread*: reader thread only; calls block for as long as the disk or the pipe does.
/// *Limits*: some 320 KiB of memory, whatever the input holds.
package final class RecipientReader {
    /// Bytes asked of the system at once: enough that the call itself does not show.
    private static let readBytesDefault = 262_144
    /// How long whole records wait for more to come through a slow pipe.
    private static let handOutAfterNs: UInt64 = 50_000_000

    /// How the input holds its records: as it was said to, or else as its first character says.
    package private(set) var format: RecipientFormat
    /// Delimiter and names of a CSV; nil for NDJSON.
    package private(set) var header: CSVHeader?
    /// Whether every record is a device token and nothing else; then ``format`` is NDJSON, whose
    /// lines end as these do.
    private(set) var isTokenList = false

    let input: RecipientInput
    /// The copy of the input; syncing it is for any thread.
    package let spool: SpoolFile?
    /// Whether the input may end in the middle of a record, which then is left alone.
    private let mayBeTorn: Bool
    private let block: ByteBlock
    private let readBytes: Int
    private var splitter: RecordSplitter
    // block[start..<end] is read and not consumed, block[spooledTo..<start] consumed, not spooled.
    private var start = 0
    private var end = 0
    private var spooledTo = 0
    private var inputEnded = false
    /// Where block[start] stands in the input.
    private var position: UInt64 = 0
    private var nextRow: UInt64 = 1
    private var nextLine: UInt64 = 1
    /// When the chunk that is being filled is handed out, full or not; nil until it has to wait.
    private var handOutNs: UInt64?
    private var failure: RecipientsError?

    /// Opens the input, checks what it is, and reads the header of a CSV.
    ///
    /// `path`: a file, or "-" for standard input, which is `descriptor` or else descriptor 0.
    /// `format`: nil lets the first character decide, for an input whose name says nothing.
    /// `spool`: a file that gets every byte of the input before the records in it are handed out;
    /// nil for none. `mayBeTorn`: the input is such a file, whose writer was killed: what follows
    /// its last whole record is none, and ``isAtEnd`` stays false. `takesTokenLists`: an input
    /// that begins with a device token needs no header. `readBytes`: the most to read at once.
    /// *Ownership*: `descriptor` stays the caller's. *Errors*: `.refused`; `.stopped` if reading or
    /// spooling fails; `.interrupted` after a cancellation.
    package init(
        path: String, descriptor: Int32? = nil, format: RecipientFormat?, spool: SpoolFile? = nil,
        cancellation: ReadCancellation = ReadCancellation(), mayBeTorn: Bool = false,
        takesTokenLists: Bool = false, readBytes: Int? = nil
    ) throws(RecipientsError) {
        self.readBytes = max(1, readBytes ?? Self.readBytesDefault)
        input = try RecipientInput(
            path: path, descriptor: descriptor, cancellation: cancellation)
        block = ByteBlock(count: RecordLimits.windowBytes + self.readBytes)
        self.format = format ?? .csv
        splitter = RecordSplitter(format: self.format, delimiter: UInt8(ascii: ","))
        self.spool = spool
        self.mayBeTorn = mayBeTorn
        try skipSignature()
        if format == nil { detectFormat() }
        if takesTokenLists, self.format == .csv { try detectTokenList() }
        if self.format == .csv { try readHeader() }
        try spoolConsumed()
    }

    /// Size of a regular file in bytes; nil where it cannot be known.
    package var bytesTotal: UInt64? { input.bytesTotal }
    /// Bytes of the input that were consumed: the header and all chunks so far.
    package var bytesRead: UInt64 { position }
    /// Whether the input ended, and all of its records have been handed out.
    package var isAtEnd: Bool { inputEnded && start == end && !mayBeTorn }
    /// Whether the input ended where nobody knows whether more was to come.
    package var isAtTornEnd: Bool { inputEnded && mayBeTorn }

    /// Fills the chunk with the next whole records; false when there are none: at the end of the
    /// input, or after a cancellation (`isAtEnd` tells which).
    ///
    /// Records that came through a pipe are handed out 50 ms later, even if the chunk is not full.
    /// With a spool, the bytes of the chunk are in it. `recordedBytes`: on a later reading, the
    /// `byteCount` that the chunk had the first time; reading stops there, so that chunks cut by
    /// the speed of a pipe come out the same. If the chunk comes out different, the input is.
    /// *Errors*: `.stopped`; nothing of the chunk may be used, and later calls throw the same.
    package func next(
        into chunk: RecordChunk, recordedBytes: UInt64? = nil
    ) throws(RecipientsError) -> Bool {
        if let failure { throw failure }
        chunk.begin(row: nextRow, offset: position)
        if input.isCancelled { return false }
        do {
            return try fill(chunk, until: recordedBytes.map { position + $0 } ?? .max)
        } catch {
            chunk.begin(row: nextRow, offset: position)
            failure = error
            throw error
        }
    }
}

// One chunk.
extension RecipientReader {
    private func fill(_ chunk: RecordChunk, until limit: UInt64) throws(RecipientsError) -> Bool {
        var kept = start  // block[kept..<start] belongs to the chunk and is not copied yet
        handOutNs = nil
        cutting: while !chunk.isFull(with: start - kept), position < limit {
            switch firstPiece() {
            case .record(let record):
                chunk.append(
                    ahead: start - kept, bytes: record.bytes, line: nextLine,
                    problem: record.problem)
                consume(record.wholeBytes, lines: record.lines)
            case .blank(let bytes):
                consume(bytes, lines: 1)
                if chunk.recordCount == 0 { kept = start }
            case .endlessLine:
                if chunk.recordCount > 0 { break cutting }  // a chunk of its own
                guard try takeEndlessLine(chunk) else { return cancelled(chunk) }
                kept = start
                break cutting
            case .unfinished:
                if inputEnded { break cutting }
                chunk.store(UnsafeRawBufferPointer(rebasing: block.bytes[kept..<start]))
                let answer = try readMore(waitsLong: chunk.recordCount == 0)
                kept = start
                if answer == .cancelled { return cancelled(chunk) }
                if answer == .timedOut { break cutting }
            }
        }
        chunk.store(UnsafeRawBufferPointer(rebasing: block.bytes[kept..<start]))
        chunk.end(offset: position)
        try spoolConsumed()
        if isAtEnd { try spool?.endInput() }
        nextRow += UInt64(chunk.recordCount)
        return chunk.recordCount > 0
    }

    @inline(__always)
    private func firstPiece() -> RecordSplitter.Piece {
        start == end
            ? .unfinished
            : splitter.first(of: block[start..<end], isWhole: inputEnded && !mayBeTorn)
    }

    /// Puts the front of a line past the limit into the chunk and skips the rest; false after a
    /// cancellation.
    private func takeEndlessLine(_ chunk: RecordChunk) throws(RecipientsError) -> Bool {
        let keptBytes = RecordLimits.recordBytesMax
        chunk.append(ahead: 0, bytes: keptBytes, line: nextLine, problem: .recordTooLong)
        chunk.store(block[start..<start + keptBytes])
        return try skipLine()
    }

    /// Skips to the start of the next physical line; false after a cancellation.
    private func skipLine() throws(RecipientsError) -> Bool {
        while true {
            if let found = memchr(block.bytes.baseAddress! + start, 0x0A, end - start) {
                let lineEnd = UnsafeRawPointer(found) - UnsafeRawPointer(block.bytes.baseAddress!)
                consume(lineEnd + 1 - start, lines: 1)
                return true
            }
            consume(end - start, lines: 0)
            if inputEnded { return true }
            if try readMore(waitsLong: true) == .cancelled { return false }
        }
    }

    /// What was read for this chunk was not handed out, and is not: the run is over.
    private func cancelled(_ chunk: RecordChunk) -> Bool {
        chunk.begin(row: nextRow, offset: position)
        return false
    }

    @inline(__always)
    private func consume(_ bytes: Int, lines: Int) {
        start += bytes
        position += UInt64(bytes)
        nextLine += UInt64(lines)
    }
}

// Bytes.
extension RecipientReader {
    /// Reads something, or notes the end of the input. Waits for ever, or else until `handOutNs`
    /// (`.timedOut`), which begins to run with the chunk's first wait.
    private func readMore(waitsLong: Bool) throws(RecipientsError) -> RecipientInput.Wait {
        try makeRoom()
        while true {
            let timeoutMs = waitsLong ? -1 : restMs()
            let answer = try input.wait(atMostMs: timeoutMs)
            if answer == .cancelled { return .cancelled }
            if answer == .timedOut {
                if timeoutMs == 0 { return .timedOut }
                continue
            }
            let room = block.bytes[end..<min(end + readBytes, block.bytes.count)]
            guard let count = try input.read(into: .init(rebasing: room)) else { continue }
            end += count
            inputEnded = count == 0
            return .ready
        }
    }

    /// Moves what is not consumed to the front of the block.
    private func makeRoom() throws(RecipientsError) {
        try spoolConsumed()
        let base = block.bytes.baseAddress!
        memmove(base, base + start, end - start)
        end -= start
        start = 0
        spooledTo = 0
    }

    private func spoolConsumed() throws(RecipientsError) {
        if let spool, spooledTo < start { try spool.append(block[spooledTo..<start]) }
        spooledTo = start
    }

    /// Milliseconds until `handOutNs`; rounded up, so that the last one is not spent spinning.
    private func restMs() -> Int32 {
        if input.bytesTotal != nil { return 0 }  // a file is always ready
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let nowNs = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        let untilNs = handOutNs ?? nowNs + Self.handOutAfterNs
        handOutNs = untilNs
        return untilNs > nowNs ? Int32((untilNs - nowNs + 999_999) / 1_000_000) : 0
    }
}

// The front of the input.
extension RecipientReader {
    /// Refuses what is no text, and skips a byte order mark.
    private func skipSignature() throws(RecipientsError) {
        while end < FileSignature.bytesMax, !inputEnded { try readFront() }
        if end == 0 {
            throw RecipientsError(
                .refused, file: input.name, message: "it is empty",
                remedy: "check the program that should have written it")
        }
        if let refusal = FileSignature.refusal(of: block[0..<end], file: input.name) {
            throw refusal
        }
        consume(FileSignature.markBytes(of: block[0..<end]), lines: 0)
    }

    /// An input without a name is NDJSON when it begins with an object: no CSV header begins so.
    private func detectFormat() {
        let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        let first = block[start..<end].first { !blanks.contains($0) }
        guard first == UInt8(ascii: "{") else { return }
        format = .ndjson
        splitter = RecordSplitter(format: .ndjson, delimiter: UInt8(ascii: ","))
    }

    /// An input whose first line is a device token is a list of them.
    private func detectTokenList() throws(RecipientsError) {
        let isBlank = { (byte: UInt8) in byte == 0x20 || 0x09...0x0D ~= byte }
        while true {
            let text = UnsafeRawBufferPointer(
                rebasing: block[start..<end].drop(while: isBlank))
            let line = text.prefix { $0 != 0x0A && $0 != 0x0D }
            if line.count == text.count, !inputEnded, end - start < RecordLimits.windowBytes {
                try readFront()
                continue
            }
            guard CSVHeaderParser.looksLikeDeviceToken(.init(rebasing: line)) else { return }
            isTokenList = true
            format = .ndjson
            splitter = RecordSplitter(format: .ndjson, delimiter: UInt8(ascii: ","))
            return
        }
    }

    private func readHeader() throws(RecipientsError) {
        while header == nil {
            let front = block[start..<end]
            guard let delimiter = CSVHeaderParser.delimiter(of: front, isWhole: inputEnded) else {
                try readFront()
                continue
            }
            splitter = RecordSplitter(format: .csv, delimiter: delimiter)
            let parser = CSVHeaderParser(file: input.name, line: nextLine, delimiter: delimiter)
            switch firstPiece() {
            case .unfinished:
                if inputEnded { throw parser.missing() }
                try readFront()
            case .blank(let bytes): consume(bytes, lines: 1)
            case .endlessLine: throw parser.tooLong()
            case .record(let record):
                if record.problem != nil { throw parser.runaway() }
                header = try parser.parse(block[start..<start + record.bytes])
                consume(record.wholeBytes, lines: record.lines)
            }
        }
    }

    private func readFront() throws(RecipientsError) {
        if try readMore(waitsLong: true) == .cancelled {
            throw RecipientsError(
                .interrupted, file: input.name,
                message: "interrupted while waiting for the first rows",
                remedy: "start the campaign again")
        }
    }
}

/// One thread, one reader: the compiler keeps it so.
@available(*, unavailable)
extension RecipientReader: Sendable {}

/// Fixed memory with an owner, so that an `init` that throws gives it back.
private final class ByteBlock {
    let bytes: UnsafeMutableRawBufferPointer  // owned

    init(count: Int) { bytes = .allocate(byteCount: count, alignment: 16) }

    deinit { bytes.deallocate() }

    @inline(__always)
    subscript(range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[range])
    }
}
