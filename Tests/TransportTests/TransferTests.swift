import Crypto
import EventLoop
import Glibc
import HTTP2
import TLS
import TestSupport
import Testing
import Transport

@Suite(.timeLimit(.minutes(5)))
struct TransferTests {
    /// Byte `index` of the test's stream; 251 is prime, so that no block size divides its period.
    private static func byte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: index % 251) }

    /// 4096 bytes of the stream from any point within its period.
    private static let blocks = (0..<251 + 4096).map(byte)

    /// A session that sends `count` bytes of the stream as room permits.
    private static func source(_ count: Int, outputBytes: Int) -> ByteSession {
        let session = ByteSession(outputBytes: outputBytes)
        var sent = 0
        session.onPump = { session in
            while sent < count, session.output.free > 0 {
                let size = min(count - sent, session.output.free, 4096)
                blocks.withUnsafeBytes {
                    let piece = $0[(sent % 251)...].prefix(size)
                    _ = session.output.append(UnsafeRawBufferPointer(rebasing: piece))
                }
                sent += size
            }
        }
        return session
    }

    @Test func aSlowReaderLosesNothingAndTheOutputStaysBounded() throws {
        let rig = try TransportRig()
        let total = 8_000_000
        let listener = try BareListener()
        let session = TransferTests.source(total, outputBytes: 32_768)
        let recorder = Recorder()
        var callsWhileBlocked = 0
        recorder.onFlush = { _ in callsWhileBlocked += 1 }
        recorder.onClose = { _ in rig.loop.stop() }
        let reader = SlowReader(listener: listener.descriptor, total: total)
        let thread = try PlatformThread.start(name: "slow reader") { reader.run() }
        let connection = try rig.connect(
            to: listener.endpoint, session: session, recorder: recorder)
        try rig.run()
        thread.join()
        withExtendedLifetime(listener) {}
        #expect(reader.failure == nil)
        #expect(connection.bytesSent == UInt64(total))
        #expect(session.output.count == 0)
        // Blocked writes are waited for and not tried again and again.
        #expect(callsWhileBlocked < 8_000)
    }

    @Test func bothDirectionsAtOnceAreCompleteOnManyConnections() throws {
        let rig = try TransportRig()
        let (count, bytes) = (40, 200_000)
        var complete = 0
        func endpointSession() -> ByteSession {
            let session = TransferTests.source(bytes, outputBytes: 16_384)
            var seen = 0
            session.onReceive = { session, piece in
                for byte in piece {
                    if byte != UInt8(truncatingIfNeeded: seen % 251) {
                        Issue.record("byte \(seen)")
                    }
                    seen += 1
                }
                if seen == bytes {
                    complete += 1
                    if complete == 2 * count { rig.loop.stop() }
                }
            }
            return session
        }
        rig.makeServerSession = endpointSession
        let endpoint = try rig.listen()
        let recorder = Recorder()
        let connections = try (0..<count).map { _ in
            try rig.connect(to: endpoint, session: endpointSession(), recorder: recorder)
        }
        try rig.run()
        #expect(complete == 2 * count)
        #expect(connections.allSatisfy { $0.bytesReceived == UInt64(bytes) })
        #expect(recorder.openCount == count && recorder.closeCauses.isEmpty)
    }

    @Test func oneBusyConnectionDoesNotKeepTheLoopFromTimers() throws {
        let rig = try TransportRig()
        // An endless stream on the same loop as its reader: always more to read and to write.
        rig.makeServerSession = { TransferTests.source(.max, outputBytes: 65_536) }
        let (session, recorder) = (ByteSession(), Recorder())
        session.onReceive = { _, _ in }
        var ticks = 0
        let timer = try rig.loop.makeTimer {
            ticks += 1
            if ticks == 20 { rig.loop.stop() }
        }
        defer { timer.close() }
        recorder.onOpen = { _ in timer.start(afterMs: 1, repeatMs: 1) }
        let connection = try rig.connect(to: rig.listen(), session: session, recorder: recorder)
        try rig.run()
        #expect(ticks == 20)
        #expect(connection.bytesReceived > 0)
    }
}

/// A TLS server on its own thread that reads 700 bytes at a time, and gives up on a wrong byte.
/// `@unchecked Sendable`: read by the test after its thread was joined.
private final class SlowReader: @unchecked Sendable {
    private let listener: Int32
    private let total: Int
    private(set) var failure: String?

    init(listener: Int32, total: Int) {
        self.listener = listener
        self.total = total
    }

    func run() {
        let descriptor = accept(listener, nil, nil)
        defer { close(descriptor) }
        do {
            let pki = TestPKI.shared
            let stream = try TLSStream(
                context: .server(
                    certificatePEM: pki.server.certificatePEM, keyPEM: pki.server.keyPEM),
                descriptor: descriptor, role: .server)
            // The socket blocks, so that each call runs to its end.
            guard try stream.handshake() == .done else {
                failure = "handshake"
                return
            }
            try read(stream)
        } catch { failure = "\(error)" }
    }

    private func read(_ stream: TLSStream) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 700, alignment: 1)
        defer { buffer.deallocate() }
        var seen = 0
        while seen < total {
            guard case .bytes(let count) = try stream.read(into: buffer) else {
                failure = "ended after \(seen) bytes"
                return
            }
            for byte in buffer[..<count] {
                guard byte == UInt8(truncatingIfNeeded: seen % 251) else {
                    failure = "byte \(seen)"
                    return
                }
                seen += 1
            }
        }
    }
}
