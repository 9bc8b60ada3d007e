/// Bytes that a session has made and its transport has not yet taken: one fixed piece of memory.
///
/// The readable bytes are always contiguous, so the transport can hand them to one write. Room at
/// the front is won back by moving what is left, which is rare, because the transport usually takes
/// all.
///
/// *Thread*: one. *Limits*: never grows; what does not fit stays with the producer.
package final class OutputBuffer {
    /// Bytes of memory, fixed at creation.
    package let capacityBytes: Int
    private let memory: UnsafeMutableRawPointer  // owned
    private var start = 0
    private var end = 0
    private var consumed: UInt64 = 0

    package init(capacityBytes: Int) {
        precondition(capacityBytes > 0)
        self.capacityBytes = capacityBytes
        memory = UnsafeMutableRawPointer.allocate(byteCount: capacityBytes, alignment: 64)
    }

    deinit { memory.deallocate() }

    /// Bytes that wait for the transport.
    package var count: Int { end - start }

    /// Bytes that still fit.
    package var free: Int { capacityBytes - (end - start) }

    /// Bytes consumed since creation: with `appendedTotal`, it tells whether a given byte has left.
    package var consumedTotal: UInt64 { consumed }

    /// Bytes appended since creation.
    package var appendedTotal: UInt64 { consumed + UInt64(end - start) }

    /// The waiting bytes. Valid until the next call of any other member.
    package var readable: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory + start, count: end - start)
    }

    /// Takes the first `byteCount` waiting bytes away: the transport has them.
    package func consume(_ byteCount: Int) {
        precondition(byteCount >= 0 && byteCount <= end - start)
        start += byteCount
        consumed += UInt64(byteCount)
        if start == end {
            start = 0
            end = 0
        }
    }

    /// Appends all of `bytes`, or nothing when they do not fit.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return true }
        guard bytes.count <= free else { return false }
        makeContiguous(bytes.count)
        (memory + end).copyMemory(from: source, byteCount: bytes.count)
        end += bytes.count
        return true
    }

    /// `byteCount` writable bytes behind the waiting ones; nil when they do not fit. What was
    /// written there counts after `commit`; the memory is valid until the next call of any other
    /// member.
    package func reserve(_ byteCount: Int) -> UnsafeMutableRawBufferPointer? {
        guard byteCount >= 0, byteCount <= free else { return nil }
        makeContiguous(byteCount)
        return UnsafeMutableRawBufferPointer(start: memory + end, count: byteCount)
    }

    /// Makes the first `byteCount` reserved bytes readable.
    package func commit(_ byteCount: Int) {
        precondition(byteCount >= 0 && byteCount <= capacityBytes - end)
        end += byteCount
    }

    /// Moves the waiting bytes to the front when `byteCount` do not fit behind them.
    private func makeContiguous(_ byteCount: Int) {
        guard capacityBytes - end < byteCount else { return }
        memory.copyMemory(from: memory + start, byteCount: end - start)
        end -= start
        start = 0
    }
}

@available(*, unavailable) extension OutputBuffer: Sendable {}
