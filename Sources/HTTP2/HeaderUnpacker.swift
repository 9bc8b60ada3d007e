internal import Glibc

/// Rewrites a client's HEADERS frames so that their strings are plain instead of Huffman-coded,
/// which says the same (RFC 7541, section 5.2): decoding was the largest part of what a request
/// cost in nghttp2, which takes four bits at a time.
///
/// Nothing is judged here: a string or a frame that cannot be rewritten stays as it came.
///
/// *Limits*: frames of at most 16 KiB, before and after.
final class HeaderUnpacker {
    /// The shortest string that is worth keeping: provider tokens, which come with every request.
    private static let keptBytesMin = 96
    private static let keptBytesMax = 1_024

    private let huffman = ShortHuffman()
    private let memory: UnsafeMutableRawPointer  // owned: one frame
    /// The last long string that was decoded, and what it says.
    private let keptSource: UnsafeMutableRawPointer  // owned
    private let keptText: UnsafeMutableRawPointer  // owned
    private var keptSourceBytes = 0
    private var keptTextBytes = 0

    // Where the frame at hand is read and written.
    private var from: UnsafeRawPointer
    private var end: UnsafeRawPointer
    private var to: UnsafeMutableRawPointer
    private let limit: UnsafeMutableRawPointer

    init() {
        let byteCount = FrameHead.byteCount + FrameHead.payloadBytesMax
        memory = .allocate(byteCount: byteCount, alignment: 64)
        keptSource = .allocate(byteCount: Self.keptBytesMax, alignment: 64)
        keptText = .allocate(
            byteCount: ShortHuffman.roomBytes(for: Self.keptBytesMax), alignment: 64)
        from = UnsafeRawPointer(memory)
        end = from
        to = memory
        limit = memory + byteCount
    }

    deinit {
        memory.deallocate()
        keptSource.deallocate()
        keptText.deallocate()
    }

    /// The length of the frame that `bytes` begin with, where it is one for `unpack`; 0: it is not,
    /// or not whole.
    static func frameBytes(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard bytes.count >= FrameHead.byteCount, let start = bytes.baseAddress else { return 0 }
        let head = FrameHead(reading: start)
        let frameBytes = FrameHead.byteCount + head.payloadBytes
        guard head.type == .headers, head.flags.contains(.endHeaders),
            !head.flags.contains(.padded), frameBytes <= bytes.count
        else { return 0 }
        return frameBytes
    }

    /// The frame with plain strings; nil when it is to be read as it came.
    ///
    /// *Ownership*: valid until the next call.
    func unpack(_ frame: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let start = frame.baseAddress else { return nil }
        var head = FrameHead(reading: start)
        from = start + FrameHead.byteCount
        end = start + frame.count
        to = memory + FrameHead.byteCount
        // The stream that it depends on, and a weight.
        if head.flags.contains(.priority), !copy(5) { return nil }
        while from < end { guard copyField() else { return nil } }
        head.payloadBytes = to - memory - FrameHead.byteCount
        head.write(to: memory)
        return UnsafeRawBufferPointer(start: memory, count: to - memory)
    }

    /// One representation (RFC 7541, section 6).
    private func copyField() -> Bool {
        let first = from.load(as: UInt8.self)
        if first & 0x80 != 0 { return copyInteger(mask: 0x7F) }
        if first & 0xE0 == 0x20 { return copyInteger(mask: 0x1F) }
        let mask: UInt8 = first & 0x40 != 0 ? 0x3F : 0x0F
        guard copyInteger(mask: mask) else { return false }
        if first & mask == 0, !copyString() { return false }
        return copyString()
    }

    /// An integer behind a pattern (RFC 7541, section 5.1).
    private func copyInteger(mask: UInt8) -> Bool {
        guard from < end else { return false }
        var byteCount = 1
        if from.load(as: UInt8.self) & mask == mask {
            repeat {
                guard from + byteCount < end else { return false }
                byteCount += 1
            } while from.load(fromByteOffset: byteCount - 1, as: UInt8.self) & 0x80 != 0
        }
        return copy(byteCount)
    }

    private func copyString() -> Bool {
        guard from < end else { return false }
        let start = from
        let first = from.load(as: UInt8.self)
        var byteCount = Int(first & 0x7F)
        from += 1
        if byteCount == 0x7F {
            // Two more bytes reach all that fits into a frame.
            var shift = 0
            while true {
                guard from < end, shift <= 14 else { return false }
                let byte = from.load(as: UInt8.self)
                from += 1
                byteCount += Int(byte & 0x7F) << shift
                shift += 7
                if byte & 0x80 == 0 { break }
            }
        }
        guard byteCount <= end - from else { return false }
        if first & 0x80 != 0, decode(byteCount) { return true }
        let headBytes = from - start
        from = start
        return copy(headBytes + byteCount)
    }

    /// Writes the string of so many bytes at `from` as a plain one; false: nothing was done.
    private func decode(_ byteCount: Int) -> Bool {
        let source = UnsafeRawBufferPointer(start: from, count: byteCount)
        // What a length takes at most, for what fits into a frame.
        let lengthBytesMax = 3
        let room = ShortHuffman.roomBytes(for: byteCount) + lengthBytesMax
        guard limit - to >= room else { return false }
        if byteCount == keptSourceBytes, byteCount > 0,
            memcmp(from, keptSource, byteCount) == 0
        {
            to = HeaderText.writeLength(keptTextBytes, to: to)
            to.copyMemory(from: keptText, byteCount: keptTextBytes)
            to += keptTextBytes
            from += byteCount
            return true
        }
        guard let textBytes = huffman.decode(source, to: to + lengthBytesMax) else { return false }
        let text = UnsafeRawPointer(to + lengthBytesMax)
        if (Self.keptBytesMin...Self.keptBytesMax).contains(byteCount) {
            keptSource.copyMemory(from: from, byteCount: byteCount)
            keptText.copyMemory(from: text, byteCount: textBytes)
            (keptSourceBytes, keptTextBytes) = (byteCount, textBytes)
        }
        to = HeaderText.writeLength(textBytes, to: to)
        to.copyMemory(from: text, byteCount: textBytes)
        to += textBytes
        from += byteCount
        return true
    }

    private func copy(_ byteCount: Int) -> Bool {
        guard byteCount <= end - from, byteCount <= limit - to else { return false }
        to.copyMemory(from: from, byteCount: byteCount)
        from += byteCount
        to += byteCount
        return true
    }
}
