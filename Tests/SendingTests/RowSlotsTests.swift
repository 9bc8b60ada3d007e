import TestSupport
import Testing

@testable import Sending

@Suite struct RowSlotsTests {
    private func take(_ slots: RowSlots, row: UInt64, bytes: Int) -> SlotIndex {
        let record = [UInt8](repeating: UInt8(truncatingIfNeeded: row), count: bytes)
        return record.withUnsafeBytes { slots.take(row: row, line: row + 1, record: $0) }
    }

    @Test func holdsExactlyItsCapacityAndTakesAgainWhatIsReleased() {
        let slots = RowSlots(capacity: 3)
        let taken = (1...3).map { take(slots, row: $0, bytes: 10) }
        #expect(slots.isFull)
        slots.release(taken[1])
        #expect(!slots.isFull)
        #expect(take(slots, row: 9, bytes: 10) == taken[1])
        #expect(slots.isFull)
        #expect(Set(taken).count == 3)
    }

    @Test(arguments: [0, 1, 255, 256, 257, 65_536])
    func keepsARecordOfAnyLength(bytes: Int) {
        let slots = RowSlots(capacity: 2)
        let slot = take(slots, row: 5, bytes: bytes)
        _ = take(slots, row: 6, bytes: 256)
        #expect(Array(slots.record(of: slot)) == [UInt8](repeating: 5, count: bytes))
        slots.release(slot)
        #expect(take(slots, row: 7, bytes: 3) == slot)
        #expect(Array(slots.record(of: slot)) == [7, 7, 7])
    }

    @Test func aQueueKeepsItsOrderWhateverIsTakenOutOfTheMiddle() {
        var random = SeededGenerator()
        let slots = RowSlots(capacity: 100)
        var queue = SlotQueue()
        var expected: [SlotIndex] = []
        for row in 1...100 {
            let slot = take(slots, row: UInt64(row), bytes: 1)
            queue.append(slot, in: slots)
            expected.append(slot)
        }
        while !expected.isEmpty {
            let position = Int.random(in: 0..<expected.count, using: &random)
            queue.remove(expected.remove(at: position), in: slots)
            #expect(queue.first == expected.first ?? -1, "seed \(testSeed)")
        }
        #expect(queue.isEmpty)
    }
}

@Suite struct DelayQueueTests {
    @Test func givesSlotsInTheOrderOfTheirTimesAndNeverEarly() {
        var random = SeededGenerator()
        let queue = DelayQueue(capacity: 1_000)
        let dues = (0..<1_000).map { _ in UInt64.random(in: 0...10_000, using: &random) }
        for (slot, due) in dues.enumerated() { queue.insert(SlotIndex(slot), dueNs: due) }
        var popped: [UInt64] = []
        for now in stride(from: UInt64(0), through: 10_000, by: 250) {
            while let slot = queue.popDue(nowNs: now) {
                let due = dues[Int(slot)]
                #expect(due <= now)
                popped.append(due)
            }
            #expect(queue.firstDueNs.map { $0 > now } ?? true)
        }
        #expect(popped == dues.sorted(), "seed \(testSeed)")
    }
}
