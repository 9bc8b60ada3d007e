/// Slots that wait for a moment: a binary heap on the due time, with fixed memory.
///
/// - Limits: `capacity` entries, one per slot of the worker.
final class DelayQueue {
    private struct Entry {
        var dueNs: UInt64
        var slot: SlotIndex
    }

    private let entries: UnsafeMutablePointer<Entry>
    private let capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        entries = .allocate(capacity: capacity)
    }

    deinit { entries.deallocate() }

    /// When the first slot is due; nil when none waits.
    var firstDueNs: UInt64? { count > 0 ? entries[0].dueNs : nil }

    func insert(_ slot: SlotIndex, dueNs: UInt64) {
        precondition(count < capacity)
        var child = count
        count += 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[parent].dueNs > dueNs else { break }
            (entries + child).initialize(to: entries[parent])
            child = parent
        }
        (entries + child).initialize(to: Entry(dueNs: dueNs, slot: slot))
    }

    /// Takes the first slot when it is due at `nowNs`.
    func popDue(nowNs: UInt64) -> SlotIndex? {
        guard let due = firstDueNs, due <= nowNs else { return nil }
        let slot = entries[0].slot
        count -= 1
        if count > 0 { sink(entries[count]) }
        return slot
    }

    /// Puts `entry` at the top and lets it sink to its place.
    private func sink(_ entry: Entry) {
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < count else { break }
            if child + 1 < count, entries[child + 1].dueNs < entries[child].dueNs { child += 1 }
            guard entries[child].dueNs < entry.dueNs else { break }
            entries[parent] = entries[child]
            parent = child
        }
        entries[parent] = entry
    }
}
