/// The state of a row that has no outcome yet, as its ledger byte. Final bytes are `FinalCode`s, 16
/// and up.
enum OpenState {
    /// Untouched, or certainly never processed by the server.
    static let untouched: UInt8 = 0
    /// Submitted and not answered: the server may have it.
    static let inDoubt: UInt8 = 1
    /// Known not accepted; waiting to be tried again.
    static let waitingForRetry: UInt8 = 2
    // 3 and 5–8: waiting for a later pass, see `RetryRules.Pass`. 4 is kept for sending hours.
    /// Handed back because the run stopped on an answer that concerns the whole campaign.
    static let handedBack: UInt8 = 9
    /// Every byte below this one is an open state.
    static let firstFinal: UInt8 = 16
    /// The open states whose rows are sent with the first reading of the input, as a bit each.
    static let firstReading: UInt16 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 9
}

/// Where every row of the run stands: one byte per row, at index row − 1, in a memory-mapped file.
///
/// A killed process leaves the page cache intact, so the bytes tell the truth after `kill -9`; they
/// are independent of each other, so nothing tears.
///
/// - Thread: a row's byte is written only by the worker that owns the row; ``reserve(rows:)`` is
///   called by the reader thread, ``sync()`` by any.
package final class Ledger: Sendable {
    /// 2³² rows: 4 GiB of address space, of which only the allocated part of the file is ever
    /// touched.
    static let rowsMax = 1 << 32
    /// The file grows by whole steps, so that allocation is rare.
    private static let stepBytes = 1 << 20

    private let map: GrowingMap

    /// Makes the file of a run that starts now.
    package init(path: String) throws(SendError) {
        map = try GrowingMap(path: path, capacityBytes: Self.rowsMax)
    }

    /// Opens the ledger of a run that goes on, which must tell of its first `rows` rows.
    init(existing path: String, rows: UInt64) throws(SendError) {
        map = try GrowingMap(path: path, capacityBytes: Self.rowsMax, exists: true)
        guard rows <= UInt64(map.fileBytes) else {
            throw SendError(
                .refused,
                """
                \(path): it has \(map.fileBytes) bytes for \(rows) rows, so nobody knows what \
                became of the others; restore the run folder, or start a new run
                """)
        }
    }

    /// Allocates the bytes of all rows up to `rows` on disk, before any of these rows is handed
    /// out.
    package func reserve(rows: UInt64) throws(SendError) {
        guard rows <= UInt64(Self.rowsMax) else {
            throw SendError(
                .stopped,
                "the input has more than \(Self.rowsMax) rows; split the file and send the parts")
        }
        let steps = (Int(rows) + Self.stepBytes - 1) / Self.stepBytes
        try map.grow(toBytes: min(steps * Self.stepBytes, Self.rowsMax))
    }

    /// Writes changed bytes to the disk, and waits for it.
    func sync() throws(SendError) { try map.sync() }

    /// Stores the state of a row that was reserved.
    @inline(__always)
    package func set(_ state: UInt8, row: UInt64) {
        map.base.storeBytes(of: state, toByteOffset: Int(row - 1), as: UInt8.self)
    }

    /// The state of a row that was reserved.
    package func state(row: UInt64) -> UInt8 {
        map.base.load(fromByteOffset: Int(row - 1), as: UInt8.self)
    }

    /// Whether a row is open, in one of the states of `mask`, a bit each.
    @inline(__always)
    func isOpen(row: UInt64, in mask: UInt16) -> Bool {
        let byte = state(row: row)
        return byte < OpenState.firstFinal && mask >> UInt16(byte) & 1 == 1
    }

    /// How many of the first `rows` rows are in each state, by ledger byte.
    func counts(rows: UInt64) -> [UInt64] {
        var counts = [UInt64](repeating: 0, count: 256)
        let bytes = UnsafeRawBufferPointer(start: map.base, count: Int(rows))
        counts.withUnsafeMutableBufferPointer { counts in
            for byte in bytes { counts[Int(byte)] &+= 1 }
        }
        return counts
    }
}
