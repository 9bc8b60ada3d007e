import APNS
import HTTP2
import Testing

@testable import Sending

/// What a connection may carry, and when.
@Suite(.timeLimit(.minutes(5))) struct ConnectionRuleTests {
    /// B37: Apple allows one stream until the first request with a valid token was answered.
    @Test func aNewConnectionCarriesOneRequestUntilItIsAnswered() throws {
        let server = try ScriptedServer { $0.index == 0 ? .hold : .acceptLater }
        var rig = SendingRig(server, rows: 1_000)
        rig.options.connections = 3
        let running = try rig.start()
        server.waitForRequests(3)
        #expect(server.log.requests.map(\.index) == [0, 0, 0])
        server.releaseHeld()
        let sent = try running.finish()
        #expect(sent.count(.accepted) == 1_000)
        #expect(sent.summary.connections.opened == 3)
        let most = server.log.requests.map(\.openCount).max() ?? 0
        #expect(most > 10)
    }

    /// Apple's limit of one stream belongs to provider tokens: a certificate was accepted with the
    /// connection.
    @Test func withACertificateManyRequestsGoAtOnceAndWithoutAToken() throws {
        let server = try ScriptedServer { _ in .hold }
        var rig = SendingRig(server, rows: 50)
        rig.hasProviderTokens = false
        let running = try rig.start()
        server.waitForRequests(50)
        server.releaseHeld()
        #expect(try running.finish().count(.accepted) == 50)
        #expect(server.log.requests.map(\.openCount).max() == 50)
        #expect(server.log.requests.allSatisfy { $0.authorization.isEmpty })
    }

    @Test func noMoreStreamsThanTheUserAllows() throws {
        let server = try ScriptedServer { _ in .acceptLater }
        var rig = SendingRig(server, rows: 50)
        rig.options.streams = 7
        let sent = try rig.send()
        #expect(sent.count(.accepted) == 50)
        #expect(server.log.requests.map(\.openCount).max() == 7)
    }

    /// B38, B40: the peer's first SETTINGS hold from the first request on.
    @Test func noMoreStreamsThanThePeerAllows() throws {
        var settings = ServerSettings()
        settings.concurrentStreamsMax = 5
        let server = try ScriptedServer(settings: settings) { _ in .acceptLater }
        let sent = try SendingRig(server, rows: 50).send()
        #expect(sent.count(.accepted) == 50)
        #expect(sent.summary.attempts == 50)
        #expect(server.log.requests.count == 50)  // none was refused
        #expect(server.log.requests.map(\.openCount).max() == 5)
    }

    /// B35: lowered in mid-flight, to one stream as APNs once did, and raised again.
    @Test func aLimitThatChangesIsKept() throws {
        var one = ServerSettings()
        one.concurrentStreamsMax = 1
        let server = try ScriptedServer { [one] request in
            request.row == 20 ? .announce(one) : .acceptLater
        }
        let sent = try SendingRig(server, rows: 60).send()
        #expect(sent.count(.accepted) == 60)
        #expect(sent.summary.attempts == 60)
        // From the second refusal on at the latest the client has seen the new limit.
        #expect(server.log.requests.suffix(20).allSatisfy { $0.openCount == 1 })
        #expect(sent.summary.connections.opened == 1)
    }

    /// B35: no stream at all for a while; rows wait, and their connection is not replaced.
    @Test func aLimitOfZeroIsWaitedFor() throws {
        var none = ServerSettings()
        none.concurrentStreamsMax = 0
        let server = try ScriptedServer { [none] request in
            switch request.row {
            case 1: .accept
            case 2: .hold
            case 3: .announce(none)
            default: .accept
            }
        }
        var rig = SendingRig(server, rows: 40)
        rig.options.streams = 2
        let running = try rig.start()
        server.waitForRequests(3)
        server.announceToAll(ServerSettings())
        server.releaseHeld()
        let sent = try running.finish()
        #expect(sent.count(.accepted) == 40)
        #expect(sent.summary.attempts == 40)
        #expect(server.log.connectionCount == 1)
    }

    /// nginx announces a window of 0 and grants each request its own.
    @Test func bodiesWaitForTheirStreamsWindow() throws {
        var settings = ServerSettings()
        settings.initialWindowBytes = 0
        settings.streamWindowBytes = 65_535
        let server = try ScriptedServer(settings: settings) { _ in .accept }
        let sent = try SendingRig(server, rows: 50).send()
        #expect(sent.count(.accepted) == 50)
        #expect(sent.summary.attempts == 50)
    }

    @Test func connectionsAreSharedOutToTheThreads() throws {
        let server = try ScriptedServer { _ in .acceptLater }
        var rig = SendingRig(server, rows: 20_000)
        rig.options.connections = 3
        rig.options.threads = 2
        rig.options.streams = 500
        let sent = try rig.send()
        #expect(sent.count(.accepted) == 20_000)
        #expect(server.log.connectionCount <= 3)
    }

    /// B70: a connection that cannot be had beside one that works is tried now and then, not all
    /// the time.
    @Test func aMissingConnectionIsNoReasonToStopOrToStorm() throws {
        let server = try ScriptedServer(
            opening: { $0 == 0 ? .serve : .close }, script: { _ in .accept })
        var rig = SendingRig(server, rows: 5_000)
        rig.options.connections = 2
        rig.options.streams = 1
        let sent = try rig.send()
        #expect(sent.summary.exitStatus == 0)
        #expect(sent.count(.accepted) == 5_000)
        // Waits of at least 50, 100, 200 … ms: without backoff it would be one for every answer or
        // so.
        #expect(server.log.connectionCount < 100)
    }

    /// A share of nothing would be no limit at all.
    @Test func aThreadWithoutAConnectionHasItsPartOfTheRate() throws {
        var rig = SendingRig(try ScriptedServer { _ in .accept })
        rig.options.rate = 900
        rig.options.connections = 3
        rig.options.threads = 2
        let setup = try RunSetup(campaign: try rig.load(), options: rig.options, tokens: nil)
        #expect(setup.state.rateShare(open: 0) == 450)
        setup.state.counters[0].set(2, to: .connectionsOpen)
        #expect(setup.state.rateShare(open: 0) == 300)
        #expect(setup.state.rateShare(open: 2) == 900)
        setup.state.counters[1].set(1, to: .connectionsOpen)
        #expect(setup.state.rateShare(open: 1) == 300)
        #expect(setup.state.rateShare(open: 2) == 600)
    }

    @Test func rateLimitsAreKept() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server, rows: 30)
        rig.options.rate = 200
        rig.options.connections = 2
        rig.options.connectionRate = 100
        let sent = try rig.send()
        #expect(sent.count(.accepted) == 30)
        // 30 requests at 200 a second take no less; the first come in a burst of 2 ms.
        #expect(sent.summary.seconds > 29 / 200 - 0.01)
    }
}
