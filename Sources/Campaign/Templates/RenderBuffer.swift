internal import JSON

/// A fixed piece of memory that is filled from the front. Every append says whether there was room.
///
/// Ownership: borrows its memory.
struct RenderBuffer {
    private(set) var count = 0
    private let memory: UnsafeMutableRawBufferPointer

    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    var bytesMax: Int { memory.count }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    mutating func append(_ source: UnsafeRawBufferPointer) -> Bool {
        guard memory.count - count >= source.count else { return false }
        if let from = source.baseAddress, let to = memory.baseAddress {
            (to + count).copyMemory(from: from, byteCount: source.count)
        }
        count += source.count
        return true
    }

    mutating func append(_ byte: UInt8) -> Bool {
        guard count < memory.count else { return false }
        memory[count] = byte
        count += 1
        return true
    }

    mutating func appendEscaped(_ source: UnsafeRawBufferPointer) -> Bool {
        JSONEscape.append(source, to: memory, at: &count)
    }

    mutating func removeAll() { count = 0 }
}
