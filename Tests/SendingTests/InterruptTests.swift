import APNS
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Sending

@Suite(.timeLimit(.minutes(5))) struct InterruptTests {
    /// B92: the first interruption waits for what is in flight, and takes nothing more on.
    @Test func theFirstWaitsForTheRequestsInFlight() throws {
        let server = try ScriptedServer { $0.index == 0 ? .accept : .hold }
        var rig = SendingRig(server, rows: 100)
        rig.options.streams = 10
        let running = try rig.start()
        server.waitForRequests(11)
        running.run.interrupt()
        server.releaseHeld()
        let sent = try running.finish()
        #expect(sent.summary.exitStatus == 130)
        #expect(sent.summary.stoppedBecause == "interrupted")
        #expect(sent.count(.accepted) == UInt64(server.log.requests.count))
        #expect(sent.rows(with: OpenState.untouched) == 100 - server.log.requests.count)
        #expect(sent.summary.inDoubt == 0)
    }

    @Test func theSecondStopsAtOnceAndLeavesThemInDoubt() throws {
        let server = try ScriptedServer { $0.index == 0 ? .accept : .silence }
        var rig = SendingRig(server, rows: 100)
        rig.options.streams = 10
        let running = try rig.start()
        server.waitForRequests(11)
        running.run.interrupt()
        running.run.interrupt()
        let sent = try running.finish()
        #expect(sent.summary.exitStatus == 130)
        #expect(sent.count(.accepted) == 1)
        #expect(sent.rows(with: OpenState.inDoubt) == 10)
        #expect(sent.summary.inDoubt == 10)
        #expect(sent.rows(with: OpenState.untouched) == 89)
    }

    @Test func theDrainHasAnEnd() throws {
        let server = try ScriptedServer { $0.index == 0 ? .accept : .silence }
        var rig = SendingRig(server, rows: 10)
        rig.manifest["timeouts"] = "{drain: '100ms'}"
        let running = try rig.start()
        server.waitForRequests(10)
        running.run.interrupt()
        let sent = try running.finish()
        #expect(sent.summary.exitStatus == 130)
        #expect(sent.rows(with: OpenState.inDoubt) == 9)
    }

    @Test func aRunThatIsConnectingStopsAtOnce() throws {
        let accepted = DispatchSemaphore(value: 0)
        let server = try ScriptedServer(
            opening: { _ in
                accepted.signal()
                return .silence
            }, script: { _ in .accept })
        let running = try SendingRig(server).start()
        accepted.wait()
        running.run.interrupt()
        let sent = try running.finish()
        #expect(sent.summary.exitStatus == 130)
        #expect(sent.rows(with: OpenState.untouched) == 20)
    }

    @Test func anInterruptionAfterTheLastRowChangesNothing() throws {
        let server = try ScriptedServer { $0.row == 20 ? .hold : .accept }
        let running = try SendingRig(server).start()
        server.waitForRequests(20)
        running.run.interrupt()
        server.releaseHeld()
        let sent = try running.finish()
        #expect(sent.count(.accepted) == 20)
        #expect(sent.summary.completed)
        #expect(sent.summary.exitStatus == 0)
    }

    @Test func aReaderThatWaitsForAPipeIsInterrupted() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server)
        let pipe = try Pipe(in: rig.folder)
        rig.options.recipients = pipe.path
        pipe.write("token\n" + SendingRig.token(1) + "\n")
        let running = try rig.start()
        server.waitForRequests(1)
        running.run.interrupt()
        let sent = try running.finish()
        #expect(sent.summary.exitStatus == 130)
        #expect(sent.summary.rows == 1)
        #expect(sent.count(.accepted) == 1)
        withExtendedLifetime(pipe) {}
    }

    /// The reader waits for a pipe that is open and silent: the run must not wait with it.
    @Test func aRunThatFailsDoesNotWaitForThePipe() throws {
        let server = try ScriptedServer(opening: { _ in .close }, script: { _ in .accept })
        var rig = SendingRig(server)
        let pipe = try Pipe(in: rig.folder)
        rig.options.recipients = pipe.path
        pipe.write("token\n" + SendingRig.token(1) + "\n")
        let sent = try rig.start().finish()
        #expect(sent.summary.exitStatus == 3)
        #expect(sent.rows(with: OpenState.untouched) == 1)
        withExtendedLifetime(pipe) {}
    }

    @Test func aPipeThatEndsInTheMiddleOfALineGivesItsLastRow() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server)
        let pipe = try Pipe(in: rig.folder)
        rig.options.recipients = pipe.path
        pipe.write("token\n" + SendingRig.token(1) + "\n" + SendingRig.token(2).dropLast(40))
        let running = try rig.start()
        pipe.close()
        let sent = try running.finish()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 1)
        #expect(sent.ledger[1] == FinalCode.badTokenForm.rawValue)
    }
}

/// A named pipe that stays open for writing until it is closed.
final class Pipe {
    let path: String
    private var descriptor: Int32

    init(in folder: TemporaryDirectory) throws {
        path = folder.path + "/recipients.csv"
        try #require(mkfifo(path, 0o600) == 0)
        // For reading too, so that opening does not wait for the other end.
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
    }

    deinit { close() }

    func write(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }
}
