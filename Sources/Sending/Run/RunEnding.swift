internal import APNS
internal import Synchronization

/// The end of a run: the count of the ledger, the summary, and the files that the run folder keeps.
struct RunEnding {
    let state: RunState
    let folder: RunFolder
    let record: RunRecord
    let checkpointer: Checkpointer

    func conclude() -> RunSummary {
        var summary = RunSummary(name: record.name, runDirectory: folder.path)
        summary.rows = state.rowsRead.load(ordering: .relaxed)
        let counts = state.ledger.counts(rows: summary.rows)
        summary.take(counts)
        let finalRows = summary.outcomes.reduce(0) { $0 + $1.1 }
        describeEnd(open: summary.rows - finalRows, counts, in: &summary)
        let measured = checkpointer.measure()
        summary.resumes = record.resumes
        summary.take(measured)
        // 24 bytes for each row; a run that goes on makes it anew.
        folder.remove("duplicates")
        do throws(SendError) {
            try UnregisteredList.write(
                from: folder.file("failures.ndjson"), to: folder.file("unregistered.csv"),
                acceptedRows: summary.count(of: .accepted))
            try checkpointer.conclude(measured)
            try folder.replace("summary.json", with: summary.json())
            try folder.replace("run.json", with: record.json(state: stateName(summary)))
        } catch {
            summary.completed = false
            summary.stoppedBecause = summary.stoppedBecause ?? error.description
            if summary.exitStatus == 0 { summary.exitStatus = 3 }
        }
        return summary
    }

    private func describeEnd(open: UInt64, _ counts: [UInt64], in summary: inout RunSummary) {
        summary.inputHasEnded =
            state.earlier.inputHasEnded || state.inputIsComplete.load(ordering: .relaxed)
        switch state.stopCause {
        case nil where open == 0:
            summary.completed = true
        case nil:
            summary.stoppedBecause =
                "\(open) rows have no outcome though the run came to its end: a defect of Peal"
            summary.exitStatus = 1
        case .interrupted where hasEveryOutcome(open: open),
            .deadline where hasEveryOutcome(open: open):
            summary.completed = true  // the last answers came after all
        case .interrupted:
            summary.stoppedBecause = "interrupted"
            summary.exitStatus = 130
        case .deadline(let error), .failure(let error):
            summary.stoppedBecause = error.description
            summary.exitStatus = error.kind == .internal ? 1 : error.kind == .refused ? 2 : 3
        }
        if let defect = miscount(counts) {
            summary.completed = false
            summary.stoppedBecause = defect
            summary.exitStatus = 1
        }
    }

    /// Whether no row is open, and none is left in the input.
    private func hasEveryOutcome(open: UInt64) -> Bool {
        open == 0 && state.inputIsComplete.load(ordering: .relaxed)
    }

    private func stateName(_ summary: RunSummary) -> String {
        if summary.completed { return "completed" }
        return summary.exitStatus == 130 ? "interrupted" : "stopped"
    }
}
