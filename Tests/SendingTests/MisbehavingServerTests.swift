import APNS
import HTTP2
import Testing
import Transport

@testable import Sending

/// Servers with which no run can go well: it ends, says why, and leaves every row for later.
@Suite(.timeLimit(.minutes(5))) struct MisbehavingServerTests {
    private func stops(
        _ server: ScriptedServer, naming text: String, connectionsMax: Int = 12,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> SentRun {
        var rig = SendingRig(server, rows: 50)
        rig.options.connections = 2
        rig.manifest["timeouts"] = "{connect: '150ms', request: '150ms', drain: '150ms'}"
        let sent = try rig.send(sourceLocation: sourceLocation)
        #expect(sent.summary.exitStatus == 3, sourceLocation: sourceLocation)
        #expect(sent.count(.accepted) == 0, sourceLocation: sourceLocation)
        let message = sent.summary.stoppedBecause ?? ""
        #expect(message.contains(text), "\(message)", sourceLocation: sourceLocation)
        #expect(
            message.contains(server.endpoint.description), "\(message)",
            sourceLocation: sourceLocation)
        #expect(server.log.connectionCount <= connectionsMax, sourceLocation: sourceLocation)
        return sent
    }

    /// B70, B92
    @Test func oneThatClosesEveryConnection() throws {
        let server = try ScriptedServer(opening: { _ in .close }, script: { _ in .accept })
        // A closed or a reset connection, as the system has it.
        let sent = try stops(server, naming: "check that this is an APNs server")
        #expect(sent.rows(with: OpenState.untouched) == 50)
        #expect(server.log.connectionCount == 3)
    }

    /// B13
    @Test func oneThatTakesConnectionsAndIsSilent() throws {
        let server = try ScriptedServer(opening: { _ in .silence }, script: { _ in .accept })
        let sent = try stops(server, naming: "in time")
        #expect(sent.rows(with: OpenState.untouched) == 50)
    }

    @Test func oneThatSaysGoodbyeAtOnce() throws {
        let server = try ScriptedServer(opening: { _ in .goAway }, script: { _ in .accept })
        let sent = try stops(server, naming: "closed the connection")
        #expect(sent.rows(with: OpenState.untouched) == 50)
        #expect(sent.summary.attempts == 0)
    }

    @Test func oneThatNamesItsSettingsAndAnswersNothing() throws {
        let server = try ScriptedServer { _ in .silence }
        let sent = try stops(server, naming: "did not answer in time")
        #expect(sent.summary.inDoubt > 0)
    }

    @Test func oneThatAllowsNoStreams() throws {
        var settings = ServerSettings()
        settings.concurrentStreamsMax = 0
        let server = try ScriptedServer(settings: settings) { _ in .accept }
        let sent = try stops(server, naming: "it allows 0 streams")
        #expect(sent.rows(with: OpenState.untouched) == 50)
        #expect(server.log.requests.isEmpty)
    }

    @Test func oneThatNeverOpensItsWindow() throws {
        var settings = ServerSettings()
        settings.initialWindowBytes = 0
        let server = try ScriptedServer(settings: settings) { _ in .accept }
        _ = try stops(server, naming: "did not answer in time")
        #expect(server.log.requests.isEmpty)
    }

    /// B36: unprocessed requests spend no attempt, so that something else must bound them.
    @Test func oneThatRefusesEveryStream() throws {
        let server = try ScriptedServer { _ in .reset(.refusedStream) }
        let sent = try stops(server, naming: "REFUSED_STREAM")
        #expect(sent.rows(with: OpenState.untouched) == 50)
        #expect(sent.summary.attempts == 0)
        #expect(server.log.requests.count < 60)
    }

    @Test func oneThatTakesNothingBeforeItsGoAway() throws {
        let server = try ScriptedServer { _ in .goAwayBefore }
        let sent = try stops(server, naming: "closed")
        #expect(sent.rows(with: OpenState.untouched) == 50)
        #expect(sent.summary.attempts == 0)
    }

    @Test func oneThatCutsEveryConnectionAtItsFirstRequest() throws {
        let server = try ScriptedServer { _ in .cut }
        let sent = try stops(server, naming: "closed the connection")
        #expect(sent.rows(with: OpenState.inDoubt) > 0)
    }

    /// One row a connection is slow but not hopeless.
    @Test func oneThatRecyclesEveryConnectionAfterOneAnswerIsPutUpWith() throws {
        let server = try ScriptedServer { $0.index == 0 ? .accept : .goAwayBefore }
        let sent = try SendingRig(server, rows: 20).send()
        #expect(sent.summary.exitStatus == 0)
        #expect(sent.count(.accepted) == 20)
        #expect(sent.summary.attempts == 20)
        #expect(server.log.accepted.values.allSatisfy { $0 == 1 })
    }

    /// All rows are done then: there is nothing to connect again for.
    @Test func oneThatEndsWithTheLastAnswerEndsNoRunBadly() throws {
        let server = try ScriptedServer(
            opening: { $0 == 0 ? .serve : .close },
            script: { $0.row == 20 ? .acceptAndClose : .accept })
        var rig = SendingRig(server, rows: 20)
        rig.options.streams = 1
        let sent = try rig.send()
        #expect(sent.summary.exitStatus == 0)
        #expect(sent.count(.accepted) == 20)
        #expect(server.log.connectionCount == 1)
    }

    @Test func noServerAtAll() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server, rows: 5)
        // Port 1 of this machine: nobody listens there.
        rig.options.endpoint = Endpoint(host: "127.0.0.1", port: 1)
        let sent = try rig.send()
        #expect(sent.summary.exitStatus == 3)
        #expect(sent.summary.stoppedBecause?.contains("127.0.0.1:1") == true)
        #expect(sent.rows(with: OpenState.untouched) == 5)
    }
}
