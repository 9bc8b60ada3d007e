/// The type of a frame (RFC 9113, section 6); others stay representable, and are skipped.
struct FrameType: RawRepresentable, Equatable {
    let rawValue: UInt8

    static let data = Self(rawValue: 0)
    static let headers = Self(rawValue: 1)
    static let priority = Self(rawValue: 2)
    static let resetStream = Self(rawValue: 3)
    static let settings = Self(rawValue: 4)
    static let pushPromise = Self(rawValue: 5)
    static let ping = Self(rawValue: 6)
    static let goAway = Self(rawValue: 7)
    static let windowUpdate = Self(rawValue: 8)
    static let continuation = Self(rawValue: 9)
}

/// The flags of a frame; what a bit means depends on the type.
struct FrameFlags: OptionSet {
    let rawValue: UInt8

    static let endStream = Self(rawValue: 0x1)
    static let ack = Self(rawValue: 0x1)
    static let endHeaders = Self(rawValue: 0x4)
    static let padded = Self(rawValue: 0x8)
    static let priority = Self(rawValue: 0x20)
}

/// The nine bytes at the front of each frame (RFC 9113, section 4.1).
struct FrameHead {
    static let byteCount = 9
    /// SETTINGS_MAX_FRAME_SIZE at its initial value: what we take, and the most that we send.
    static let payloadBytesMax = 16_384

    var payloadBytes: Int
    var type: FrameType
    var flags: FrameFlags
    /// 0: the frame is about the connection.
    var stream: Int32

    init(_ type: FrameType, flags: FrameFlags = [], stream: Int32 = 0, payloadBytes: Int) {
        self.payloadBytes = payloadBytes
        self.type = type
        self.flags = flags
        self.stream = stream
    }

    /// Reads a head. *Limits*: `bytes` must have nine.
    init(reading bytes: UnsafeRawPointer) {
        let front = bytes.bigEndian32(at: 0)
        payloadBytes = Int(front >> 8)
        type = FrameType(rawValue: UInt8(truncatingIfNeeded: front))
        flags = FrameFlags(rawValue: bytes.load(fromByteOffset: 4, as: UInt8.self))
        // The highest bit is reserved and ignored.
        stream = Int32(bytes.bigEndian32(at: 5) & 0x7FFF_FFFF)
    }

    /// Writes the head. *Limits*: `bytes` must have room for nine.
    func write(to bytes: UnsafeMutableRawPointer) {
        bytes.storeBigEndian(UInt32(payloadBytes) << 8 | UInt32(type.rawValue), at: 0)
        bytes.storeBytes(of: flags.rawValue, toByteOffset: 4, as: UInt8.self)
        bytes.storeBigEndian(UInt32(stream), at: 5)
    }
}

/// One frame of the peer's. *Ownership*: the payload is borrowed until more bytes are read.
struct Frame {
    let head: FrameHead
    let payload: UnsafeRawBufferPointer
}

extension UnsafeRawPointer {
    /// A number of four bytes in network order, at any address.
    func bigEndian32(at offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
}

extension UnsafeMutableRawPointer {
    /// Writes a number of four bytes in network order, at any address.
    func storeBigEndian(_ number: UInt32, at offset: Int) {
        storeBytes(of: number.bigEndian, toByteOffset: offset, as: UInt32.self)
    }
}

extension HTTP2Error {
    /// The peer broke the protocol in a way that has no code of its own.
    static func protocolError(_ message: String) -> HTTP2Error {
        HTTP2Error(code: .protocolError, message: message)
    }

    /// A frame has a length that its type does not allow.
    static func frameSizeError(_ message: String) -> HTTP2Error {
        HTTP2Error(code: .frameSizeError, message: message)
    }

    /// The peer makes more work than any honest one.
    static func enhanceYourCalm(_ message: String) -> HTTP2Error {
        HTTP2Error(code: .enhanceYourCalm, message: message)
    }
}
