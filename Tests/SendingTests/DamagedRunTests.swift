import APNS
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Sending

/// Files of a run folder that were cut or written over: the run does not go on, says which file and
/// what to do, and goes on when the file is restored.
@Suite(.timeLimit(.minutes(5))) struct DamagedRunTests {
    private let server = try! ScriptedServer {
        $0.connection > 0 || $0.index == 0 ? .accept : .silence
    }

    /// A stopped run of 100 rows, of which the first is invalid, and 10 are in doubt.
    private func stoppedRun() throws -> SendingRig {
        var rig = SendingRig(server)
        rig.recipients = "none\n" + (1..<100).map { SendingRig.token($0) + "\n" }.joined()
        rig.options.streams = 10
        let running = try rig.start()
        server.waitForRequests(11)
        running.run.interrupt()
        running.run.interrupt()
        _ = try running.finish()
        rig.options.resumes = true
        return rig
    }

    /// - Parameter change: what happens to the file's bytes.
    private func expectRefusal(
        of name: String, says text: String, kind: SendError.Kind = .refused,
        _ change: (Data) -> Data
    ) throws {
        let rig = try stoppedRun()
        let path = URL(fileURLWithPath: rig.options.runDirectory + "/" + name)
        let whole = try Data(contentsOf: path)
        try change(whole).write(to: path)
        let requests = server.log.requests.count
        let error = #expect(throws: SendError.self) { try rig.start() }
        #expect(error?.kind == kind)
        #expect(error?.description.contains("/" + name) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains(text) == true, "\(error?.description ?? "")")
        #expect(server.log.requests.count == requests)
        try whole.write(to: path)
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 99)
    }

    @Test func aRecordThatIsCut() throws {
        try expectRefusal(of: "run.json", says: "restore it") { $0.dropLast(10) }
    }

    @Test func anEmptyRecord() throws {
        try expectRefusal(of: "run.json", says: "restore it") { _ in Data() }
    }

    @Test func aChunkThatFollowsFromNothing() throws {
        try expectRefusal(of: "chunks", says: "chunks:1: ") {
            Data("0 0 5 1 0000000000000000\n".utf8) + $0
        }
    }

    @Test func chunksOverwrittenWithZeros() throws {
        try expectRefusal(of: "chunks", says: "chunks:1: ") { Data(count: 8) + $0.dropFirst(8) }
    }

    @Test func aLedgerThatIsCut() throws {
        try expectRefusal(of: "ledger", says: "50 bytes for 100 rows") { $0.prefix(50) }
    }

    @Test func anEmptyLedger() throws {
        try expectRefusal(of: "ledger", says: "0 bytes for 100 rows") { _ in Data() }
    }

    @Test func aCheckpointThatIsCut() throws {
        try expectRefusal(of: "checkpoint", says: "remove it") { $0.prefix(40) }
    }

    @Test func aFailureLineThatIsNone() throws {
        try expectRefusal(of: "failures.ndjson", says: "failures.ndjson:2: ") {
            $0 + Data("{\"row\":5,\"li\0\0\0\n".utf8)
        }
    }

    @Test func aCampaignThatIsCut() throws {
        try expectRefusal(of: "campaign.json", says: "campaign.json:") { $0.dropLast(5) }
    }

    /// What a kill leaves when it comes before the run has begun.
    @Test func aFolderWithoutARecordHoldsNoRun() throws {
        let rig = try stoppedRun()
        unlink(rig.options.runDirectory + "/run.json")
        let error = #expect(throws: SendError.self) { try rig.start() }
        #expect(error?.kind == .refused)
        #expect(error?.description.contains("no run has begun in this folder") == true)
    }

    @Test func aFileThatIsMissing() throws {
        for name in ["chunks", "ledger", "failures.ndjson", "retries.ndjson", "campaign.json"] {
            let rig = try stoppedRun()
            unlink(rig.options.runDirectory + "/" + name)
            let error = #expect(throws: SendError.self) { try rig.start() }
            #expect(error?.kind == .refused)
            #expect(error?.description.contains("/" + name) == true)
        }
    }

    /// What a start that was killed while it made things ready left behind.
    @Test func leftoversOfAnEarlierStartAreInNobodysWay() throws {
        let rig = try stoppedRun()
        for name in [
            "duplicates", "duplicates.new", "suppressed", "suppressed.new", ".run.json.new",
            ".campaign.json.new", ".checkpoint.new", ".failures.ndjson.new", "unregistered.csv.new",
        ] { rig.folder.write("x", to: "run/" + name) }
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.accepted) == 99)
    }
}
