import TestSupport

/// Rewrites what a server sends into other frames that mean the same: padding, priorities, header
/// blocks in pieces, informational answers before, trailers behind, and frames that a client must
/// skip. nghttp2's server does none of it by itself.
///
/// Everything that is put in is a literal without indexing, so the header table does not notice.
struct FrameMangler {
    private var unread: [UInt8] = []
    private var hasBegun = false

    /// Takes a server's bytes; returns the frames that are whole by now, rewritten.
    mutating func mangle(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        unread += bytes
        var output: [UInt8] = []
        for frame in RawFrame.takeAll(from: &unread) {
            // The first frame must be the server's SETTINGS.
            if hasBegun { output += noise(&random).flatMap(\.bytes) }
            hasBegun = true
            output += rewrite(frame, &random).flatMap(\.bytes)
        }
        return output
    }

    private func rewrite(_ frame: RawFrame, _ random: inout SeededGenerator) -> [RawFrame] {
        switch frame.kind {
        case .headers: headers(frame, &random)
        case .data: data(frame, &random)
        default: [frame]
        }
    }

    private func headers(_ frame: RawFrame, _ random: inout SeededGenerator) -> [RawFrame] {
        var frames: [RawFrame] = []
        if chance(&random, in: 4) {
            frames.append(.headers(frame.stream, [(":status", "103"), ("link", "x")]))
        }
        let endsStream = frame.flags & RawFrame.endStream
        let getsTrailers = endsStream != 0 && chance(&random, in: 4)
        var block = frame.payload
        var front = RawFrame(
            .headers, flags: getsTrailers ? 0 : endsStream, stream: frame.stream)
        if chance(&random, in: 4) {
            front.flags |= 0x20
            front.payload = [0, 0, 0, 0, 7]
        }
        let cut = chance(&random, in: 3) ? Int.random(in: 0...block.count, using: &random) : nil
        front.payload += block[..<(cut ?? block.count)]
        block.removeFirst(cut ?? block.count)
        if chance(&random, in: 3) { pad(&front, &random) }
        frames.append(front)
        while cut != nil, !block.isEmpty, chance(&random, in: 2) {
            let count = Int.random(in: 0...block.count, using: &random)
            frames.append(
                RawFrame(.continuation, stream: frame.stream, Array(block[..<count])))
            block.removeFirst(count)
        }
        if cut != nil { frames.append(RawFrame(.continuation, stream: frame.stream, block)) }
        frames[frames.count - 1].flags |= RawFrame.endHeaders
        if getsTrailers { frames.append(trailers(frame.stream)) }
        return frames
    }

    private func data(_ frame: RawFrame, _ random: inout SeededGenerator) -> [RawFrame] {
        var frame = frame
        var frames: [RawFrame] = []
        let endsStream = frame.flags & RawFrame.endStream != 0
        if endsStream, chance(&random, in: 3) {
            frame.flags = 0
            frames = [trailers(frame.stream)]
        }
        // Padding counts against the windows, of which the server knows nothing: a little of it.
        if frame.payload.count < 1_000, chance(&random, in: 3) { pad(&frame, &random) }
        return [frame] + frames
    }

    private func trailers(_ stream: UInt32) -> RawFrame {
        .headers(stream, [("checksum", "1"), ("retry-after", "9")], end: true)
    }

    private func pad(_ frame: inout RawFrame, _ random: inout SeededGenerator) {
        let count = Int.random(in: 0...40, using: &random)
        frame.flags |= RawFrame.padded
        frame.payload = [UInt8(count)] + frame.payload + [UInt8](repeating: 0, count: count)
    }

    private func noise(_ random: inout SeededGenerator) -> [RawFrame] {
        switch Int.random(in: 0...30, using: &random) {
        case 0: [RawFrame(type: 0xFA, flags: 0xFF, stream: 77, payload: [1, 2, 3])]
        case 1: [RawFrame(.priority, stream: 1, [0, 0, 0, 3, 16])]
        default: []
        }
    }

    private func chance(_ random: inout SeededGenerator, in count: Int) -> Bool {
        Int.random(in: 0..<count, using: &random) == 0
    }
}
