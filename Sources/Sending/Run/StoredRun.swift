internal import APNS
internal import Glibc
internal import JSON

/// A run whose process has ended, however it did: read from its folder, which stays locked as long
/// as this lives.
///
/// Rows, outcomes and reasons come from the ledger, everything else from the last checkpoint. So it
/// needs no `summary.json`, which a run that was killed does not have.
package final class StoredRun {
    package let facts: RunFacts
    private let folder: RunFolder
    private let ledger: Ledger

    /// - Throws: kind `.refused` for a folder that is no run's, is damaged, or is in use.
    package init(_ path: String) throws(SendError) {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        let folder = try RunFolder(opening: path)
        guard access(folder.file("run.json"), F_OK) == 0 || errno != ENOENT else {
            throw SendError(
                .refused,
                """
                \(path): this is not the folder of a run: it has no run.json; name one, such as \
                runs/NAME/20260314T090000Z
                """)
        }
        let record = try RunRecord.read(folder.file("run.json"))
        let stored = try EarlierPart(folder, limit: record.limit)
        ledger = try Ledger(existing: folder.file("ledger"), rows: stored.rows)
        var summary = RunSummary(name: record.name, runDirectory: folder.path)
        summary.rows = stored.rows
        summary.resumes = record.resumes
        summary.inputHasEnded = stored.inputHasEnded
        summary.take(ledger.counts(rows: stored.rows))
        summary.take(stored.measured)
        summary.completed = record.isCompleted
        if !record.isCompleted { summary.stoppedBecause = Self.stopReason(record, folder) }
        self.folder = folder
        facts = RunFacts(summary, record, stored.measured.rate, in: folder)
    }

    /// Writes `report.html` anew.
    ///
    /// - Throws: kind `.stopped`; the old file is still there.
    package func write(report: [UInt8]) throws(SendError) {
        try folder.replace(RunFolder.reportName, with: report)
    }

    /// Writes `unregistered.csv` anew, from the failure lines that count.
    ///
    /// - Throws: kind `.stopped`; the old file is still there.
    package func writeUnregisteredList() throws(SendError) {
        let (ledger, rows) = (ledger, facts.summary.rows)
        try UnregisteredList.write(
            from: folder.file("failures.ndjson"), to: folder.file("unregistered.csv"),
            acceptedRows: facts.summary.count(of: .accepted)
        ) { LineFile.counts($0, ledger: ledger, rows: rows) }
    }

    /// What the run said when it ended; one that did not come to that has left an older summary, or
    /// none.
    private static func stopReason(_ record: RunRecord, _ folder: RunFolder) -> String {
        guard record.hasEnded else {
            return "the process was killed, or the machine was switched off"
        }
        let summary = (try? SmallFile.readIfThere(folder.file("summary.json")))
            .flatMap { $0 }
            .flatMap { try? JSONDocument.parse($0, dialect: .strict) }
        return summary?["stoppedBecause"]?.asString ?? "not known: its summary.json is missing"
    }
}
