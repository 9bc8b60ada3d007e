import APNS
import Campaign
import HTTP2
import Testing

@testable import Sending

/// Pools that grow, against servers whose limits are small and whose way is long.
@Suite(.timeLimit(.minutes(5))) struct PoolGrowthRunTests {
    /// Answers everything after 10 ms, so that its limits are what counts.
    private func server(_ change: (inout ServerSettings) -> Void) throws -> ScriptedServer {
        var settings = ServerSettings()
        change(&settings)
        return try ScriptedServer(settings: settings) { _ in .acceptLater }
    }

    /// A run without a number of connections: one thread, enough rows for about three seconds.
    private func run(
        _ server: ScriptedServer, rows: Int, change: (inout SendingRig) -> Void = { _ in }
    ) throws -> SentRun {
        var rig = SendingRig(server, rows: rows)
        rig.options.connections = nil
        change(&rig)
        let sent = try rig.send()
        #expect(sent.count(.accepted) == UInt64(rows))
        return sent
    }

    /// B89: four connections of two streams answer 800 requests in a second at best.
    @Test func aPoolGrowsWhenTheServersStreamsAreTheLimit() throws {
        let server = try server { $0.concurrentStreamsMax = 2 }
        _ = try run(server, rows: 2_400)
        #expect((5...32).contains(server.log.connectionCount))
    }

    /// What was asked for is kept; nobody asked for the other 28.
    @Test func aNumberThatWasAskedForIsKept() throws {
        let server = try server { _ in }
        let rig = SendingRig(server)
        let pacing = try rig.load().pacing
        var options = rig.options
        options.threads = 3
        options.connections = 5
        let asked = try SendPlan(options: options, pacing: pacing)
        #expect((0..<3).map { asked.connections(ofWorker: $0) } == [2, 2, 1])
        #expect((0..<3).map { asked.connectionsMax(ofWorker: $0) } == [2, 2, 1])
        options.connections = nil
        let free = try SendPlan(options: options, pacing: pacing)
        #expect((0..<3).map { free.connections(ofWorker: $0) } == [2, 1, 1])
        #expect((0..<3).map { free.connectionsMax(ofWorker: $0) } == [11, 11, 10])
    }

    /// Neither the rate that the user sets nor the streams that he allows are the server's limits.
    @Test func ratesAndStreamsOfTheUserMakeNoPoolGrow() throws {
        let server = try server { $0.concurrentStreamsMax = 100 }
        _ = try run(server, rows: 600) { $0.options.rate = 300 }
        _ = try run(server, rows: 600) { $0.options.streams = 1 }
        #expect(server.log.connectionCount == 8)
    }

    @Test func whatHoldsTheRunBackIsCounted() throws {
        let server = try server { $0.concurrentStreamsMax = 2 }
        var rig = SendingRig(server, rows: 600)
        rig.options.connections = 2
        let running = try rig.start()
        let sent = try running.finish()
        #expect(sent.count(.accepted) == 600)
        // 600 rows at 400 a second: more than ten ticks of a tenth of a second.
        #expect(running.run.progress.heldBack.streams >= 5)
        #expect(running.run.progress.heldBack.rate == 0)
    }
}
