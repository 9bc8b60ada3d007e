internal import EventLoop

/// What a worker does later: delayed answers, second GOAWAYs, held bytes. One timer for all.
///
/// The resolution is a millisecond, that of the loop's timers; nothing is done too early.
/// *Thread*: the worker's. *Limits*: `countMax` entries.
final class DelayQueue {
    /// 64 connections with 1,000 delayed answers each.
    static let countMax = 65_536

    private struct Entry {
        let dueNs: UInt64
        /// Entries of one instant keep their order.
        let number: UInt64
        let body: () -> Void

        func isBefore(_ other: Entry) -> Bool {
            dueNs != other.dueNs ? dueNs < other.dueNs : number < other.number
        }
    }

    private unowned let loop: EventLoop
    /// A binary heap: each entry is due no later than the two below it.
    private var heap: [Entry] = []
    private var nextNumber: UInt64 = 0
    private var timer: LoopTimer?

    init(loop: EventLoop) throws(EventLoopError) {
        self.loop = loop
        timer = try loop.makeTimer { [unowned self] in runDue() }
    }

    var count: Int { heap.count }

    /// Has `body` called at `dueNs`; false when too many entries wait.
    func add(atNs dueNs: UInt64, _ body: @escaping () -> Void) -> Bool {
        guard heap.count < Self.countMax else { return false }
        heap.append(Entry(dueNs: dueNs, number: nextNumber, body: body))
        nextNumber += 1
        moveUp(heap.count - 1)
        if heap[0].number == nextNumber - 1 { startTimer() }
        return true
    }

    private func runDue() {
        let nowNs = loop.nowNs
        while let first = heap.first, first.dueNs <= nowNs {
            heap.swapAt(0, heap.count - 1)
            heap.removeLast()
            moveDown()
            first.body()
        }
        startTimer()
    }

    private func startTimer() {
        guard let first = heap.first else { return }
        let nowNs = loop.nowNs
        let waitNs = first.dueNs > nowNs ? first.dueNs - nowNs : 0
        timer?.start(afterMs: (waitNs + 999_999) / 1_000_000)
    }

    private func moveUp(_ start: Int) {
        var index = start
        while index > 0, heap[index].isBefore(heap[(index - 1) / 2]) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private func moveDown() {
        var index = 0
        while 2 * index + 1 < heap.count {
            var child = 2 * index + 1
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            guard heap[child].isBefore(heap[index]) else { return }
            heap.swapAt(index, child)
            index = child
        }
    }
}
