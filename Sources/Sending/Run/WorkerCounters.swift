internal import APNS
internal import Synchronization

/// What one worker counts. The worker writes; any thread may read.
///
/// Each cell has a single writer, so it is a plain load and store (relaxed), not a locked addition.
// @unchecked: atomic cells behind a pointer that never changes.
final class WorkerCounters: @unchecked Sendable {
    enum Counter: Int, CaseIterable {
        /// Requests that were answered, timed out or were lost.
        case attempts
        /// Of the attempts, those after a row's first.
        case retries
        /// Bytes written to sockets of connections that have ended.
        case bytesSent
        /// Connections that were opened; of those, ended by GOAWAY, and lost.
        case connectionsOpened, connectionsGoAway, connectionsLost
        /// Connections that take requests now.
        case connectionsOpen
        /// Ticks of the worker at which rows were held back by the windows or the stream limits of
        /// all connections, by a rate, or because there were none.
        case heldBackByWindow, heldBackByStreams, heldBackByRate, heldBackByInput
    }

    private typealias Cell = Atomic<UInt64>
    private static let plainCount = Counter.allCases.count
    private let cells: UnsafeMutablePointer<Cell>

    init() {
        let count = Self.plainCount + 512
        cells = .allocate(capacity: count)
        for index in 0..<count { (cells + index).initialize(to: Cell(0)) }
    }

    deinit {
        cells.deinitialize(count: Self.plainCount + 512)
        cells.deallocate()
    }

    func add(_ amount: UInt64, to counter: Counter) { add(amount, at: counter.rawValue) }
    func set(_ value: UInt64, to counter: Counter) {
        cells[counter.rawValue].store(value, ordering: .relaxed)
    }
    func value(_ counter: Counter) -> UInt64 { cells[counter.rawValue].load(ordering: .relaxed) }

    /// Counts a row that is final.
    func countFinal(_ code: FinalCode) { add(1, at: Self.plainCount + Int(code.rawValue)) }
    func finalCount(_ code: UInt8) -> UInt64 {
        cells[Self.plainCount + Int(code)].load(ordering: .relaxed)
    }

    /// Counts an answer that is retried, under the code it would have had as a final one.
    func countRetried(_ code: FinalCode) { add(1, at: Self.plainCount + 256 + Int(code.rawValue)) }
    func retriedCount(_ code: UInt8) -> UInt64 {
        cells[Self.plainCount + 256 + Int(code)].load(ordering: .relaxed)
    }

    /// Adds what has held this worker's rows back.
    func add(to heldBack: inout HeldBack) {
        heldBack.window += value(.heldBackByWindow)
        heldBack.streams += value(.heldBackByStreams)
        heldBack.rate += value(.heldBackByRate)
        heldBack.input += value(.heldBackByInput)
    }

    private func add(_ amount: UInt64, at index: Int) {
        let cell = cells + index
        cell.pointee.store(cell.pointee.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
    }
}
