package import Campaign
internal import Crypto
internal import Glibc

/// The tokens of a campaign's suppression lists.
///
/// The same table as that of duplicates, so memory does not grow with the lists; its file is of no
/// use without the key that this process has made up.
///
/// - Thread: made by one, asked by any.
package final class SuppressionTable: Sendable {
    /// The lines of all lists.
    package let tokenCount: UInt64
    private let table: DuplicateTable

    /// Reads all lists, from front to end.
    ///
    /// - Parameters:
    ///   - lists: paths of files that `SuppressionListReader` reads.
    ///   - path: where the table is made; no such file may exist. Its name is removed again, so
    ///     that the space is free as soon as this table is, or the process is killed.
    /// - Throws: kind `.refused` when a list cannot be read or one of its lines is broken.
    package init(
        lists: [String], path: String, cancellation: ReadCancellation = ReadCancellation()
    ) throws(SendError) {
        defer { unlink(path) }
        var bytes: UInt64 = 0
        for list in lists {
            var status = stat()
            // A wrong path shows before the lists in front of it are read.
            if stat(list, &status) != 0 { _ = try Self.open(list, cancellation) }
            bytes += UInt64(max(0, status.st_size))
        }
        // A guess at 65 bytes a line, that of most tokens: the table grows when it is wrong.
        table = try DuplicateTable(path: path, key: randomBytes(16), rows: bytes / 65 + 1)
        var count: UInt64 = 0
        for list in lists {  // one after the other: each open one has its buffers
            try Self.add(try Self.open(list, cancellation), to: table, count: &count)
        }
        tokenCount = count
    }

    /// Whether a list holds this token, given as `RowReader/token` has it. No allocation.
    package func contains(_ token: UnsafeRawBufferPointer) -> Bool { table.contains(token) }

    private static func open(
        _ path: String, _ cancellation: ReadCancellation
    ) throws(SendError) -> SuppressionListReader {
        do throws(RecipientsError) {
            return try SuppressionListReader(path: path, cancellation: cancellation)
        } catch {
            throw SendError(.refused, "suppress: \(error)")
        }
    }

    private static func add(
        _ reader: SuppressionListReader, to table: DuplicateTable, count: inout UInt64
    ) throws(SendError) {
        while true {
            do throws(RecipientsError) {
                guard try reader.next() else { return }
            } catch {
                throw SendError(.refused, "suppress: \(error)")
            }
            count += 1
            if count > table.rowCapacity { try table.reserve(rows: count) }
            // All under one number: a token that is listed twice is listed.
            _ = table.claim(reader.token, row: 1)
        }
    }
}
