internal import Campaign
internal import EventLoop
internal import Synchronization

/// Rows that wait in the ledger: when all others are done, and they are due, the input is read
/// again for them.
extension Feeder {
    /// Sends passes until no row waits for one. An input that ended too early has none: its rows
    /// are left for the resume, which reads on.
    func sendLaterPasses() throws(SendError) {
        while state.chunks.endReading(), state.stopCause == nil {
            let counts = state.ledger.counts(rows: state.rowsRead.load(ordering: .relaxed))
            let next = state.laterPasses.withLock { $0.next(counts, nowNs: monotonicNowNs()) }
            guard let next, try wait(for: next) else { return }
            state.laterPasses.withLock { $0.begin(next.mask) }
            state.chunks.beginReading(mask: next.mask)
            try handOutAgain(next.mask)
        }
    }

    /// - Returns: false when the run is being stopped, which needs no other waking.
    private func wait(for next: LaterPasses.Next) throws(SendError) -> Bool {
        defer { state.waitingFor = nil }
        while case let nowNs = monotonicNowNs(), nowNs < next.dueNs {
            let seconds = (next.dueNs - nowNs + 999_999_999) / 1_000_000_000
            let time = seconds < 120 ? "\(seconds) s" : "\((seconds + 59) / 60) min"
            state.waitingFor = "the next attempt of \(next.rows) rows (\(time))"
            guard state.chunks.wait(untilNs: min(next.dueNs, nowNs + 1_000_000_000)) else {
                return false
            }
        }
        return true
    }

    /// Hands out the chunks that have rows in the states of `mask`.
    private func handOutAgain(_ mask: UInt16) throws(SendError) {
        let entries = try ChunkList.read(listPath).chunks
        guard let source = sourceAgain,
            let last = entries.lastIndex(where: { hasOpenRow($0, mask) })
        else { return }
        let reader: RecipientReader
        do throws(SendError) {
            reader = try RunSetup.open(source, spool: nil, state.reading)
        } catch {
            // Whatever is wrong with the file now: rows were sent, and the run can go on.
            throw SendError(.stopped, error.description)
        }
        for entry in entries[...last] {
            guard let chunk = state.chunks.takeEmpty(), try read(entry, into: chunk, with: reader)
            else { return }
            if hasOpenRow(entry, mask) {
                state.chunks.put(chunk)
            } else {
                state.chunks.giveBack(chunk)
            }
        }
    }
}
