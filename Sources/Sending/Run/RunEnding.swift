internal import APNS
internal import Synchronization

/// The end of a run: the count of the ledger, the summary, and the files that the run folder keeps.
struct RunEnding {
    let state: RunState
    let folder: RunFolder
    let record: RunRecord
    let seconds: Double

    func conclude() -> RunSummary {
        var summary = RunSummary(name: record.name, runDirectory: folder.path)
        summary.rows = state.rowsRead.load(ordering: .relaxed)
        let counts = state.ledger.counts(rows: summary.rows)
        countRows(counts, into: &summary)
        let finalRows = summary.outcomes.reduce(0) { $0 + $1.1 }
        describeEnd(open: summary.rows - finalRows, counts, in: &summary)
        addMeasurements(to: &summary)
        do throws(SendError) {
            try UnregisteredList.write(
                from: folder.file("failures.ndjson"), to: folder.file("unregistered.csv"),
                acceptedRows: summary.count(of: .accepted))
            try folder.replace("summary.json", with: summary.json())
            try folder.replace("run.json", with: record.json(state: stateName(summary)))
            // 24 bytes for each row, and of no more use.
            if summary.completed { folder.remove("duplicates") }
        } catch {
            summary.completed = false
            summary.stoppedBecause = summary.stoppedBecause ?? error.description
            if summary.exitStatus == 0 { summary.exitStatus = 3 }
        }
        return summary
    }

    private func countRows(_ counts: [UInt64], into summary: inout RunSummary) {
        for outcome in Outcome.allCases {
            let rows = (Int(OpenState.firstFinal)...255).reduce(UInt64(0)) { sum, byte in
                FinalCode(rawValue: UInt8(byte)).outcome == outcome ? sum + counts[byte] : sum
            }
            summary.outcomes.append((outcome, rows))
        }
        for byte in Int(OpenState.firstFinal)...255 where counts[byte] > 0 {
            let code = FinalCode(rawValue: UInt8(byte))
            if code != .accepted { summary.reasons.append((code, counts[byte])) }
        }
        summary.reasons.sort { $0.1 > $1.1 }
    }

    private func describeEnd(open: UInt64, _ counts: [UInt64], in summary: inout RunSummary) {
        summary.inDoubt = counts[Int(OpenState.inDoubt)]
        switch state.stopCause {
        case nil where open == 0:
            summary.completed = true
        case nil:
            summary.stoppedBecause =
                "\(open) rows have no outcome though the run came to its end: a defect of Peal"
            summary.exitStatus = 1
        case .interrupted where open == 0 && state.inputIsComplete.load(ordering: .relaxed):
            summary.completed = true  // the last answers came after all
        case .interrupted:
            summary.stoppedBecause = "interrupted"
            summary.exitStatus = 130
        case .failure(let error):
            summary.stoppedBecause = error.description
            summary.exitStatus = error.kind == .internal ? 1 : error.kind == .refused ? 2 : 3
        }
        if let defect = miscount(counts) {
            summary.completed = false
            summary.stoppedBecause = defect
            summary.exitStatus = 1
        }
    }

    private func addMeasurements(to summary: inout RunSummary) {
        func sum(_ counter: WorkerCounters.Counter) -> UInt64 {
            state.counters.reduce(0) { $0 + $1.value(counter) }
        }
        summary.resumes = record.resumes
        summary.attempts = sum(.attempts)
        summary.retries = sum(.retries)
        summary.bytesSent = sum(.bytesSent)
        summary.connections.opened = sum(.connectionsOpened)
        summary.connections.goaway = sum(.connectionsGoAway)
        summary.connections.lost = sum(.connectionsLost)
        for byte in OpenState.firstFinal...UInt8.max {
            let count = state.counters.reduce(0) { $0 + $1.retriedCount(byte) }
            if count > 0 { summary.retriedReasons.append((FinalCode(rawValue: byte), count)) }
        }
        summary.seconds = seconds
        let latencies = state.latencies
        summary.latencyMilliseconds.p50 = Double(latencies.percentile(0.5)) / 1000
        summary.latencyMilliseconds.p90 = Double(latencies.percentile(0.9)) / 1000
        summary.latencyMilliseconds.p99 = Double(latencies.percentile(0.99)) / 1000
        summary.latencyMilliseconds.p999 = Double(latencies.percentile(0.999)) / 1000
        summary.latencyMilliseconds.max = Double(latencies.maxMicroseconds) / 1000
        let earlier = state.earlier.measured
        summary.add(earlier)
        // Of the time that is known: a start that was killed left only its rows.
        let accepted =
            earlier.accepted
            + state.counters.reduce(0) { $0 + $1.finalCount(FinalCode.accepted.rawValue) }
        if summary.seconds > 0 { summary.acceptedPerSecond = Double(accepted) / summary.seconds }
    }

    private func stateName(_ summary: RunSummary) -> String {
        if summary.completed { return "completed" }
        return summary.exitStatus == 130 ? "interrupted" : "stopped"
    }
}
