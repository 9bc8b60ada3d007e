import APNS
import Campaign
import TestSupport
import Testing

/// How the input is cut into reads and chunks never changes a row, a line, or a problem: a row has
/// its number before anything is sent, and keeps it (lesson B92).
@Suite(.timeLimit(.minutes(5)))
struct RecipientReaderCuttingTests {
    @Test(arguments: 0..<60)
    func smallFilesReadTheSameInPiecesOfAnySize(_ round: UInt64) throws {
        try check(round, sizes: [1, 2, 3, 7, 31, 1000], longRecords: false)
    }

    @Test(arguments: 0..<12)
    func longRecordsReadTheSameInPiecesOfAnySize(_ round: UInt64) throws {
        try check(round &+ 1_000_000, sizes: [1021, 65_536, 65_539, 300_000], longRecords: true)
    }

    @Test(arguments: 0..<8)
    func aPipeInRandomPiecesReadsTheSame(_ round: UInt64) throws {
        var generator = SeededGenerator(seed: testSeed &+ 2_000_000 &+ round)
        let content = randomFile(&generator, longRecords: round > 5)
        let whole = try readRows(content)
        let pipe = TestPipe()
        let pieces = randomPieces(content, &generator)
        let writer = TestThread {
            for piece in pieces { pipe.send(piece) }
            pipe.finish()
        }
        let reader = try RecipientReader(path: "-", descriptor: pipe.readEnd, format: .csv)
        #expect(try reader.readAll(targetBytes: 500).rows == whole)
        writer.join()
    }

    @Test(arguments: 0..<6)
    func aLaterReadingWithTheRecordedSizesBringsTheSameChunks(_ round: UInt64) throws {
        var generator = SeededGenerator(seed: testSeed &+ 3_000_000 &+ round)
        let folder = TemporaryDirectory()
        let content = randomFile(&generator, longRecords: round > 3)
        let path = folder.write(content, to: "r.csv")
        // The first reading has chunks of any size, as a slow pipe makes them.
        let first = try RecipientReader(path: path, format: .csv)
        let chunks = try first.readAll(targetBytes: Int.random(in: 1...300, using: &generator))
            .chunks
        let second = try RecipientReader(path: path, format: .csv, readBytes: 777)
        let chunk = RecordChunk()
        for recorded in chunks {
            #expect(try second.next(into: chunk, recordedBytes: recorded.byteCount))
            #expect(chunk.shape == recorded)
        }
        #expect(try !second.next(into: chunk))
    }

    private func check(_ round: UInt64, sizes: [Int], longRecords: Bool) throws {
        var generator = SeededGenerator(seed: testSeed &+ round)
        let folder = TemporaryDirectory()
        let content = randomFile(&generator, longRecords: longRecords)
        let path = folder.write(content, to: "r.csv")
        let expected = expectedRows(content)
        for size in sizes {
            let target = sizes.randomElement(using: &generator) ?? 1
            let reader = try RecipientReader(path: path, format: .csv, readBytes: size)
            let rows = try reader.readAll(targetBytes: target).rows
            #expect(rows == expected, "read size \(size), target \(target), round \(round)")
        }
    }
}

/// A header and random text in which quotes, delimiters and line ends are frequent; with long
/// records, some that end near the limit.
private func randomFile(_ generator: inout SeededGenerator, longRecords: Bool) -> [UInt8] {
    let parts = [
        "a", "é", ",", ",\"", "\",", "\"", "\"\"", "\n", "\n", "\r\n", "\r", "\n\n", "\"x\"",
    ]
    var content = Array("token,name\n".utf8)
    for _ in 0..<Int.random(in: 0...(longRecords ? 60 : 120), using: &generator) {
        if longRecords, Int.random(in: 0..<6, using: &generator) == 0 {
            let count = 65_536 + Int.random(in: -9...3, using: &generator)
            content += [UInt8](repeating: UInt8(ascii: "x"), count: count)
        } else if let part = parts.randomElement(using: &generator) {
            content += Array(part.utf8)
        }
    }
    return content
}

private func randomPieces(
    _ content: [UInt8], _ generator: inout SeededGenerator
) -> [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = []
    var rest = content[...]
    while !rest.isEmpty {
        let count = Int.random(in: 1...max(20, content.count / 50), using: &generator)
        pieces.append(rest.prefix(count))
        rest = rest.dropFirst(count)
    }
    return pieces
}

/// The rules again, byte by byte over the whole file: slow, and written apart from the reader.
private func expectedRows(_ content: [UInt8]) -> [ReadRow] {
    let (limit, lf, cr) = (65_536, UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    func lineEnd(_ from: Int) -> Int { content[from...].firstIndex(of: lf) ?? content.count }
    func trimmed(_ from: Int, _ to: Int) -> ArraySlice<UInt8> {
        let line = content[from..<to]
        return line.last == cr ? line.dropLast() : line
    }
    var rows: [ReadRow] = []
    var line: UInt64 = 2
    var at = lineEnd(0) + 1
    while at < content.count {
        let firstEnd = lineEnd(at)
        let first = trimmed(at, firstEnd)
        if first.isEmpty {
            (at, line) = (firstEnd + 1, line + 1)
            continue
        }
        var problem: FinalCode?
        var end = firstEnd
        if first.count > limit {
            problem = .recordTooLong
        } else {
            switch quotedEnd(content, from: at) {
            case .end(let found) where trimmed(at, found).count > limit: problem = .recordTooLong
            case .end(let found): end = found
            case .textAfterQuote(let found)
            where found - at > limit + (content[found] == cr ? 0 : 1):
                problem = .recordTooLong
            case .textAfterQuote(let found) where found > firstEnd: problem = .runawayQuote
            case .textAfterQuote: break
            case .neverClosed where content.count - at >= limit + 2: problem = .recordTooLong
            case .neverClosed where firstEnd + 1 < content.count: problem = .runawayQuote
            case .neverClosed: break
            }
        }
        let record = trimmed(at, problem == nil ? end : firstEnd)
        rows.append(
            ReadRow(
                row: UInt64(rows.count + 1), line: line, bytes: Array(record.prefix(limit)),
                problem: problem))
        let next = problem == nil ? end : firstEnd
        line += UInt64(content[at..<min(next + 1, content.count)].count { $0 == lf })
        at = next + 1
    }
    return rows
}

private enum QuotedEnd {
    case end(Int)
    case textAfterQuote(Int)
    case neverClosed
}

private func quotedEnd(_ content: [UInt8], from: Int) -> QuotedEnd {
    enum State { case fieldStart, plain, quoted, afterQuote }
    var state = State.fieldStart
    for index in from..<content.count {
        switch (state, content[index]) {
        case (.fieldStart, UInt8(ascii: "\"")), (.afterQuote, UInt8(ascii: "\"")): state = .quoted
        case (.quoted, UInt8(ascii: "\"")): state = .afterQuote
        case (.quoted, _): break
        case (_, UInt8(ascii: ",")): state = .fieldStart
        case (_, UInt8(ascii: "\n")): return .end(index)
        case (.afterQuote, UInt8(ascii: "\r"))
        where index + 1 == content.count || content[index + 1] == UInt8(ascii: "\n"):
            break
        case (.afterQuote, _): return .textAfterQuote(index)
        default: state = .plain
        }
    }
    return state == .quoted ? .neverClosed : .end(content.count)
}
