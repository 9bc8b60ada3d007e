/// What a client session knows of one stream.
struct ClientStream {
    /// The request that the delegate knows it by.
    var request: UInt32 = 0
    var streamID: Int32 = 0
    /// The final status, once its header list was complete; 0: none yet.
    var status: UInt16 = 0
    /// Bytes kept of the response's body.
    var bodyBytes: UInt16 = 0
    var retryAfterSeconds: Int32 = -1
    var errorCode = HTTP2ErrorCode.noError
    /// What the stream's send window has moved by since it began: grants less bytes sent.
    var windowDifference = 0
    /// What of the response is not yet given back to the peer's window.
    var received = ReceiveWindow()
    /// Where the request begins among all bytes of the session's output.
    var outputOffset: UInt64 = 0
    var kind = AnswerKind.unknown
    /// The slot is taken.
    var isUsed = false
    /// The stream counts against the peer's limit.
    var isOpen = false
    /// It is to be reset; what arrives meanwhile is dropped.
    var resetCode: HTTP2ErrorCode?
    /// The terminal event is made: waiting in the ring, or delivered.
    var isDecided = false
    /// The terminal event waits in the ring.
    var isQueued = false
}

/// The streams of one client session in a fixed slab, and the ring of those whose terminal event
/// waits to be delivered.
///
/// *Limits*: `capacity` streams; each is at most once in the ring, so neither ever overflows. The
/// memory for bodies is touched, and so paid for, only by streams that get an error's body.
final class ClientStreams {
    let capacity: Int
    private let slots: UnsafeMutablePointer<ClientStream>  // owned
    private let bodies: UnsafeMutableRawPointer  // owned: answerBodyBytesMax for each slot
    private let free: UnsafeMutablePointer<Int32>  // owned: a stack, lowest slots on top at first
    private let ring: UnsafeMutablePointer<Int32>  // owned
    private var index: StreamIndex
    private(set) var freeCount: Int
    private var ringStart = 0
    private var ringCount = 0
    /// Streams that count against the peer's limit.
    private(set) var openCount = 0
    /// Requests whose terminal event has not been delivered.
    private(set) var undeliveredCount = 0

    init(capacity: Int) {
        precondition(capacity > 0 && capacity < 65_535)
        self.capacity = capacity
        // On lines of the processor's cache, which one slot fills.
        slots = UnsafeMutableRawPointer.allocate(
            byteCount: capacity * MemoryLayout<ClientStream>.stride, alignment: 64
        ).bindMemory(to: ClientStream.self, capacity: capacity)
        slots.initialize(repeating: ClientStream(), count: capacity)
        bodies = .allocate(
            byteCount: capacity * ClientSession.answerBodyBytesMax, alignment: 64)
        free = .allocate(capacity: capacity)
        ring = .allocate(capacity: capacity)
        index = StreamIndex(capacity: capacity)
        freeCount = capacity
        for index in 0..<capacity { free[index] = Int32(capacity - 1 - index) }
    }

    deinit {
        slots.deallocate()
        bodies.deallocate()
        free.deallocate()
        ring.deallocate()
    }

    subscript(slot: Int) -> ClientStream {
        _read { yield slots[slot] }
        _modify { yield &slots[slot] }
    }

    /// Takes a slot for a new stream. *Limits*: `freeCount` must not be 0.
    func take(request: UInt32, stream: Int32, outputOffset: UInt64) -> Int {
        precondition(freeCount > 0)
        freeCount -= 1
        let slot = Int(free[freeCount])
        slots[slot] = ClientStream()
        slots[slot].request = request
        slots[slot].streamID = stream
        slots[slot].outputOffset = outputOffset
        slots[slot].isUsed = true
        slots[slot].isOpen = true
        index.insert(stream, slot: slot)
        openCount += 1
        undeliveredCount += 1
        return slot
    }

    /// The slot of an open stream. A stream that is over has none, whoever has its slot now.
    func slot(of stream: Int32) -> Int? { index.slot(of: stream) }

    /// The stream counts no longer against the peer's limit; its slot is free once it is delivered.
    func close(_ slot: Int) {
        guard slots[slot].isOpen else { return }
        slots[slot].isOpen = false
        index.remove(slots[slot].streamID)
        openCount -= 1
        releaseIfDone(slot)
    }

    /// A terminal event waits to be delivered.
    var hasDecided: Bool { ringCount > 0 }

    /// Makes the terminal event of a stream, once; it waits in the ring.
    func decide(_ slot: Int, errorCode: HTTP2ErrorCode, withoutStatus kind: AnswerKind) {
        guard slots[slot].isUsed, !slots[slot].isDecided else { return }
        slots[slot].isDecided = true
        slots[slot].isQueued = true
        slots[slot].errorCode = errorCode
        slots[slot].kind = slots[slot].status != 0 ? .response : kind
        let end = ringStart + ringCount
        ring[end < capacity ? end : end - capacity] = Int32(slot)
        ringCount += 1
    }

    /// The next stream whose terminal event waits. Its slot may be free again after this call, but
    /// its body stays as it is until the session receives again.
    func popDecided() -> ClientStream? {
        guard ringCount > 0 else { return nil }
        let slot = Int(ring[ringStart])
        ringStart = ringStart + 1 < capacity ? ringStart + 1 : 0
        ringCount -= 1
        slots[slot].isQueued = false
        undeliveredCount -= 1
        let stream = slots[slot]
        lastPopped = slot
        releaseIfDone(slot)
        return stream
    }

    /// The slot of the stream that `popDecided` gave last.
    private(set) var lastPopped = 0

    /// Keeps the bytes of a response's body that fit.
    func appendBody(_ slot: Int, _ bytes: UnsafeRawBufferPointer) {
        let kept = Int(slots[slot].bodyBytes)
        let count = min(bytes.count, ClientSession.answerBodyBytesMax - kept)
        guard count > 0, let source = bytes.baseAddress else { return }
        (bodies + slot * ClientSession.answerBodyBytesMax + kept)
            .copyMemory(from: source, byteCount: count)
        slots[slot].bodyBytes = UInt16(kept + count)
    }

    func body(_ slot: Int, byteCount: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: bodies + slot * ClientSession.answerBodyBytesMax, count: byteCount)
    }

    private func releaseIfDone(_ slot: Int) {
        guard !slots[slot].isOpen, slots[slot].isDecided, !slots[slot].isQueued else { return }
        slots[slot].isUsed = false
        free[freeCount] = Int32(slot)
        freeCount += 1
    }
}
