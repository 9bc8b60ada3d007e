/// The body of the one request that waits for its stream's window.
///
/// *Limits*: `ClientSession.bodyBytesMax`.
final class PendingBody {
    private let memory: UnsafeMutableRawPointer  // owned
    private var sentBytes = 0
    private(set) var leftBytes = 0
    /// Whose it is; 0: nobody's.
    private(set) var stream: Int32 = 0

    init() { memory = .allocate(byteCount: ClientSession.bodyBytesMax, alignment: 64) }

    deinit { memory.deallocate() }

    /// Keeps a copy.
    func keep(_ bytes: UnsafeRawBufferPointer, stream: Int32) {
        precondition(bytes.count <= ClientSession.bodyBytesMax)
        guard let source = bytes.baseAddress else { return }
        memory.copyMemory(from: source, byteCount: bytes.count)
        sentBytes = 0
        leftBytes = bytes.count
        self.stream = stream
    }

    /// The next bytes. *Ownership*: valid until the next `keep`.
    func take(_ byteCount: Int) -> UnsafeRawPointer {
        let start = memory + sentBytes
        sentBytes += byteCount
        leftBytes -= byteCount
        if leftBytes == 0 { stream = 0 }
        return UnsafeRawPointer(start)
    }

    /// Nobody wants the rest.
    func drop() {
        leftBytes = 0
        stream = 0
    }
}
