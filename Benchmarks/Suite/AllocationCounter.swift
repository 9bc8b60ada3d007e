internal import Glibc

/// Reads what the preloaded `count-allocations.so` has counted in this process.
///
/// Without the library (`tools/benchmark` builds and preloads it) there is nothing to read, and the
/// columns of the table stay empty.
struct AllocationCounter {
    private typealias Reader = @convention(c) () -> UInt64
    private let readCount: Reader
    private let readBytes: Reader

    init?() {
        guard let count = dlsym(nil, "peal_allocation_count"),
            let bytes = dlsym(nil, "peal_allocated_bytes")
        else { return nil }
        // The symbols are those of count-allocations.c, which has these signatures.
        readCount = unsafeBitCast(count, to: Reader.self)
        readBytes = unsafeBitCast(bytes, to: Reader.self)
    }

    var count: UInt64 { readCount() }
    var bytes: UInt64 { readBytes() }
}
