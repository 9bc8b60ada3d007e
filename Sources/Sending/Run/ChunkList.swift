internal import Campaign

/// A line of the list of chunks.
struct ChunkEntry: Sendable, Equatable {
    var offset: UInt64
    var bytes: UInt64
    var firstRow: UInt64
    var rows: UInt64
    var checksum: UInt64

    var lastRow: UInt64 { firstRow + rows - 1 }

    init(_ chunk: RecordChunk) {
        offset = chunk.offset
        bytes = chunk.byteCount
        firstRow = chunk.firstRow
        rows = UInt64(chunk.recordCount)
        checksum = chunk.checksum()
    }

    /// Reads what ``text`` wrote; nil for anything else.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: " ")
        guard parts.count == 5, let offset = UInt64(parts[0]), let bytes = UInt64(parts[1]),
            let firstRow = UInt64(parts[2]), let rows = UInt64(parts[3]), rows > 0,
            let checksum = UInt64(parts[4], radix: 16)
        else { return nil }
        self.offset = offset
        self.bytes = bytes
        self.firstRow = firstRow
        self.rows = rows
        self.checksum = checksum
    }

    var text: String {
        let digits = String(checksum, radix: 16)
        let padded = String(repeating: "0", count: 16 - digits.utf8.count) + digits
        return "\(offset) \(bytes) \(firstRow) \(rows) \(padded)"
    }
}

/// The append-only list of the chunks that were handed out, for reading the same rows again.
///
/// One line of text per chunk: offset, bytes, first row, rows, and the checksum of its bytes as 16
/// hex digits, separated by blanks. Each line is written before the chunk's first row is sent. A
/// last line `end` says that no row comes after them.
///
/// - Thread: the reader thread's.
final class ChunkList {
    private static let end = "end"
    let file: AppendFile

    init(path: String) throws(SendError) {
        file = try AppendFile(path: path)
    }

    func append(_ entry: ChunkEntry) throws(SendError) {
        try file.append(Array("\(entry.text)\n".utf8))
    }

    func appendEnd() throws(SendError) {
        try file.append(Array("\(Self.end)\n".utf8))
    }

    /// Reads a list that was cut at its last whole line.
    static func read(
        _ path: String
    ) throws(SendError) -> (chunks: [ChunkEntry], inputHasEnded: Bool) {
        let text = String(decoding: try SmallFile.read(path), as: UTF8.self)
        var chunks: [ChunkEntry] = []
        var hasEnded = false
        for (index, line) in text.split(separator: "\n").enumerated() {
            if line == end {
                hasEnded = true
                continue
            }
            let row = chunks.last.map { $0.lastRow + 1 } ?? 1
            guard !hasEnded, let entry = ChunkEntry(line), entry.firstRow == row else {
                throw SendError(
                    .refused,
                    """
                    \(path):\(index + 1): it does not follow from the line before it; \
                    restore the run folder, or start a new run
                    """)
            }
            chunks.append(entry)
        }
        return (chunks, hasEnded)
    }
}
