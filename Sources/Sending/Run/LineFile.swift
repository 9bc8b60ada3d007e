internal import APNS
internal import Glibc
internal import JSON

/// Repairs the files of lines of a run that was killed, before it goes on.
///
/// - Thread: the one that starts the run, with the run folder locked.
enum LineFile {
    /// Cuts off what stands behind the last line end: a line that was not written to its end.
    static func cutTornEnd(_ path: String) throws(SendError) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(.refused, "open the file", path, code: errno) }
        defer { close(descriptor) }
        var end = lseek(descriptor, 0, SEEK_END)
        var block = [UInt8](repeating: 0, count: 65_536)
        while end > 0 {
            let start = max(0, end - off_t(block.count))
            let count = pread(descriptor, &block, Int(end - start), start)
            guard count == Int(end - start) else {
                throw .file(.refused, "read the file", path, code: count < 0 ? errno : EIO)
            }
            if let found = block[..<count].lastIndex(of: UInt8(ascii: "\n")) {
                end = start + off_t(found) + 1
                break
            }
            end = start
        }
        guard ftruncate(descriptor, end) == 0 else {
            throw .file(.refused, "cut off the torn end of the file", path, code: errno)
        }
    }

    /// Leaves out the failure lines that do not count, because the ledger knows nothing of them:
    /// the run was killed between the line and the byte. Their rows are still to be sent, and will
    /// have other lines; so no row ever has two.
    ///
    /// - Parameter rows: the rows that the ledger tells of.
    /// - Throws: kind `.refused`, with the number of a line that is none; nothing is changed then.
    static func dropUncounted(
        in folder: RunFolder, ledger: Ledger, rows: UInt64
    ) throws(SendError) {
        let path = folder.file("failures.ndjson")
        try cutTornEnd(path)
        guard let source = fopen(path, "re") else {
            throw .file(.refused, "read the file", path, code: errno)
        }
        defer { fclose(source) }
        let newPath = folder.file(".failures.ndjson.new")
        unlink(newPath)
        do throws(SendError) {
            try copyCounted(
                from: source, path, to: try AppendFile(path: newPath), ledger: ledger, rows: rows)
            guard rename(newPath, path) == 0 else {
                throw .file(.stopped, "replace the file", path, code: errno)
            }
        } catch {
            unlink(newPath)
            throw error
        }
    }

    private static func copyCounted(
        from source: UnsafeMutablePointer<FILE>, _ path: String, to target: AppendFile,
        ledger: Ledger, rows: UInt64
    ) throws(SendError) {
        var kept: [UInt8] = []
        var number = 0
        var text: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(text) }
        while case let count = getline(&text, &capacity, source), count > 0, let text {
            let line = UnsafeRawBufferPointer(start: text, count: count)
            number += 1
            guard let node = try? JSONDocument.parse(line, dialect: .strict) else {
                throw SendError(
                    .refused,
                    """
                    \(path):\(number): this is no failure line; restore the file, or remove the line: \
                    its row keeps its outcome and is not sent again
                    """)
            }
            if counts(node, ledger: ledger, rows: rows) { kept += line }
            if kept.count > 60_000 {
                try target.append(kept)
                kept.removeAll(keepingCapacity: true)
            }
        }
        guard ferror(source) == 0 else { throw .file(.refused, "read the file", path, code: EIO) }
        try target.append(kept)
    }

    /// Whether a failure line tells what the ledger says of its row.
    static func counts(_ node: JSONNode, ledger: Ledger, rows: UInt64) -> Bool {
        guard
            let row = node["row"]?.asInt.flatMap({ UInt64(exactly: $0) }), row >= 1, row <= rows,
            let outcome = node["outcome"]?.asString
        else { return false }
        let byte = ledger.state(row: row)
        return byte >= OpenState.firstFinal && FinalCode(rawValue: byte).outcome.name == outcome
    }
}
