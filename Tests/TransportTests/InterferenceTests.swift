import EventLoop
import Glibc
import HTTP2
import TestSupport
import Testing
import Transport

/// What a test server does to its clients on purpose.
@Suite(.timeLimit(.minutes(5)))
struct InterferenceTests {
    @Test("abort reaches the peer as a reset, not as an end of stream")
    func abort() throws {
        let rig = try TransportRig()
        let (session, recorder) = (ByteSession(), Recorder())
        rig.makeServerSession = {
            let session = ByteSession()
            // Inside a callback of the session, where the end has to wait until it returns.
            session.onReceive = { _, _ in rig.serverConnections[0].abort() }
            return session
        }
        recorder.onOpen = {
            session.send([1])
            $0.setNeedsFlush()
        }
        recorder.onClose = { _ in rig.loop.stop() }
        let endpoint = try rig.listen()
        let connection = try rig.connect(to: endpoint, session: session, recorder: recorder)
        try rig.run()
        #expect(connection.phase == .closed)
        let reset = String(cString: strerror(ECONNRESET))
        #expect("\(recorder.closeCauses)".contains(reset), "\(recorder.closeCauses)")
        #expect(rig.serverSessions[0].endedCount == 1)
        #expect(rig.serverRecorder.closeCauses.count == 1)
    }

    @Test("a socket that is reset before there is a connection fails the client's handshake")
    func resetDescriptor() throws {
        let rig = try TransportRig()
        let (session, recorder) = (ByteSession(), Recorder())
        let any = try #require(SocketAddress.parse(numericHost: "127.0.0.1", port: 0))
        let listener = try Listener(address: any, loop: rig.loop) {
            Connection.reset(descriptor: $0)
        }
        recorder.onClose = { _ in rig.loop.stop() }
        let endpoint = Endpoint(host: "127.0.0.1", port: listener.address.port)
        let connection = try rig.connect(to: endpoint, session: session, recorder: recorder)
        try withExtendedLifetime(connection) { try rig.run() }
        listener.close()
        #expect(recorder.openCount == 0 && recorder.closeCauses.count == 1)
    }

    @Test("a connection that does not read still writes, and reads on when it is told to")
    func pause() throws {
        let rig = try TransportRig()
        let (session, recorder) = (ByteSession(), Recorder())
        rig.serverRecorder.onOpen = { connection in
            connection.pauseReading()
            rig.serverSessions[0].send([7])
        }
        var receivedWhilePaused = -1
        session.onReceive = { _, bytes in
            #expect(Array(bytes) == [7])
            // The client's own bytes left in the turn before this answer came.
            receivedWhilePaused = rig.serverSessions[0].received.count
            rig.serverConnections[0].resumeReading()
        }
        recorder.onOpen = {
            session.send([1, 2, 3])
            $0.setNeedsFlush()
        }
        rig.makeServerSession = {
            let server = ByteSession()
            server.onReceive = { session, bytes in
                session.received += bytes
                rig.loop.stop()
            }
            return server
        }
        let endpoint = try rig.listen()
        let connection = try rig.connect(to: endpoint, session: session, recorder: recorder)
        try withExtendedLifetime(connection) { try rig.run() }
        #expect(receivedWhilePaused == 0)
        #expect(rig.serverSessions[0].received == [1, 2, 3])
    }

    @Test("held bytes reach the session when they are delivered, and never after the end")
    func hold() throws {
        let rig = try TransportRig()
        let (session, recorder) = (ByteSession(), Recorder())
        var held: [UInt8] = []
        rig.serverRecorder.onOpen = { connection in
            connection.holdBytes = { bytes in
                held += bytes
                rig.loop.stop()
            }
        }
        recorder.onOpen = {
            session.send([1, 2, 3])
            $0.setNeedsFlush()
        }
        let endpoint = try rig.listen()
        let connection = try rig.connect(to: endpoint, session: session, recorder: recorder)
        try withExtendedLifetime(connection) { try rig.run() }
        let (server, serverSession) = (rig.serverConnections[0], rig.serverSessions[0])
        #expect(held == [1, 2, 3] && serverSession.received == [])
        held.withUnsafeBytes { server.deliver($0) }
        #expect(serverSession.received == [1, 2, 3])
        server.close()
        held.withUnsafeBytes { server.deliver($0) }
        #expect(serverSession.received == [1, 2, 3])
    }
}
