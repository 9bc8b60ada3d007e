/// Index of a request in its worker's ``RequestSlots``; -1 means none.
typealias SlotIndex = Int32

/// What a worker keeps of one request until it is over.
struct RequestSlot {
    /// The request's number in the schedule, and when it was due.
    var number: UInt64 = 0
    var plannedNs: UInt64 = 0
    /// When it was handed to its connection; of several times, the latest.
    var submittedNs: UInt64 = 0
    /// Where it is in flight.
    var connection: Int32 = -1
    var stream: Int32 = -1
    /// Links of the list that the slot is in: free, in flight by age, or to be sent again.
    var previous: SlotIndex = -1
    var next: SlotIndex = -1
    /// How often it came back unprocessed.
    var refusals: UInt8 = 0
}

/// The requests of one worker: a fixed slab, allocated once.
///
/// *Thread*: the worker's. *Limits*: `capacity` requests.
final class RequestSlots {
    let capacity: Int
    private let slots: UnsafeMutablePointer<RequestSlot>  // owned
    private var firstFree: SlotIndex = -1
    private var firstUntouched: SlotIndex = 0
    private(set) var usedCount = 0

    init(capacity: Int) {
        self.capacity = capacity
        slots = .allocate(capacity: capacity)
    }

    deinit { slots.deallocate() }

    subscript(_ index: SlotIndex) -> UnsafeMutablePointer<RequestSlot> { slots + Int(index) }

    var isFull: Bool { usedCount == capacity }

    /// Takes a free slot. The caller has checked ``isFull``.
    func take(_ slot: RequestSlot) -> SlotIndex {
        precondition(!isFull)
        let index: SlotIndex
        if firstFree >= 0 {
            index = firstFree
            firstFree = self[index].pointee.next
        } else {
            index = firstUntouched
            firstUntouched += 1
        }
        self[index].initialize(to: slot)
        usedCount += 1
        return index
    }

    func release(_ index: SlotIndex) {
        self[index].pointee.next = firstFree
        firstFree = index
        usedCount -= 1
    }
}

/// A list of slots, linked through the slots themselves: appended at the end, taken from anywhere.
struct SlotList {
    private(set) var first: SlotIndex = -1
    private var last: SlotIndex = -1

    var isEmpty: Bool { first < 0 }

    mutating func append(_ index: SlotIndex, in slots: RequestSlots) {
        slots[index].pointee.previous = last
        slots[index].pointee.next = -1
        if last >= 0 { slots[last].pointee.next = index } else { first = index }
        last = index
    }

    mutating func remove(_ index: SlotIndex, in slots: RequestSlots) {
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
}
