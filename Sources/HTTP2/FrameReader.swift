/// Cuts a server's bytes into frames, however they arrive.
///
/// A frame that lies whole in what arrived is read where it lies; of one that does not, the
/// beginning is kept until the rest is here.
///
/// *Limits*: it keeps one frame, at most 16 KiB and its head; a larger one is an error at its head.
final class FrameReader {
    private let memory: UnsafeMutableRawPointer  // owned: one frame
    /// Bytes of a frame that is only half here.
    private var keptBytes = 0
    private var hasBegun = false

    init() {
        memory = .allocate(
            byteCount: FrameHead.byteCount + FrameHead.payloadBytesMax, alignment: 64)
    }

    deinit { memory.deallocate() }

    /// Takes the next frame from the front of `input`; nil when no whole one is left, and `input`
    /// then empty.
    ///
    /// *Ownership*: the frame's payload is borrowed: valid until the next call, and no longer than
    /// `input`'s memory.
    func next(_ input: inout UnsafeRawBufferPointer) throws(HTTP2Error) -> Frame? {
        guard keptBytes == 0, input.count >= FrameHead.byteCount, let start = input.baseAddress
        else { return try nextKept(&input) }
        let head = try checked(start)
        let frameBytes = FrameHead.byteCount + head.payloadBytes
        guard input.count >= frameBytes else { return try nextKept(&input) }
        let payload = UnsafeRawBufferPointer(
            start: start + FrameHead.byteCount, count: head.payloadBytes)
        input = UnsafeRawBufferPointer(rebasing: input[frameBytes...])
        return Frame(head: head, payload: payload)
    }

    /// The same for a frame that comes in pieces.
    private func nextKept(
        _ input: inout UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> Frame? {
        keep(upTo: FrameHead.byteCount, of: &input)
        guard keptBytes >= FrameHead.byteCount else { return nil }
        let head = try checked(memory)
        let frameBytes = FrameHead.byteCount + head.payloadBytes
        keep(upTo: frameBytes, of: &input)
        guard keptBytes == frameBytes else { return nil }
        keptBytes = 0
        return Frame(
            head: head,
            payload: UnsafeRawBufferPointer(
                start: memory + FrameHead.byteCount, count: head.payloadBytes))
    }

    private func keep(upTo byteCount: Int, of input: inout UnsafeRawBufferPointer) {
        let count = min(byteCount - keptBytes, input.count)
        guard count > 0, let source = input.baseAddress else { return }
        (memory + keptBytes).copyMemory(from: source, byteCount: count)
        keptBytes += count
        input = UnsafeRawBufferPointer(rebasing: input[count...])
    }

    /// Reads a head and checks what can be wrong with it alone.
    private func checked(_ bytes: UnsafeRawPointer) throws(HTTP2Error) -> FrameHead {
        let head = FrameHead(reading: bytes)
        if !hasBegun {
            // RFC 9113, section 3.4: the server's preface is a SETTINGS frame.
            guard head.type == .settings, !head.flags.contains(.ack) else {
                throw .protocolError("the peer does not begin with SETTINGS, as HTTP/2 does")
            }
            hasBegun = true
        }
        guard head.payloadBytes <= FrameHead.payloadBytesMax else {
            throw .frameSizeError("a frame of \(head.payloadBytes) bytes, over 16,384")
        }
        return head
    }
}
