/// Index of a row's slot in its worker's ``RowSlots``; -1 means none.
typealias SlotIndex = Int32

/// What a worker keeps of one row from the moment it is accepted for sending until its outcome.
struct RowSlot {
    var row: UInt64 = 0
    var line: UInt64 = 0
    var submittedNs: UInt64 = 0
    /// The record as it stands in the file, for rendering it again on a retry. Owned by
    /// ``RowSlots``.
    var record: UnsafeMutableRawPointer
    var recordBytes: Int32 = 0
    /// Whether `record` is a block of its own, because it is longer than a slot's part of the slab.
    var ownsRecord = false
    /// Links of the list that the slot is in: free, in flight by age, or ready to go again.
    var previous: SlotIndex = -1
    var next: SlotIndex = -1
    /// Where the request is in flight.
    var connection: Int32 = -1
    var stream: Int32 = -1
    /// The connection that gave no answer last time; -1: none.
    var avoided: Int32 = -1
    /// The provider token that the request carried.
    var tokenVersion: Int32 = 0
    /// Requests that were answered, timed out or were lost.
    var attempts: UInt8 = 0
    /// Times in a row that the request came back unprocessed.
    var refusals: UInt8 = 0
    /// Whether a request of the row was lost without an answer: whatever happens to later ones, the
    /// server may have it.
    var isInDoubt = false
    /// In which reading of the input the row came; see `RetryRules`.
    var pass = RetryRules.Pass.first
    /// Of the attempts, those that were answered with 429.
    var tooManyRequests: UInt8 = 0
    /// How many answers of the run must have come before a held row is final.
    var heldUntil: UInt64 = 0
    /// The final code of a held row, should it become final.
    var heldCode: UInt8 = 0
    var heldStatus: UInt16 = 0
}

/// The rows that a worker has taken on: a fixed slab of slots, allocated once.
///
/// - Thread: the worker's.
/// - Limits: `capacity` rows; a record over ``inlineRecordBytes`` gets a block of its own while it
///   is open.
final class RowSlots {
    /// Long enough for a token and the columns of almost every file; the rest pay one allocation.
    static let inlineRecordBytes = 256

    let capacity: Int
    private let slots: UnsafeMutablePointer<RowSlot>
    private let records: UnsafeMutableRawPointer
    private var firstFree: SlotIndex = -1
    private var firstUntouched: SlotIndex = 0
    private(set) var usedCount = 0

    init(capacity: Int) {
        self.capacity = capacity
        slots = .allocate(capacity: capacity)
        records = .allocate(byteCount: capacity * Self.inlineRecordBytes, alignment: 64)
    }

    deinit {
        for index in 0..<Int(firstUntouched) where slots[index].ownsRecord {
            slots[index].record.deallocate()
        }
        slots.deallocate()
        records.deallocate()
    }

    var isFull: Bool { usedCount == capacity }

    subscript(_ index: SlotIndex) -> UnsafeMutablePointer<RowSlot> {
        slots + Int(index)
    }

    /// Takes a free slot for a row and copies its record. The caller has checked ``isFull``.
    func take(row: UInt64, line: UInt64, record: UnsafeRawBufferPointer) -> SlotIndex {
        precondition(!isFull)
        let index: SlotIndex
        if firstFree >= 0 {
            index = firstFree
            firstFree = self[index].pointee.next
        } else {
            index = firstUntouched
            firstUntouched += 1
        }
        var slot = RowSlot(record: records + Int(index) * Self.inlineRecordBytes)
        if record.count > Self.inlineRecordBytes {
            slot.record = .allocate(byteCount: record.count, alignment: 8)
            slot.ownsRecord = true
        }
        if let bytes = record.baseAddress {
            slot.record.copyMemory(from: bytes, byteCount: record.count)
        }
        slot.recordBytes = Int32(record.count)
        slot.row = row
        slot.line = line
        self[index].initialize(to: slot)
        usedCount += 1
        return index
    }

    /// Gives a slot back; its row has its outcome, or is left for later.
    func release(_ index: SlotIndex) {
        let slot = self[index]
        if slot.pointee.ownsRecord {
            slot.pointee.record.deallocate()
            slot.pointee.ownsRecord = false
        }
        slot.pointee.next = firstFree
        firstFree = index
        usedCount -= 1
    }

    func record(of index: SlotIndex) -> UnsafeRawBufferPointer {
        let slot = self[index]
        return UnsafeRawBufferPointer(
            start: slot.pointee.record, count: Int(slot.pointee.recordBytes))
    }
}

/// A queue of slots, linked through the slots themselves: appended at the end, taken from anywhere.
struct SlotQueue {
    private(set) var first: SlotIndex = -1
    private(set) var last: SlotIndex = -1

    var isEmpty: Bool { first < 0 }

    mutating func append(_ index: SlotIndex, in slots: RowSlots) {
        slots[index].pointee.previous = last
        slots[index].pointee.next = -1
        if last >= 0 { slots[last].pointee.next = index } else { first = index }
        last = index
    }

    mutating func remove(_ index: SlotIndex, in slots: RowSlots) {
        let slot = slots[index].pointee
        if slot.previous >= 0 {
            slots[slot.previous].pointee.next = slot.next
        } else {
            first = slot.next
        }
        if slot.next >= 0 {
            slots[slot.next].pointee.previous = slot.previous
        } else {
            last = slot.previous
        }
    }

    mutating func removeFirst(in slots: RowSlots) -> SlotIndex {
        let index = first
        remove(index, in: slots)
        return index
    }
}
