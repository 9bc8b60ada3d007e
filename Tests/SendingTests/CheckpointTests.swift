import APNS
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Sending

/// What a run has measured outlives its process.
@Suite(.timeLimit(.minutes(5))) struct CheckpointTests {
    private let folder = TemporaryDirectory()

    @Test func aCheckpointIsReadAsItWasWritten() throws {
        var random = SeededGenerator()
        var written = Measurements()
        written.seconds = 12.5
        written.attempts = 1 << 40
        written.retries = 3
        written.bytesSent = 5_000_000_000
        written.connections.opened = 9
        written.connections.goaway = 2
        written.connections.lost = 1
        written.retried[Int(FinalCode.tooManyRequests.rawValue)] = 7
        written.retried[255] = 1
        let recorder = LatencyRecorder()
        for _ in 0..<1000 {
            recorder.record(microseconds: UInt64.random(in: 0...1 << 33, using: &random))
        }
        written.latencies = recorder.histogram
        let path = folder.write(written.json(), to: "checkpoint")
        let read = try Measurements(checkpoint: path)
        #expect(read.seconds == 12.5)
        #expect(read.attempts == 1 << 40)
        #expect(read.retries == 3)
        #expect(read.bytesSent == 5_000_000_000)
        #expect(read.connections.opened == 9)
        #expect(read.connections.goaway == 2)
        #expect(read.connections.lost == 1)
        #expect(read.retried == written.retried)
        #expect(read.latencies.counts == written.latencies.counts)
        #expect(read.latencies.maxMicroseconds == written.latencies.maxMicroseconds)
    }

    @Test func withoutACheckpointNothingWasMeasured() throws {
        #expect(try Measurements(checkpoint: folder.path + "/checkpoint").attempts == 0)
    }

    /// Cut at any place, or with a bucket that there is none of.
    @Test func aDamagedCheckpointIsRefusedWithTheWayOut() throws {
        let whole = Measurements().json().dropLast()
        for count in 0..<whole.count {
            let path = folder.write(whole.prefix(count), to: "checkpoint")
            let error = #expect(throws: SendError.self) { try Measurements(checkpoint: path) }
            #expect(error?.kind == .refused)
            #expect(error?.description.contains("remove it") == true)
        }
        let text = String(decoding: whole, as: UTF8.self)
            .replacing("\"latencyBuckets\":{", with: "\"latencyBuckets\":{\"896\":1")
        let path = folder.write(text, to: "checkpoint")
        #expect(throws: SendError.self) { try Measurements(checkpoint: path) }
    }

    /// Percentiles, too, are those of all starts.
    @Test func theSummaryCoversAllStarts() throws {
        let server = try ScriptedServer { $0.index == 0 ? .accept : .hold }
        var rig = SendingRig(server, rows: 100)
        rig.options.streams = 10
        let first = try drained(rig, server)
        #expect(first.attempts == 11)
        let kept = try Measurements(checkpoint: rig.options.runDirectory + "/checkpoint")
        #expect(kept.attempts == 11)
        #expect(kept.latencies.count == 11)
        rig.options.resumes = true
        let second = try rig.send().summary
        #expect(second.attempts == 100)
        #expect(second.connections.opened == 2)
        #expect(second.bytesSent > first.bytesSent)
        #expect(second.seconds > first.seconds)
        #expect(second.latencyMilliseconds.max >= first.latencyMilliseconds.max)
        let both = try Measurements(checkpoint: rig.options.runDirectory + "/checkpoint")
        #expect(both.latencies.count == 100)
    }

    /// The summary of a run that is interrupted with 10 requests in flight, the first accepted.
    private func drained(_ rig: SendingRig, _ server: ScriptedServer) throws -> RunSummary {
        let running = try rig.start()
        server.waitForRequests(11)
        running.run.interrupt()
        server.releaseHeld()
        return try running.finish().summary
    }

    /// A reader that waits for a pipe, and requests that wait for answers, do not keep it from
    /// being written; and the bytes of a connection that is open are in it.
    @Test func aRunThatWaitsIsWrittenDown() throws {
        let server = try ScriptedServer { $0.row <= 5 ? .accept : .hold }
        var rig = SendingRig(server, rows: 20)
        let pipe = rig.folder.path + "/pipe.csv"
        try #require(mkfifo(pipe, 0o600) == 0)
        let writer = open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        let text = "token\n" + (1...20).map { SendingRig.token($0) + "\n" }.joined()
        #expect(write(writer, text, text.utf8.count) == text.utf8.count)
        rig.options.recipients = pipe
        let running = try rig.start()
        server.waitForRequests(20)
        let path = rig.options.runDirectory + "/checkpoint"
        var kept = Measurements()
        while kept.attempts < 5 { kept = try Measurements(checkpoint: path) }
        #expect(kept.attempts == 5)
        #expect(kept.latencies.count == 5)
        #expect(kept.connections.opened == 1)
        #expect(kept.bytesSent > 20 * 30)
        #expect(kept.seconds >= 1)
        running.run.interrupt()
        server.releaseHeld()
        #expect(try running.finish().summary.attempts == 20)
    }

    /// A folder stands where the file is to go, as if the disk took no more.
    @Test func aCheckpointThatCannotBeWrittenStopsTheRunResumably() throws {
        let server = try ScriptedServer { $0.row == 1 || $0.connection > 0 ? .accept : .hold }
        var rig = SendingRig(server)
        rig.manifest["timeouts"] = "{drain: '100ms'}"
        let inTheWay = rig.options.runDirectory + "/checkpoint"
        let summary = try stopped(rig, server, by: inTheWay)
        #expect(summary.exitStatus == 3)
        #expect(summary.stoppedBecause?.contains("/checkpoint: cannot replace the file") == true)
        rmdir(inTheWay)
        rig.options.resumes = true
        #expect(try rig.send().count(.accepted) == 20)
    }

    /// Nothing but the checkpoint ends this run.
    private func stopped(
        _ rig: SendingRig, _ server: ScriptedServer, by inTheWay: String
    ) throws -> RunSummary {
        let running = try rig.start()
        try #require(mkdir(inTheWay, 0o700) == 0)
        server.waitForRequests(20)
        return running.wait()
    }
}
