/// An HTTP/2 frame as RFC 9113 section 4.1 draws it, made and read here by hand, so that the
/// sessions are tested against the RFC and not against themselves.
struct RawFrame: Equatable {
    enum Kind: UInt8 {
        case data, headers, priority, rstStream, settings, pushPromise, ping, goAway, windowUpdate
        case continuation
    }

    static let endStream: UInt8 = 0x1
    static let ack: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8

    var type: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    var kind: Kind? { Kind(rawValue: type) }

    init(_ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) {
        self.init(type: kind.rawValue, flags: flags, stream: stream, payload: payload)
    }

    init(type: UInt8, flags: UInt8, stream: UInt32, payload: [UInt8]) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    var bytes: [UInt8] {
        var bytes = Array(bigEndian(UInt32(payload.count)).dropFirst())
        bytes += [type, flags]
        bytes += bigEndian(stream)
        return bytes + payload
    }

    /// The whole frames at the front of `bytes`, which are taken away.
    static func takeAll(from bytes: inout [UInt8]) -> [RawFrame] {
        var frames: [RawFrame] = []
        while bytes.count >= 9 {
            let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
            guard bytes.count >= 9 + length else { break }
            frames.append(
                RawFrame(
                    type: bytes[3], flags: bytes[4], stream: number(bytes[5..<9]) & 0x7FFF_FFFF,
                    payload: Array(bytes[9..<9 + length])))
            bytes.removeFirst(9 + length)
        }
        return frames
    }

    // MARK: The frames of RFC 9113, section 6

    static func settings(_ values: [(UInt16, UInt32)] = []) -> RawFrame {
        var payload: [UInt8] = []
        for (id, value) in values {
            payload += bigEndian(UInt32(id)).suffix(2)
            payload += bigEndian(value)
        }
        return RawFrame(.settings, payload)
    }

    static let settingsAck = RawFrame(.settings, flags: ack)

    /// HEADERS with a whole block of literal fields.
    static func headers(
        _ stream: UInt32, _ fields: [(String, String)], end: Bool = false
    ) -> RawFrame {
        RawFrame(
            .headers, flags: endHeaders | (end ? endStream : 0), stream: stream,
            literalBlock(fields))
    }

    static func data(_ stream: UInt32, _ text: String, end: Bool = false) -> RawFrame {
        RawFrame(.data, flags: end ? endStream : 0, stream: stream, Array(text.utf8))
    }

    static func reset(_ stream: UInt32, _ code: UInt32) -> RawFrame {
        RawFrame(.rstStream, stream: stream, bigEndian(code))
    }

    static func windowUpdate(_ stream: UInt32, _ bytes: UInt32) -> RawFrame {
        RawFrame(.windowUpdate, stream: stream, bigEndian(bytes))
    }

    static func goAway(_ last: UInt32, _ code: UInt32, _ debug: String = "") -> RawFrame {
        RawFrame(.goAway, bigEndian(last) + bigEndian(code) + Array(debug.utf8))
    }

    static let clientPreface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
}

/// A number of four bytes, the highest first.
func bigEndian(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
}

func number(_ bytes: some Sequence<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

/// A header block of literal fields without indexing, new names, no Huffman code (RFC 7541, 6.2.2).
func literalBlock(_ fields: [(String, String)]) -> [UInt8] {
    var block: [UInt8] = []
    for (name, value) in fields {
        block.append(0x00)
        for text in [name, value] {
            block += integer(text.utf8.count, prefixBits: 7)
            block += text.utf8
        }
    }
    return block
}

/// An integer as RFC 7541 section 5.1 writes it, with nothing in the bits before its prefix.
func integer(_ value: Int, prefixBits: Int) -> [UInt8] {
    let limit = 1 << prefixBits - 1
    guard value >= limit else { return [UInt8(value)] }
    var bytes = [UInt8(limit)]
    var rest = value - limit
    while rest >= 128 {
        bytes.append(UInt8(rest & 0x7F) | 0x80)
        rest >>= 7
    }
    return bytes + [UInt8(rest)]
}

/// How each field of a header block is represented (RFC 7541, section 6), without decoding texts.
enum Representation: Equatable {
    case indexed(Int)
    case incremental(nameIndex: Int)
    case unindexed(nameIndex: Int)
    case neverIndexed(nameIndex: Int)
    case sizeUpdate(Int)

    static func list(_ block: [UInt8]) -> [Representation] {
        var rest = block[...]
        var found: [Representation] = []
        while let first = rest.first {
            if first & 0x80 != 0 {
                found.append(.indexed(takeInteger(&rest, 7)))
            } else if first & 0xC0 == 0x40 {
                found.append(.incremental(nameIndex: takeField(&rest, 6)))
            } else if first & 0xE0 == 0x20 {
                found.append(.sizeUpdate(takeInteger(&rest, 5)))
            } else if first & 0xF0 == 0x10 {
                found.append(.neverIndexed(nameIndex: takeField(&rest, 4)))
            } else {
                found.append(.unindexed(nameIndex: takeField(&rest, 4)))
            }
        }
        return found
    }

    private static func takeField(_ rest: inout ArraySlice<UInt8>, _ bits: Int) -> Int {
        let index = takeInteger(&rest, bits)
        for _ in 0..<(index == 0 ? 2 : 1) {
            let length = takeInteger(&rest, 7)
            rest = rest.dropFirst(length)
        }
        return index
    }

    private static func takeInteger(_ rest: inout ArraySlice<UInt8>, _ bits: Int) -> Int {
        let limit = 1 << bits - 1
        var value = Int(rest.popFirst() ?? 0) & limit
        guard value == limit else { return value }
        var shift = 0
        while let byte = rest.popFirst() {
            value += Int(byte & 0x7F) << shift
            shift += 7
            if byte & 0x80 == 0 { break }
        }
        return value
    }
}
