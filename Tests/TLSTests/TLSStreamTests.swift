import Crypto
import Glibc
import TLS
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct TLSStreamTests {
    @Test func aLargeTransferSurvivesPartialWritesAndMovingBuffers() throws {
        let rig = try TLSRig()
        try #require(rig.handshake())
        var generator = SeededGenerator(seed: testSeed)
        let sent = (0..<1_000_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var offset = 0
        var received: [UInt8] = []
        var blocked = 0
        while received.count < sent.count {
            // Each write offers a new array: another address, never fewer bytes than before.
            if offset < sent.count {
                let piece = Array(sent[offset..<min(offset + 40_000, sent.count)])
                switch try rig.client.write(piece) {
                case .bytes(let count):
                    #expect(count <= piece.count)
                    offset += count
                    continue
                case .wantsWrite: blocked += 1
                case let other: Issue.record("\(other)")
                }
            }
            while case (.bytes, let bytes) = try rig.server.read() { received += bytes }
        }
        #expect(received == sent)
        #expect(blocked > 0)
    }

    @Test func anEmptySocketMeansWantsRead() throws {
        let rig = try TLSRig()
        try #require(rig.handshake())
        #expect(try rig.client.read().0 == .wantsRead)
    }

    @Test(arguments: [true, false])
    func theEndOfThePeerIsSeenAfterItsLastBytes(saysGoodbye: Bool) throws {
        let rig = try TLSRig()
        try #require(rig.handshake())
        #expect(try rig.server.write([1, 2, 3]) == .bytes(3))
        if saysGoodbye { rig.server.shutdown() }
        rig.sockets.closeServer()
        #expect(try rig.client.read().1 == [1, 2, 3])
        #expect(try rig.client.read().0 == .end)
    }

    @Test func writingToAPeerThatIsGoneIsAnErrorAndNoSignal() throws {
        let rig = try TLSRig()
        try #require(rig.handshake())
        rig.sockets.closeServer()
        let error = #expect(throws: TLSError.self) { try rig.client.write([1]) }
        #expect(error?.kind == .socket(EPIPE))
        #expect(error?.description == "Broken pipe")
        rig.client.shutdown()
    }

    @Test func bytesThatAreNotTLSEndTheStream() throws {
        let rig = try TLSRig()
        try #require(rig.handshake())
        let forged: [UInt8] = [23, 3, 3, 0, 32] + [UInt8](repeating: 9, count: 32)
        #expect(send(rig.sockets.server, forged, forged.count, 0) == forged.count)
        let error = #expect(throws: TLSError.self) { try rig.client.read() }
        #expect(error?.kind == .violation)
    }
}
