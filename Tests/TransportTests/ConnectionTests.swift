import EventLoop
import Glibc
import HTTP2
import TLS
import TestSupport
import Testing
import Transport

@Suite(.timeLimit(.minutes(5)))
struct ConnectionTests {
    @Test func bytesGoBothWaysAndAFinishedSessionClosesPolitely() throws {
        let rig = try TransportRig()
        rig.makeServerSession = {
            let session = ByteSession()
            session.onReceive = { session, bytes in
                session.received += bytes
                session.send(bytes.map { $0 &+ 1 })
            }
            return session
        }
        let (session, recorder) = (ByteSession(), Recorder())
        session.onReceive = { session, bytes in
            session.received += bytes
            session.isFinished = session.received.count == 3
        }
        recorder.onOpen = { connection in
            #expect(connection.phase == .open)
            #expect(connection.tlsSummary == "TLSv1.3 TLS_AES_128_GCM_SHA256")
            session.send([1, 2, 3])
            connection.setNeedsFlush()
        }
        rig.serverRecorder.onClose = { _ in rig.loop.stop() }
        let endpoint = try rig.listen()
        let connection = try rig.connect(to: endpoint, session: session, recorder: recorder)
        #expect(connection.phase == .resolving)
        try rig.run()
        #expect(session.received == [2, 3, 4])
        #expect(rig.serverSessions[0].received == [1, 2, 3])
        #expect(recorder.openCount == 1)
        #expect(recorder.closeCauses.count == 1)
        #expect(recorder.closeCauses[0] == nil)
        #expect(connection.peer?.port == endpoint.port)
        #expect(connection.bytesSent == 3 && connection.bytesReceived == 3)
        // The server still had a use for the connection.
        #expect("\(rig.serverRecorder.closeCauses)".contains("the other side closed"))
        #expect(session.endedCount == 1 && rig.serverSessions[0].endedCount == 1)
    }

    @Test func theSessionEndsBeforeTheDelegateHears() throws {
        let rig = try TransportRig()
        let (session, recorder) = (ByteSession(), Recorder())
        var order: [String] = []
        session.onEnd = { order.append("session") }
        recorder.onClose = { _ in
            order.append("delegate")
            rig.loop.stop()
        }
        recorder.onOpen = { $0.close(.timedOut(.open)) }
        let connection = try rig.connect(to: rig.listen(), session: session, recorder: recorder)
        try rig.run()
        connection.close()
        connection.setNeedsFlush()
        #expect(order == ["session", "delegate"])
        guard case .timedOut(.open)? = recorder.closeCauses[0] else {
            Issue.record("\(recorder.closeCauses)")
            return
        }
    }

    @Test(arguments: ["open", "receive", "flush", "pump"])
    func closingInsideAnyCallbackIsSafe(place: String) throws {
        let rig = try TransportRig()
        rig.makeServerSession = {
            let session = ByteSession()
            session.send([9])
            return session
        }
        let (session, recorder) = (ByteSession(), Recorder())
        var connection: Connection?
        var endedInside = false
        func closeHere(_ at: String) {
            guard at == place, let open = connection, open.phase == .open else { return }
            open.close(.local("enough"))
            open.close(.local("later"))
            // Inside the session it is told only when it has returned.
            if at == "receive" || at == "pump" { endedInside = session.endedCount > 0 }
        }
        recorder.onOpen = { _ in closeHere("open") }
        recorder.onFlush = { _ in closeHere("flush") }
        session.onReceive = { _, _ in closeHere("receive") }
        session.onPump = { _ in closeHere("pump") }
        recorder.onClose = { _ in rig.loop.stop() }
        connection = try rig.connect(to: rig.listen(), session: session, recorder: recorder)
        try rig.run()
        #expect(!endedInside)
        #expect(session.endedCount == 1)
        #expect(recorder.closeCauses.count == 1)
        #expect(recorder.closeCauses[0]?.description == "enough")
    }

    /// Lessons B22, B23: one path of error from the socket to whoever waits.
    @Test func aPeerThatVanishesIsReportedOnceAndTheSessionTold() throws {
        let rig = try TransportRig()
        let (session, recorder) = (ByteSession(), Recorder())
        rig.serverRecorder.onOpen = { _ in rig.dropServerConnections() }
        recorder.onClose = { _ in rig.loop.stop() }
        let connection = try rig.connect(to: rig.listen(), session: session, recorder: recorder)
        try rig.run()
        #expect("\(recorder.closeCauses)".contains("the other side closed"))
        #expect(recorder.closeCauses.count == 1 && session.endedCount == 1)
        #expect(connection.phase == .closed)
    }

    @Test func aPeerThatSaysGoodbyeToAFinishedSessionIsNoFailure() throws {
        let rig = try TransportRig()
        let (session, recorder) = (ByteSession(), Recorder())
        rig.makeServerSession = {
            let session = ByteSession()
            session.send(Array("bye".utf8))
            session.isFinished = true
            return session
        }
        session.onReceive = { session, _ in session.isFinished = true }
        recorder.onClose = { _ in rig.loop.stop() }
        let connection = try rig.connect(to: rig.listen(), session: session, recorder: recorder)
        try rig.run()
        #expect(recorder.closeCauses.count == 1 && recorder.closeCauses[0] == nil)
        #expect(connection.bytesReceived == 3)
    }

    @Test(arguments: [(open: 0, sends: true), (1, true), (0, false)])
    func aPeerThatGoesWithoutAGoodbye(open: Int, sends: Bool) throws {
        let rig = try TransportRig()
        let (session, recorder) = (ByteSession(), Recorder())
        session.openStreamCount = open
        rig.makeServerSession = {
            let session = ByteSession()
            if sends { session.send([1]) }
            session.isFinished = true
            return session
        }
        recorder.onClose = { _ in rig.loop.stop() }
        let connection = try rig.connect(to: rig.listen(), session: session, recorder: recorder)
        try rig.run()
        // A failure unless nothing was open and the peer had at least begun to speak.
        let isPolite = recorder.closeCauses.count == 1 && recorder.closeCauses[0] == nil
        #expect(isPolite == (open == 0 && sends), "\(recorder.closeCauses)")
        #expect(connection.phase == .closed)
    }

    /// A session may learn why it must end while it writes, when `receive` can throw no more.
    @Test(arguments: [true, false])
    func aSessionThatFinishesWithAnErrorEndsWithIt(peerGoesFirst: Bool) throws {
        let rig = try TransportRig()
        let (session, recorder) = (ByteSession(), Recorder())
        rig.makeServerSession = {
            let session = ByteSession()
            session.send([1])
            session.isFinished = peerGoesFirst
            return session
        }
        session.openStreamCount = 0
        session.onReceive = { session, _ in
            session.failure = HTTP2Error(code: .protocolError, message: "a test")
            session.isFinished = !peerGoesFirst
        }
        recorder.onClose = { _ in rig.loop.stop() }
        let connection = try rig.connect(to: rig.listen(), session: session, recorder: recorder)
        try rig.run()
        #expect(recorder.closeCauses.count == 1)
        #expect("\(recorder.closeCauses)".contains("PROTOCOL_ERROR (1)"))
        #expect(connection.phase == .closed)
    }

    @Test func aBrokenProtocolEndsItAfterTheLastWordIsSent() throws {
        let rig = try TransportRig()
        rig.makeServerSession = {
            let session = ByteSession()
            session.onReceive = { session, _ throws(HTTP2Error) in
                session.send(Array("GOAWAY".utf8))
                throw HTTP2Error(code: .protocolError, message: "a test")
            }
            return session
        }
        let (session, recorder) = (ByteSession(), Recorder())
        recorder.onOpen = { _ in session.send([1]) }
        recorder.onClose = { _ in rig.loop.stop() }
        let connection = try rig.connect(to: rig.listen(), session: session, recorder: recorder)
        try rig.run()
        #expect(session.received == Array("GOAWAY".utf8))
        #expect("\(rig.serverRecorder.closeCauses)".contains("PROTOCOL_ERROR (1)"))
        #expect(connection.phase == .closed)
    }

    @Test func aDroppedConnectionGivesItsDescriptorBackAndStaysSilent() throws {
        let rig = try TransportRig()
        let recorder = Recorder()
        weak var dropped: Connection?
        var connection: Connection?
        recorder.onOpen = { _ in connection = nil }
        recorder.onClose = { _ in Issue.record("a dropped connection spoke") }
        // The server sees the end of the stream: the client's descriptor is closed.
        rig.serverRecorder.onClose = { _ in rig.loop.stop() }
        connection = try rig.connect(to: rig.listen(), session: ByteSession(), recorder: recorder)
        dropped = connection
        try rig.run()
        #expect(dropped == nil)
        #expect(rig.serverRecorder.closeCauses.count == 1)
    }

    @Test func whatTheDelegateAddsBeforeTheFlushLeavesInTheSameTurn() throws {
        let rig = try TransportRig()
        let (session, recorder) = (ByteSession(), Recorder())
        var left = 5
        // One byte whenever there may be room; nobody calls setNeedsFlush.
        recorder.onFlush = { _ in
            if left > 0 {
                left -= 1
                session.send([UInt8(left)])
            }
        }
        rig.makeServerSession = {
            let session = ByteSession()
            session.onReceive = { session, bytes in
                session.received += bytes
                if session.received.count == 5 { rig.loop.stop() }
            }
            return session
        }
        let connection = try rig.connect(to: rig.listen(), session: session, recorder: recorder)
        try rig.run()
        #expect(rig.serverSessions[0].received == [4, 3, 2, 1, 0])
        #expect(connection.bytesSent == 5)
    }
}
