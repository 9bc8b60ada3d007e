internal import APNS

/// One record of a chunk.
package struct RecordEntry: Sendable {
    /// Where the record starts in the chunk's `bytes`.
    package let offset: UInt32
    /// Bytes of the record without its line end. For a record with a problem, of its first physical
    /// line, of which 64 KiB at most are kept.
    package let bytes: UInt32
    /// Physical lines from the chunk's `firstLine` to the record's first line.
    package let lineDelta: UInt32
    /// Raw value of the `FinalCode` that the reader decided (RecordTooLong, RunawayQuote); 0 =
    /// none, the record is to be parsed.
    package let problemCode: UInt8
}

/// Whole records cut from the input, with their index: what the reader thread hands to a worker.
///
/// Memory is allocated once, in `init`; a chunk is filled again and again.
/// *Thread*: one owner at a time; whoever holds it (reader, queue, worker) alone touches it.
/// `@unchecked Sendable`: the bounded queue hands the only reference in use from thread to thread
/// under its lock.
package final class RecordChunk: @unchecked Sendable {
    /// Bytes after which a chunk is full. 256 KiB: some 2,000 rows, so that what a chunk costs (a
    /// queue operation, a line in the list of chunks) does not show, and 16 of them still are
    /// little.
    package static let targetBytesDefault = 262_144

    /// Row number of the first record; the others follow without gaps. 1-based.
    package var firstRow: UInt64 { startRow }
    /// Physical line of the first record. 1-based.
    package var firstLine: UInt64 { startLine }
    /// Where the chunk starts in the input: chunks follow one another without gaps.
    package private(set) var offset: UInt64 = 0
    /// Bytes of the input that the chunk covers: records with their line ends, skipped blank lines,
    /// and the whole of a line that is too long. The next chunk starts at `offset + byteCount`.
    package private(set) var byteCount: UInt64 = 0
    /// Number of records.
    package var recordCount: Int { count }
    // Not the stored properties themselves for others: one that other modules see costs a dynamic
    // exclusivity check at each use, here for each record.
    private var startRow: UInt64 = 1
    private var startLine: UInt64 = 1
    private var count = 0

    let targetBytes: Int
    /// Records after which a chunk is full: 32 bytes is below any row with a device token in it.
    let recordCountMax: Int
    private(set) var storedBytes = 0
    private let storage: UnsafeMutableRawBufferPointer  // owned
    private let entries: UnsafeMutablePointer<RecordEntry>  // owned, recordCountMax of them

    /// *Units*: `targetBytes` is what a full chunk holds; the last record may pass it by one
    /// record.
    package init(targetBytes: Int = RecordChunk.targetBytesDefault) {
        precondition(targetBytes > 0 && targetBytes <= 1 << 30)
        self.targetBytes = targetBytes
        recordCountMax = max(1, targetBytes / 32)
        storage = .allocate(byteCount: targetBytes + RecordLimits.windowBytes, alignment: 16)
        entries = .allocate(capacity: recordCountMax)
    }

    deinit {
        storage.deallocate()
        entries.deallocate()
    }

    /// The kept bytes. *Ownership*: valid until the chunk is filled again.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: storage[..<storedBytes])
    }

    /// The index of the records. *Ownership*: valid until the chunk is filled again.
    package var records: UnsafeBufferPointer<RecordEntry> {
        UnsafeBufferPointer(start: entries, count: recordCount)
    }

    /// The bytes of the record with this index (0-based). *Ownership*: as `bytes`.
    package func record(at index: Int) -> UnsafeRawBufferPointer {
        precondition(index >= 0 && index < count)
        let entry = entries[index]
        let start = Int(entry.offset)
        return UnsafeRawBufferPointer(rebasing: storage[start..<start + Int(entry.bytes)])
    }

    /// The physical line (1-based) on which the record with this index (0-based) starts.
    package func line(at index: Int) -> UInt64 {
        precondition(index >= 0 && index < recordCount)
        return startLine + UInt64(entries[index].lineDelta)
    }

    /// A 64-bit checksum of the chunk, to notice on a later reading that the file is another one.
    ///
    /// XXH64 of `bytes`, seeded with `byteCount`. It covers all that is ever sent, but of blank
    /// lines at the chunk's start and of the text beyond 64 KiB of a line that is too long, the
    /// length alone. It stands in run folders, so it never changes.
    package func checksum() -> UInt64 {
        XXHash64.checksum(bytes, seed: byteCount)
    }
}

extension RecordChunk {
    /// Whether the chunk is full, with so many bytes that are to be stored yet.
    @inline(__always)
    func isFull(with pendingBytes: Int) -> Bool {
        storedBytes + pendingBytes >= targetBytes || count == recordCountMax
    }

    func begin(row: UInt64, offset: UInt64) {
        startRow = row
        startLine = 1
        self.offset = offset
        byteCount = 0
        count = 0
        storedBytes = 0
    }

    /// Notes a record that starts `ahead` bytes after the bytes kept so far.
    func append(ahead: Int, bytes: Int, line: UInt64, problem: FinalCode?) {
        if count == 0 { startLine = line }
        entries[count] = RecordEntry(
            offset: UInt32(storedBytes + ahead), bytes: UInt32(bytes),
            lineDelta: UInt32(line - startLine), problemCode: problem?.rawValue ?? 0)
        count += 1
    }

    /// Keeps bytes of the input.
    func store(_ input: UnsafeRawBufferPointer) {
        guard let from = input.baseAddress else { return }
        (storage.baseAddress! + storedBytes).copyMemory(from: from, byteCount: input.count)
        storedBytes += input.count
    }

    func end(offset end: UInt64) { byteCount = end - offset }
}
