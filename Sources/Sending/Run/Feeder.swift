internal import Campaign
internal import Synchronization

/// The reader thread's work: it fills chunks, prepares the disk for their rows, and hands them out.
///
/// It also allocates the ledger, so that no worker ever waits for a disk or a pipe.
final class Feeder {
    let state: RunState
    let reader: RecipientReader
    /// Nil when there is no token to claim beforehand, or it is done.
    var claimReader: RecipientReader?
    private let list: ChunkList
    let listPath: String
    /// Where the rows are read again for a later pass; nil where that cannot be done.
    let sourceAgain: String?
    private let expectRows: UInt64?
    /// Whether the user says that rows are missing: then the end of the input is none.
    private var isShort = false

    init(_ setup: RunSetup, expectRows: UInt64?) {
        state = setup.state
        reader = setup.reader
        claimReader = setup.claimReader
        list = setup.list
        listPath = setup.folder.file("chunks")
        let isStandardInput = setup.record.input == "-"
        sourceAgain =
            isStandardInput
            ? setup.folder.file("input") : reader.bytesTotal == nil ? nil : setup.record.input
        state.canReadAgain.store(sourceAgain != nil, ordering: .relaxed)
        self.expectRows = expectRows
    }

    /// Reads to the end of the input, or until the run stops.
    func run() {
        do throws(SendError) {
            try claimRecordedTokens()
            try handOutRecorded()
            while !hasReachedLimit, let chunk = state.chunks.takeEmpty(), fill(chunk) {
                try handOut(chunk)
            }
            if hasReachedLimit { state.inputIsComplete.store(true, ordering: .relaxed) }
            if state.inputIsComplete.load(ordering: .relaxed), !isShort,
                !state.earlier.inputHasEnded
            {
                try list.appendEnd()
            }
            try sendLaterPasses()
            state.chunks.end()
        } catch {
            state.stop(.failure(error))
        }
    }

    private var hasReachedLimit: Bool {
        state.rowsRead.load(ordering: .relaxed) >= state.rowLimit
    }

    /// Reads the next chunk. What ends the input early is kept as the cause of an unfinished run;
    /// the rows that were read before it are sent all the same.
    private func fill(_ chunk: RecordChunk) -> Bool {
        do throws(RecipientsError) {
            if try reader.next(into: chunk) { return true }
            if reader.isAtTornEnd { state.endEarly(because: inputNeverEnded) }
            guard reader.isAtEnd else { return false }  // the run is being stopped
            state.inputIsComplete.store(true, ordering: .relaxed)
            checkExpectedRows()
        } catch {
            state.endEarly(because: SendError(.stopped, error.description))
        }
        return false
    }

    private func handOut(_ chunk: RecordChunk) throws(SendError) {
        guard !state.earlier.inputHasEnded else {
            throw SendError(
                .stopped,
                """
                recipients: there are rows after row \(chunk.firstRow - 1), where the file ended \
                when the run was started; restore the file, or send the new rows in a run of \
                their own
                """)
        }
        let lastRow = chunk.firstRow + UInt64(chunk.recordCount) - 1
        let rows = min(lastRow, state.rowLimit)
        try state.ledger.reserve(rows: rows)
        if let duplicates = state.duplicates, rows > duplicates.rowCapacity {
            guard state.chunks.waitUntilAllEmpty() else { return }
            try duplicates.reserve(rows: rows)
        }
        try list.append(ChunkEntry(chunk))
        state.rowsRead.store(rows, ordering: .relaxed)
        state.bytesRead.store(reader.bytesRead, ordering: .relaxed)
        state.chunks.put(chunk)
    }

    /// Standard input whose end no start of the run has seen, read from its copy.
    private var inputNeverEnded: SendError {
        let rows = state.rowsRead.load(ordering: .relaxed)
        return SendError(
            .stopped,
            """
            standard input was never read to its end: what was copied of it ends with row \(rows); \
            to send the rest, resume with --recipients - and give it all rows from the first (those \
            that were sent are found again and not sent twice)
            """)
    }

    private func checkExpectedRows() {
        let rows = state.rowsRead.load(ordering: .relaxed)
        guard let expectRows, rows < expectRows else { return }
        isShort = true
        state.endEarly(
            because: SendError(
                .stopped,
                """
                the input ended after \(rows) rows, and --expect-rows says \(expectRows): \
                these rows were sent; find out why the file is short before you send the rest
                """))
    }
}
