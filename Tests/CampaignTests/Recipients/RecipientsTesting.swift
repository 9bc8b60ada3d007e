import APNS
import Campaign
import Glibc
import TestSupport

/// A record as a reader hands it out, copied.
struct ReadRow: Equatable, CustomStringConvertible {
    var row: UInt64
    var line: UInt64
    var bytes: [UInt8]
    var problem: FinalCode?

    var text: String { String(decoding: bytes, as: UTF8.self) }
    var description: String {
        "row \(row) line \(line) \(bytes.count) bytes \(problem?.reason ?? "") \(text.prefix(40))"
    }
}

/// A chunk's shape, copied.
struct ReadChunk: Equatable {
    var offset: UInt64
    var byteCount: UInt64
    var firstRow: UInt64
    var recordCount: Int
    var checksum: UInt64
}

extension RecordChunk {
    /// The rows of the chunk, copied.
    var rows: [ReadRow] {
        records.indices.map { index in
            let code = records[index].problemCode
            return ReadRow(
                row: firstRow + UInt64(index), line: line(at: index),
                bytes: Array(record(at: index)),
                problem: code == 0 ? nil : FinalCode(rawValue: code))
        }
    }

    var shape: ReadChunk {
        ReadChunk(
            offset: offset, byteCount: byteCount, firstRow: firstRow, recordCount: recordCount,
            checksum: checksum())
    }
}

extension RecipientReader {
    /// Everything up to the end of the input.
    func readAll(
        targetBytes: Int = RecordChunk.targetBytesDefault
    ) throws -> (rows: [ReadRow], chunks: [ReadChunk]) {
        let chunk = RecordChunk(targetBytes: targetBytes)
        var rows: [ReadRow] = []
        var chunks: [ReadChunk] = []
        while try next(into: chunk) {
            rows += chunk.rows
            chunks.append(chunk.shape)
        }
        return (rows, chunks)
    }
}

/// The rows of a file with this content.
func readRows(
    _ content: some Sequence<UInt8>, format: RecipientFormat = .csv, targetBytes: Int? = nil,
    readBytes: Int? = nil
) throws -> [ReadRow] {
    let folder = TemporaryDirectory()
    let reader = try RecipientReader(
        path: folder.write(content, to: "recipients"), format: format, readBytes: readBytes)
    return try reader.readAll(targetBytes: targetBytes ?? RecordChunk.targetBytesDefault).rows
}

/// The error that opening a file with this content brings; nil when it opens.
func openingError(
    _ content: some Sequence<UInt8>, format: RecipientFormat = .csv
) -> RecipientsError? {
    let folder = TemporaryDirectory()
    do throws(RecipientsError) {
        _ = try RecipientReader(path: folder.write(content, to: "r.csv"), format: format)
        return nil
    } catch {
        return error
    }
}

/// A pipe whose ends close with the value.
final class TestPipe: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit { close(readEnd) }

    /// Writes all of it; waits for the reader where the pipe is full.
    func send(_ bytes: some Collection<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(writeEnd, $0.baseAddress, $0.count) }
            precondition(count > 0)
            rest = rest.dropFirst(count)
        }
    }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Ends the input. Once.
    func finish() { close(writeEnd) }
}
