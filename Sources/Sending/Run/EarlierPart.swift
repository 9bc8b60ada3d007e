/// What the earlier starts of a run have left behind; nothing for a run that starts now.
struct EarlierPart: Sendable {
    /// The chunks that were handed out, in file order.
    var chunks: [ChunkEntry] = []
    /// Whether no row comes after them.
    var inputHasEnded = false
    /// The rows in them, up to the run's limit.
    var rows: UInt64 = 0
    /// How many of the rows are in each state, by ledger byte.
    var counts = [UInt64](repeating: 0, count: 256)
    var measured = Measurements()

    init() {}

    /// Reads what the folder's list of chunks and its last checkpoint say.
    init(_ folder: RunFolder, limit: UInt64?) throws(SendError) {
        try LineFile.cutTornEnd(folder.file("chunks"))
        (chunks, inputHasEnded) = try ChunkList.read(folder.file("chunks"))
        rows = min(chunks.last?.lastRow ?? 0, limit ?? .max)
        measured = try Measurements(checkpoint: folder.file("checkpoint"))
    }
}
