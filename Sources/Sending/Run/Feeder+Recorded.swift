internal import APNS
internal import Campaign
internal import Synchronization

/// The rows that an earlier start of the run has handed out.
extension Feeder {
    /// Claims the tokens of all rows that were sent, before any other row is judged: which row has
    /// a token is not decided anew, whatever the order in which workers come to them.
    func claimRecordedTokens() throws(SendError) {
        guard let duplicates = state.duplicates, let reader = claimReader else { return }
        claimReader = nil
        state.waitingFor = "the rows that were sent before (reading them again)"
        defer { state.waitingFor = nil }
        let rows: RowReader
        do throws(CampaignError) { rows = try state.makeRowReader() } catch {
            throw SendError(.internal, "the rows cannot be read again: \(error)")
        }
        guard let chunk = state.chunks.takeEmpty() else { return }
        defer { state.chunks.giveBack(chunk) }
        for entry in state.earlier.chunks {
            guard try read(entry, into: chunk, with: reader) else { return }
            for index in 0..<chunk.recordCount {
                let row = chunk.firstRow + UInt64(index)
                guard row <= state.earlier.rows, hasToken(row),
                    chunk.records[index].problemCode == 0
                else { continue }
                if rows.read(chunk.record(at: index)) == nil {
                    _ = duplicates.claim(rows.token, row: row)
                }
            }
        }
    }

    /// Hands out the recorded chunks in which rows are open.
    func handOutRecorded() throws(SendError) {
        for entry in state.earlier.chunks {
            guard let chunk = state.chunks.takeEmpty(), try read(entry, into: chunk, with: reader)
            else { return }
            state.bytesRead.store(reader.bytesRead, ordering: .relaxed)
            if hasOpenRow(entry, OpenState.firstReading) {
                state.chunks.put(chunk)
            } else {
                state.chunks.giveBack(chunk)
            }
        }
    }

    /// Whether a request was made for the row, and so its token was its own.
    private func hasToken(_ row: UInt64) -> Bool {
        let byte = state.ledger.state(row: row)
        guard byte >= OpenState.firstFinal else { return byte != OpenState.untouched }
        switch FinalCode(rawValue: byte).outcome {
        case .accepted, .unregistered, .rejected, .exhausted, .unknown: return true
        case .invalid, .duplicate, .suppressed, .heldOut: return false
        }
    }

    /// Whether rows of the chunk are in one of the states of `mask`, a bit each.
    func hasOpenRow(_ entry: ChunkEntry, _ mask: UInt16) -> Bool {
        let last = min(entry.lastRow, state.rowsRead.load(ordering: .relaxed))
        guard entry.firstRow <= last else { return false }
        return (entry.firstRow...last).contains { state.ledger.isOpen(row: $0, in: mask) }
    }

    /// Reads a chunk as it was recorded.
    ///
    /// - Returns: false when the run is being stopped.
    /// - Throws: kind `.stopped` when the input does not hold it any more.
    func read(
        _ entry: ChunkEntry, into chunk: RecordChunk, with reader: RecipientReader
    ) throws(SendError) -> Bool {
        do throws(RecipientsError) {
            let isFilled = try reader.next(into: chunk, recordedBytes: entry.bytes)
            if !isFilled && !reader.isAtEnd && !reader.isAtTornEnd { return false }
        } catch {
            throw SendError(.stopped, error.description)
        }
        guard chunk.recordCount > 0, ChunkEntry(chunk) == entry else {
            throw SendError(
                .stopped,
                """
                recipients: rows \(entry.firstRow) to \(entry.lastRow) are not those that the run \
                was started with; restore the file, or name the right one with --recipients
                """)
        }
        return true
    }
}
