/// A response's header block that comes in more than one frame (RFC 9113, section 6.10).
///
/// *Limits*: 16 KiB, as for the list that it stands for, in at most 32 frames.
final class HeaderBlock {
    private static let bytesMax = ClientSession.headerListBytesMax
    /// A server that fills its frames needs two for the largest list.
    private static let framesMax = 32

    private let memory: UnsafeMutableRawPointer  // owned
    private var byteCount = 0
    private var frameCount = 0
    /// Whose block is half here; 0: none is.
    private(set) var stream: Int32 = 0
    /// The response ends with it.
    private(set) var isLast = false

    init() { memory = .allocate(byteCount: Self.bytesMax, alignment: 64) }

    deinit { memory.deallocate() }

    /// Takes the first piece.
    func begin(
        _ bytes: UnsafeRawBufferPointer, stream: Int32, isLast: Bool
    ) throws(HTTP2Error) {
        self.stream = stream
        self.isLast = isLast
        byteCount = 0
        frameCount = 0
        try add(bytes)
    }

    /// Takes the next piece.
    func add(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        frameCount += 1
        guard frameCount <= Self.framesMax else {
            throw .enhanceYourCalm("response headers in over \(Self.framesMax) frames")
        }
        guard byteCount + bytes.count <= Self.bytesMax else { throw HeaderInflater.tooLarge }
        guard let source = bytes.baseAddress else { return }
        (memory + byteCount).copyMemory(from: source, byteCount: bytes.count)
        byteCount += bytes.count
    }

    /// The whole block. *Ownership*: valid until the next `begin`.
    func finish() -> UnsafeRawBufferPointer {
        stream = 0
        return UnsafeRawBufferPointer(start: memory, count: byteCount)
    }
}
