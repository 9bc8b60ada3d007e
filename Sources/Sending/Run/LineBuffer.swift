internal import JSON

/// A fixed buffer in which lines of JSON are put together without allocating.
///
/// - Thread: its owner's. - Limits: `capacity` bytes; whoever appends has checked ``free`` first.
struct LineBuffer: ~Copyable {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int) {
        memory = .allocate(byteCount: capacity, alignment: 64)
    }

    deinit { memory.deallocate() }

    var free: Int { memory.count - count }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    mutating func removeAll() { count = 0 }

    mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    mutating func append(_ number: UInt64) {
        var digitCount = 1
        var rest = number / 10
        while rest > 0 {
            digitCount += 1
            rest /= 10
        }
        rest = number
        for position in stride(from: count + digitCount - 1, through: count, by: -1) {
            memory[position] = 48 + UInt8(rest % 10)
            rest /= 10
        }
        count += digitCount
    }

    /// Appends text as the inside of a JSON string.
    mutating func appendEscaped(_ text: UnsafeRawBufferPointer) {
        let fits = JSONEscape.append(text, to: memory, at: &count)
        precondition(fits, "the line buffer is too small")
    }
}
