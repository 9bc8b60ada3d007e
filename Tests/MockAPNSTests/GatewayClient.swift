import CNghttp2
import Crypto
import EventLoop
import Glibc
import TLS

@testable import MockAPNS

/// An HTTP/2 client made of frames written and read by hand (RFC 9113 section 4), so that tests see
/// what is on the wire and can do what no client library does. Only the decompression of header
/// fields is nghttp2's. Waits where it has to, up to ten seconds.
final class GatewayClient {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// What came back on a stream.
    struct Answer {
        var headers: [(name: String, value: String)] = []
        var body = ""
        var isComplete = false
        /// The code of RST_STREAM.
        var resetCode: UInt32?

        subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
        var status: String { self[":status"] ?? "none" }
    }

    struct GoAway: Equatable { var lastStream: UInt32, code: UInt32, debugData: String }

    /// Every SETTINGS of the server in order, entries in order.
    private(set) var settings: [[(id: UInt16, value: UInt32)]] = []
    private(set) var goAway: GoAway?
    private(set) var isClosed = false
    /// Increments by stream; 0 is the connection.
    private(set) var windowUpdates: [(stream: UInt32, bytes: UInt32)] = []
    /// Whether SETTINGS are acknowledged as they arrive.
    var acknowledges = true

    private let descriptor: Int32
    private let tls: TLSStream
    private let inflater: OpaquePointer
    private var answers: [UInt32: Answer] = [:]
    private var nextStream: UInt32 = 1
    private var received: [UInt8] = []
    private var pongCount = 0

    /// Connects, and sends the preface with an empty SETTINGS.
    init(_ server: MockServer, identity: CertificatePair? = nil) throws {
        var made: OpaquePointer?
        nghttp2_hd_inflate_new(&made)
        inflater = made!
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        let connected = server.address.withSockaddr {
            connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), $1)
        }
        guard connected == 0 else { throw Failure(description: "connect: errno \(errno)") }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let context = try TLSContext.client(caFile: server.caFile, identity: identity)
        tls = try TLSStream(
            context: context, descriptor: descriptor, role: .client(serverName: "127.0.0.1"))
        while case let progress = try tls.handshake(), progress != .done {
            try wait(progress == .wantsRead ? POLLIN : POLLOUT)
        }
        try write(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, 0, 0, []))
    }

    deinit {
        nghttp2_hd_inflate_del(inflater)
        close(descriptor)
    }

    /// The limit of concurrent streams that was announced last.
    var streamsMax: UInt32? { settings.flatMap { $0 }.last { $0.id == 3 }?.value }

    // MARK: Requests

    /// Sends a request in one go; returns its stream.
    func send(_ sample: SampleRequest) throws -> UInt32 {
        let stream = try open(sample, isWhole: sample.body.isEmpty)
        // As large as a frame may be; the server's windows are this client's own business.
        var rest = sample.body[...]
        while !rest.isEmpty {
            let part = rest.prefix(16_384)
            rest = rest.dropFirst(16_384)
            try write(Self.frame(0, rest.isEmpty ? 1 : 0, stream, Array(part)))
        }
        return stream
    }

    /// Sends the headers of a request, which stays open unless it is whole.
    func open(_ sample: SampleRequest, isWhole: Bool = false) throws -> UInt32 {
        let stream = nextStream
        nextStream += 2
        answers[stream] = Answer()
        let fields =
            [
                (":method", sample.method), (":scheme", "https"), (":authority", "localhost"),
                (":path", sample.path),
            ] + sample.headers.map { ($0.name, $0.value) }
        var block: [UInt8] = []
        for (name, value) in fields {  // Literals without indexing, RFC 7541 section 6.2.2.
            block += [0] + Self.text(name) + Self.text(value)
        }
        try write(Self.frame(1, 4 | (isWhole ? 1 : 0), stream, block))
        return stream
    }

    /// Sends body bytes on an open stream.
    func sendData(_ bytes: [UInt8], on stream: UInt32, isLast: Bool) throws {
        try write(Self.frame(0, isLast ? 1 : 0, stream, bytes))
    }

    /// Waits for the whole answer, or the stream's reset.
    func answer(on stream: UInt32) throws -> Answer {
        while true {
            if let answer = answers[stream], answer.isComplete || answer.resetCode != nil {
                return answer
            }
            guard try readMore() else {
                throw Failure(description: "the connection ended before stream \(stream)")
            }
        }
    }

    /// Sends a request and waits for its answer, and for everything that came with it.
    func exchange(_ sample: SampleRequest) throws -> Answer {
        let answer = try answer(on: try send(sample))
        try synchronise()
        return answer
    }

    /// Waits until the server has answered everything before this (RFC 9113 section 6.7).
    func synchronise() throws {
        let pongs = pongCount
        try write(Self.frame(6, 0, 0, [UInt8](repeating: 7, count: 8)))
        while pongCount == pongs, try readMore() {}
    }

    /// Waits for the end of the connection.
    func waitForEnd() throws {
        while try readMore() {}
    }

    // MARK: Frames

    private static func frame(
        _ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]
    ) -> [UInt8] {
        bytes(UInt32(payload.count)).dropFirst() + [kind, flags] + bytes(stream) + payload
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// A string literal, RFC 7541 section 5.2.
    private static func text(_ text: String) -> [UInt8] {
        var length: [UInt8] = []
        var rest = text.utf8.count
        if rest < 127 {
            length = [UInt8(rest)]
        } else {
            rest -= 127
            length = [127]
            while rest >= 128 {
                length.append(UInt8(rest & 127) | 128)
                rest >>= 7
            }
            length.append(UInt8(rest))
        }
        return length + text.utf8
    }

    private func take(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ body: [UInt8]) throws {
        switch kind {
        case 0:
            answers[stream]?.body += String(decoding: body, as: UTF8.self)
            if flags & 1 != 0 { answers[stream]?.isComplete = true }
        case 1:
            for field in inflate(body) { answers[stream]?.headers.append(field) }
            if flags & 1 != 0 { answers[stream]?.isComplete = true }
        case 3: answers[stream]?.resetCode = Self.number(body)
        case 4 where flags & 1 == 0:
            settings.append(
                stride(from: 0, to: body.count, by: 6).map { start in
                    (
                        UInt16(Self.number(body[start..<start + 2])),
                        Self.number(body[start + 2..<start + 6])
                    )
                })
            if acknowledges { try write(Self.frame(4, 1, 0, [])) }
        case 6 where flags & 1 != 0: pongCount += 1
        case 7:
            goAway = GoAway(
                lastStream: Self.number(body[..<4]), code: Self.number(body[4..<8]),
                debugData: String(decoding: body[8...], as: UTF8.self))
        case 8: windowUpdates.append((stream, Self.number(body)))
        default: break
        }
    }

    private func inflate(_ block: [UInt8]) -> [(name: String, value: String)] {
        var fields: [(String, String)] = []
        block.withUnsafeBufferPointer { block in
            var position = block.baseAddress
            var left = block.count
            while true {
                var field = nghttp2_nv()
                var flags: Int32 = 0
                let count = nghttp2_hd_inflate_hd2(inflater, &field, &flags, position, left, 1)
                guard count >= 0 else { return }
                position? += count
                left -= count
                if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                    let name = UnsafeBufferPointer(start: field.name, count: field.namelen)
                    let value = UnsafeBufferPointer(start: field.value, count: field.valuelen)
                    fields.append(
                        (
                            String(decoding: name, as: UTF8.self),
                            String(decoding: value, as: UTF8.self)
                        ))
                }
                if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
            }
            nghttp2_hd_inflate_end_headers(inflater)
        }
        return fields
    }

    // MARK: Bytes

    /// Takes in what the server has sent next; false when the connection is over.
    private func readMore() throws -> Bool {
        var block = [UInt8](repeating: 0, count: 16_384)
        while !isClosed {
            let result = try? block.withUnsafeMutableBytes { try tls.read(into: $0) }
            switch result {
            case .bytes(let count):
                received += block[..<count]
                while received.count >= 9,
                    case let length = Int(Self.number(received[..<3])),
                    received.count >= 9 + length
                {
                    let (head, body) = (received[..<9], Array(received[9..<9 + length]))
                    try take(head[3], head[4], Self.number(head[5..<9]) & 0x7FFF_FFFF, body)
                    received.removeFirst(9 + length)
                }
                return true
            case .wantsRead: try wait(POLLIN)
            case .wantsWrite: try wait(POLLOUT)
            case .end, nil: isClosed = true
            }
        }
        return false
    }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty, !isClosed {
            switch try? rest.withUnsafeBytes({ try tls.write($0) }) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .wantsWrite: try wait(POLLOUT)
            case .wantsRead: try wait(POLLIN)
            case .end, nil: return  // What the server has said before it closed can still be read.
            }
        }
    }

    private func wait(_ events: Int32) throws {
        var descriptors = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        guard poll(&descriptors, 1, 10_000) > 0 else {
            throw Failure(description: "nothing came for ten seconds")
        }
    }
}
