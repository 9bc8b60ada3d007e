internal import Synchronization

/// A fixed row of numbers that one thread writes and anybody reads: plain loads and stores, no
/// lock.
///
/// *Thread*: `add` and `set` on one thread; reading on any. *Ownership*: its memory is its own.
package final class CounterSlab: @unchecked Sendable {
    // Proof for @unchecked: the pointer never changes, and what it points to are atomics.
    private let cells: UnsafeMutablePointer<Atomic<UInt64>>
    package let count: Int

    package init(count: Int) {
        self.count = count
        cells = .allocate(capacity: count)
        for index in 0..<count { (cells + index).initialize(to: Atomic(0)) }
    }

    deinit {
        cells.deinitialize(count: count)
        cells.deallocate()
    }

    /// Adds, and wraps at 2^64.
    package func add(_ amount: UInt64, at index: Int) { set(self[index] &+ amount, at: index) }

    /// Writes one number.
    package func set(_ value: UInt64, at index: Int) {
        precondition(index >= 0 && index < count)
        cells[index].store(value, ordering: .releasing)
    }

    package subscript(index: Int) -> UInt64 {
        precondition(index >= 0 && index < count)
        return cells[index].load(ordering: .acquiring)
    }
}
