import Glibc
import TestSupport
import Testing

@testable import MockAPNS

/// Clients that mean harm: the local APNs neither ends nor grows, and serves others all the while.
@Suite(.timeLimit(.minutes(5)))
struct HostileClientTests {
    /// What the second half of an attack may add to the memory of the first: arenas of the
    /// allocator settle late. An attack that were kept in memory would add far more.
    private static let growthKiBMax = 8_192

    /// Attacks a process of its own, and looks at its memory, at its answers and at its end.
    private func survive(
        rounds: Int, _ options: String..., attack: (MockProcess, Int) throws -> Void
    ) throws {
        let mock = try MockProcess(options)
        for round in 0..<rounds { try attack(mock, round) }
        #expect(try mock.answersPush())
        let before = try mock.memoryKiB()
        for round in rounds..<(2 * rounds) { try attack(mock, round) }
        #expect(try mock.answersPush())
        let growth = try mock.memoryKiB() - before
        #expect(growth < Self.growthKiBMax, "grew by \(growth) KiB over \(before)")
        #expect(mock.stop())
    }

    /// Sends all, tells the server that no more comes, and waits for its end of the connection.
    @discardableResult
    private func sendAndEnd(_ mock: MockProcess, _ bytes: [UInt8]) throws -> [UInt8] {
        let wire = try mock.connect()
        // A server that has had enough ends the connection in the middle: an error here is its
        // right.
        _ = try? wire.send(bytes)
        wire.finish()
        return wire.receiveToEnd()
    }

    private func lastGoAwayCode(_ bytes: [UInt8]) -> UInt8? {
        Frames.all(in: bytes).last { $0.type == 7 }.map { $0.payload[7] }
    }

    @Test("frames of chance, and good ones with bytes of chance in them")
    func fuzz() throws {
        try survive(rounds: 60) { mock, round in
            var random = SeededGenerator(seed: testSeed &+ UInt64(round))
            var bytes = Frames.preface
            for number in 0..<UInt32(40) {
                if Bool.random(using: &random) {
                    var push = Frames.push(stream: 2 * number + 1)
                    for _ in 0..<Int.random(in: 0...2, using: &random) {
                        let place = Int.random(in: push.indices, using: &random)
                        push[place] = .random(in: 0...255, using: &random)
                    }
                    bytes += push
                } else {
                    let count = Int.random(in: 0...600, using: &random)
                    bytes += Frames.frame(
                        .random(in: 0...11, using: &random),
                        flags: .random(in: 0...255, using: &random),
                        stream: .random(in: 0...80, using: &random),
                        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
                }
            }
            try sendAndEnd(mock, bytes)
        }
    }

    @Test("bytes that are no TLS, and handshakes that stop in the middle")
    func tlsGarbage() throws {
        try survive(rounds: 60) { mock, round in
            var random = SeededGenerator(seed: testSeed &+ UInt64(round))
            let descriptor = try TLSWire.connect(port: mock.port)
            defer { close(descriptor) }
            var bytes = (0..<2_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            // RFC 8446 section 5.1: every third looks like the beginning of a large handshake
            // record.
            if round % 3 == 0 { bytes.replaceSubrange(0..<6, with: [22, 3, 1, 0x3F, 0xFF, 1]) }
            send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            shutdown(descriptor, Int32(SHUT_WR))
            var block = [UInt8](repeating: 0, count: 4_096)
            while recv(descriptor, &block, block.count, 0) > 0 {}
        }
    }

    @Test("slow clients: a byte at a time is served, a header that never ends holds up nobody")
    func slow() throws {
        let mock = try MockProcess()
        let waiting = try (0..<50).map { _ in
            let wire = try mock.connect()
            try wire.send(Frames.preface + Frames.headers(stream: 1, flags: 0).prefix(60))
            return wire
        }
        let wire = try mock.connect()
        for byte in Frames.preface + Frames.push(stream: 1) { try wire.send([byte]) }
        var bytes: [UInt8] = []
        while !Frames.all(in: bytes).contains(where: { $0.type == 1 }),
            let more = try wire.receive()
        { bytes += more }
        #expect(Frames.all(in: bytes).first { $0.type == 1 }?.payload.first == 0x88)
        #expect(try mock.answersPush())
        #expect(waiting.count == 50)
        #expect(mock.stop())
    }

    @Test("header bombs: a small block that unfolds to megabytes, and lists over 8,000 bytes")
    func headerBombs() throws {
        // RFC 7541 section 6.2.1: an entry of 4,000 bytes into the table; 0xBE refers to it.
        let entry = [0x40] + Frames.text("bomb") + Frames.text(String(repeating: "x", count: 3_900))
        let block =
            Frames.block(Frames.requestFields) + entry + [UInt8](repeating: 0xBE, count: 12_000)
        let large = Frames.block(
            Frames.requestFields + [("x", String(repeating: "y", count: 8_000))])
        // Without the limit of one stream, which would refuse the others.
        try survive(rounds: 20, "--fast") { mock, _ in
            try sendAndEnd(mock, Frames.preface + Frames.frame(1, flags: 5, stream: 1, block))
            var bytes = Frames.preface
            for stream: UInt32 in stride(from: 1, through: 99, by: 2) {
                bytes += Frames.frame(1, flags: 5, stream: stream, large)
            }
            let answers = Frames.all(in: try sendAndEnd(mock, bytes)).filter { $0.type == 1 }
            #expect(answers.count == 50 && answers.allSatisfy { $0.payload.first != 0x88 })
        }
    }

    @Test("rapid resets: streams that are opened and reset at once")
    func rapidResets() throws {
        try survive(rounds: 4) { mock, _ in
            var bytes = Frames.preface
            for number in 0..<UInt32(5_000) {
                bytes += Frames.headers(stream: 2 * number + 1)
                bytes += Frames.frame(3, flags: 0, stream: 2 * number + 1, [0, 0, 0, 8])
            }
            // 11 is ENHANCE_YOUR_CALM; nghttp2 counts resets (CVE-2023-44487).
            let code = lastGoAwayCode(try sendAndEnd(mock, bytes))
            #expect(code == nil || code == 11 || code == 2)
        }
    }

    @Test("CONTINUATION without an end")
    func continuations() throws {
        let field = Frames.block([("x", String(repeating: "y", count: 1_000))])
        try survive(rounds: 10) { mock, _ in
            var bytes = Frames.preface + Frames.headers(stream: 1, flags: 0)
            for _ in 0..<2_000 { bytes += Frames.frame(9, flags: 0, stream: 1, field) }
            try sendAndEnd(mock, bytes)
        }
    }

    @Test(
        "floods of PING, SETTINGS, empty DATA, PRIORITY and WINDOW_UPDATE, whose answers nobody reads",
        arguments: [
            (6, 0, [UInt8](repeating: 7, count: 8)), (4, 0, [0, 3, 0, 0, 0, 100]), (4, 0, []),
            (0, 1, []), (2, 3, [0, 0, 0, 0, 1]), (8, 0, [0, 0, 0, 1]),
        ] as [(UInt8, UInt32, [UInt8])])
    func floods(type: UInt8, stream: UInt32, payload: [UInt8]) throws {
        let frame = Frames.frame(type, flags: 0, stream: stream, payload)
        let flood = Array(repeating: frame, count: 30_000).flatMap { $0 }
        try survive(rounds: 3) { mock, _ in
            try sendAndEnd(mock, Frames.preface + Frames.headers(stream: 1) + flood)
        }
    }

    @Test("idle connections up to the limit: the rest is turned away, and all is given back")
    func idleConnections() throws {
        let limits = MockLimits()
        let mock = try MockProcess()
        for _ in 0..<2 {
            var wires: [TLSWire] = []
            // The ends of an earlier round's connections may arrive later than a new one.
            while wires.count < limits.connectionsMax {
                if let wire = try? mock.connect() { wires.append(wire) }
            }
            #expect(throws: (any Error).self) { try mock.connect() }
            // The allocator keeps what it once had, but never more than for connections at the
            // limit.
            let memoryKiB = try mock.memoryKiB()
            #expect(memoryKiB / limits.connectionsMax < 200, "\(memoryKiB) KiB")
        }
        while (try? mock.answersPush()) != true {}
        #expect(mock.stop())
    }
}
