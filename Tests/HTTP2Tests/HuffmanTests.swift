import TestSupport
import Testing

@testable import HTTP2

/// Header strings in the Huffman code, which a server session decodes before nghttp2 sees them.
@Suite struct HuffmanTests {
    /// Strings from RFC 7541, appendices C.4 and C.6.
    private static let examples: [(text: String, code: [UInt8])] = [
        (
            "www.example.com",
            [0xF1, 0xE3, 0xC2, 0xE5, 0xF2, 0x3A, 0x6B, 0xA0, 0xAB, 0x90, 0xF4, 0xFF]
        ),
        ("no-cache", [0xA8, 0xEB, 0x10, 0x64, 0x9C, 0xBF]),
        ("custom-key", [0x25, 0xA8, 0x49, 0xE9, 0x5B, 0xA9, 0x7D, 0x7F]),
        ("custom-value", [0x25, 0xA8, 0x49, 0xE9, 0x5B, 0xB8, 0xE8, 0xB4, 0xBF]),
        ("302", [0x64, 0x02]),
        ("private", [0xAE, 0xC3, 0x77, 0x1A, 0x4B]),
        (
            "Mon, 21 Oct 2013 20:13:21 GMT",
            [
                0xD0, 0x7A, 0xBE, 0x94, 0x10, 0x54, 0xD4, 0x44, 0xA8, 0x20, 0x05, 0x95, 0x04, 0x0B,
                0x81, 0x66, 0xE0, 0x82, 0xA6, 0x2D, 0x1B, 0xFF,
            ]
        ),
        (
            "https://www.example.com",
            [
                0x9D, 0x29, 0xAD, 0x17, 0x18, 0x63, 0xC7, 0x8F, 0x0B, 0x97, 0xC8, 0xE9, 0xAE, 0x82,
                0xAE, 0x43, 0xD3,
            ]
        ),
        ("307", [0x64, 0x0E, 0xFF]),
        ("gzip", [0x9B, 0xD9, 0xAB]),
        (
            "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
            [
                0x94, 0xE7, 0x82, 0x1D, 0xD7, 0xF2, 0xE6, 0xC7, 0xB3, 0x35, 0xDF, 0xDF, 0xCD, 0x5B,
                0x39, 0x60, 0xD5, 0xAF, 0x27, 0x08, 0x7F, 0x36, 0x72, 0xC1, 0xAB, 0x27, 0x0F, 0xB5,
                0x29, 0x1F, 0x95, 0x87, 0x31, 0x60, 0x65, 0xC0, 0x03, 0xED, 0x4E, 0xE5, 0xB1, 0x06,
                0x3D, 0x50, 0x07,
            ]
        ),
    ]

    private func decode(_ code: [UInt8]) -> String? {
        let room = UnsafeMutableRawBufferPointer.allocate(
            byteCount: ShortHuffman.roomBytes(for: code.count), alignment: 1)
        defer { room.deallocate() }
        return code.withUnsafeBytes { code in
            ShortHuffman().decode(code, to: room.baseAddress!).map {
                text(UnsafeRawBufferPointer(rebasing: room[..<$0]))
            }
        }
    }

    @Test("the RFC's examples are read")
    func examples() {
        for example in Self.examples { #expect(decode(example.code) == example.text) }
        #expect(decode([]) == "")
    }

    @Test("padding that is too long or not of ones is not read, nor a symbol of many bits")
    func unreadable() {
        // "0" is five zeros.
        #expect(decode([0b0000_0111]) == "0")
        #expect(decode([0b0000_0110]) == nil && decode([0b0000_0011]) == nil)
        #expect(decode([0b0000_0111, 0xFF]) == nil && decode([0xFF]) == nil)
        // "!" is 0x3F8 in ten bits.
        #expect(decode([0xFE, 0x3F]) == nil)
    }

    /// A request made of raw frames, with `fields` behind the pseudo-headers.
    private func receive(
        _ fields: [UInt8], flags: UInt8 = 0, front: [UInt8] = [], pieceBytes: Int = .max
    ) throws -> (recorder: ServerRecorder, error: HTTP2ErrorCode?) {
        let server = try ServerSession(settings: ServerSettings())
        let recorder = ServerRecorder()
        server.delegate = recorder
        try server.receive(RawFrame.clientPreface + RawFrame.settings().bytes)
        let head = literalBlock([
            (":method", "POST"), (":scheme", "https"), (":authority", "a"), (":path", "/"),
        ])
        var rest = RawFrame(
            .headers, flags: RawFrame.endHeaders | RawFrame.endStream | flags, stream: 1,
            front + head + fields
        ).bytes[...]
        do {
            while !rest.isEmpty {
                try server.receive(Array(rest.prefix(pieceBytes)))
                rest = rest.dropFirst(pieceBytes)
            }
        } catch {
            return (recorder, error.code)
        }
        var unread = server.takeOutput()
        let goAway = RawFrame.takeAll(from: &unread).first { $0.kind == .goAway }
        return (recorder, goAway.map { HTTP2ErrorCode(rawValue: number($0.payload[4..<8])) })
    }

    private func coded(_ code: [UInt8]) -> [UInt8] {
        var bytes = integer(code.count, prefixBits: 7)
        bytes[0] |= 0x80
        return bytes + code
    }

    @Test("a session tells coded strings as what they say, whole or in pieces")
    func inASession() throws {
        // "custom-key" as a name, in each kind of literal; the second of them goes into the table.
        var fields: [UInt8] = []
        for (index, example) in Self.examples.enumerated() {
            fields.append([0x00, 0x40, 0x10][index % 3])
            fields += coded(Self.examples[2].code) + coded(example.code)
        }
        for pieceBytes in [Int.max, 7, 1] {
            let (recorder, error) = try receive(fields, pieceBytes: pieceBytes)
            #expect(error == nil)
            #expect(
                recorder.requests.first?.fields.dropFirst(4).map { String($0) }
                    == Self.examples.map { "custom-key: \($0.text)" })
        }
        let priority = try receive(fields, flags: 0x20, front: [0, 0, 0, 0, 15])
        #expect(priority.recorder.requests.first?.fields.count == 4 + Self.examples.count)
    }

    @Test("a coded string with symbols of many bits is left to nghttp2")
    func longSymbols() throws {
        // "!" and six ones.
        let (recorder, error) = try receive([0x00, 1, 0x61] + coded([0xFE, 0x3F]))
        #expect(error == nil && recorder.requests.first?.fields.last == "a: !")
    }

    @Test("a block that HPACK cannot read ends the connection with COMPRESSION_ERROR")
    func unreadableBlocks() throws {
        let blocks: [[UInt8]] = [
            // Padding of zeros, and of eight ones.
            [0x00, 1, 0x61] + coded([0b0000_0110]), [0x00, 1, 0x61] + coded([0x07, 0xFF]),
            // A string that is longer than its block, a number without an end, no such entry.
            [0x00, 1, 0x61, 0x85, 0x07], [0xFF, 0x80], [0xFF, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
            [0x80], [0xFE],
        ]
        for block in blocks {
            for pieceBytes in [Int.max, 1] {
                let (recorder, error) = try receive(block, pieceBytes: pieceBytes)
                #expect(error == .compressionError, "\(block)")
                #expect(recorder.requests.isEmpty)
            }
        }
    }

    @Test("provider tokens that alternate are told as they came")
    func alternatingTokens() throws {
        let pair = try RequestPair()
        var random = SeededGenerator()
        let signs = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.%=\"{~")
        func word(_ count: Int) -> String {
            String((0..<count).map { _ in signs[Int(random.next() % UInt64(signs.count))] })
        }
        let tokens = (0..<3).map { _ in word(160) }
        for round in 0..<60 {
            let token = tokens[Int(random.next() % 3)]
            let other = word(round * 7)
            try pair.send([("authorization", token), ("x", other)])
            let fields = try #require(pair.recorder.requests.last?.fields)
            #expect(fields.contains("authorization: \(token)"))
            #expect(fields.contains("x: \(other)"))
        }
    }
}

/// nghttp2's client, which codes the strings that get shorter by it, and a server session.
private final class RequestPair {
    let client: RequestSession
    let server: ServerSession
    let recorder = ServerRecorder()

    init() throws {
        client = try RequestSession()
        server = try ServerSession(settings: ServerSettings())
        server.delegate = recorder
        recorder.onRequest = { $0.respond(to: $1.stream, 200) }
    }

    func send(_ headers: [(String, String)]) throws {
        _ = client.submit(method: "POST", authority: "a", path: "/3/device/0f", headers: headers)
        var moved = true
        while moved {
            let sent = client.takeOutput()
            if !sent.isEmpty { try server.receive(sent) }
            let received = server.takeOutput()
            if !received.isEmpty { try client.receive(received) }
            moved = !sent.isEmpty || !received.isEmpty
        }
    }
}
