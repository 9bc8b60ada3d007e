import APNS
import Foundation
import TestSupport
import Testing

@testable import Sending

/// Tokens that are not sent to.
@Suite(.timeLimit(.minutes(5))) struct SuppressionTests {
    private func tokens(_ rows: some Sequence<Int>) -> String {
        rows.map { SendingRig.token(UInt64($0)) + "\n" }.joined()
    }

    @Test func rowsOnAnyListAreNotSent() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server, rows: 100)
        rig.folder.write(
            "token,row,reason,invalid_since\n" + tokens(1...10).replacing("\n", with: ",1,x,\n"),
            to: "unregistered.csv")
        rig.folder.write(tokens(6...20).uppercased(), to: "opted-out.txt")
        rig.manifest["suppress"] = "['unregistered.csv', 'opted-out.txt']"
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.count(.suppressed) == 20)
        #expect(sent.count(.accepted) == 80)
        #expect(Set(server.log.requests.map(\.row)) == Set(21...100))
        #expect(sent.failures[20]?.outcome == "suppressed")
        #expect(sent.failures[20]?.reason == nil)
        #expect(sent.unregistered.count == 1)  // its header
        #expect(!FileManager.default.fileExists(atPath: rig.options.runDirectory + "/suppressed"))
    }

    /// Readable, then the token, then the lists, then what is rendered, then duplicates.
    @Test func theOrderOfJudgement() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server)
        rig.folder.write(tokens(1...1), to: "list.txt")
        rig.manifest["suppress"] = "['list.txt']"
        rig.manifest["payload"] = "{aps: {alert: 'Hello {{name}}'}}"
        let (one, two) = (SendingRig.token(1), SendingRig.token(2))
        rig.options.recipients = rig.folder.write(
            """
            token,name
            \(one),"x
            nobody,Ann
            \(one),
            \(one),Ann
            \(two),
            \(two),Ann
            \(two),Ann

            """, to: "people.csv")
        let sent = try rig.send()
        #expect(
            (1...7).map { sent.outcome($0) }
                == [
                    .invalid, .invalid, .suppressed, .suppressed, .invalid, .accepted, .duplicate,
                ])
    }

    @Test func aListThatCannotBeReadRefusesTheStart() throws {
        let server = try ScriptedServer { _ in .accept }
        var rig = SendingRig(server)
        rig.manifest["suppress"] = "['list.txt', 'nowhere.csv']"
        rig.folder.write(tokens(1...3) + "\nAnn\n", to: "list.txt")
        let missing = #expect(throws: SendError.self) { try rig.start() }
        #expect(missing?.description.contains("nowhere.csv") == true)
        rig.folder.write(tokens(1...3), to: "nowhere.csv")
        let broken = #expect(throws: SendError.self) { try rig.start() }
        #expect(broken?.kind == .refused)
        #expect(broken?.description.contains("list.txt:5: ") == true)
        #expect(!FileManager.default.fileExists(atPath: rig.options.runDirectory))
        #expect(server.log.connectionCount == 0)
    }

    /// The lists are read again, and may have grown: nobody on them is written to any more. A row
    /// that was sent before is not called unsent.
    @Test func listsAreReadAgainWhenTheRunGoesOn() throws {
        let server = try ScriptedServer { $0.connection > 0 || $0.index == 0 ? .accept : .silence }
        var rig = SendingRig(server, rows: 100)
        rig.folder.write(tokens(90...100), to: "list.txt")
        rig.manifest["suppress"] = "['list.txt']"
        rig.options.streams = 10
        #expect(try stopped(rig, server).inDoubt == 10)
        rig.folder.write(tokens(11...20) + tokens(90...100), to: "list.txt")
        rig.options.resumes = true
        let sent = try rig.send()
        #expect(sent.summary.completed)
        #expect(sent.outcome(1) == .accepted)
        #expect(sent.outcome(11) == .unknown)
        #expect((12...20).allSatisfy { sent.outcome($0) == .suppressed })
        #expect(sent.count(.suppressed) == 9 + 11)
        #expect(server.log.attempts.count == 80)
    }

    private func stopped(_ rig: SendingRig, _ server: ScriptedServer) throws -> RunSummary {
        let running = try rig.start()
        server.waitForRequests(11)
        running.run.interrupt()
        running.run.interrupt()
        return try running.finish().summary
    }

    /// Usable without a run; and however wrong the guess at the number of tokens is.
    @Test func theTableGrowsWithItsLists() throws {
        let folder = TemporaryDirectory()
        let list = folder.write((0..<50_000).map { Self.short($0) }.joined(), to: "list.txt")
        let table = try SuppressionTable(lists: [list, list], path: folder.path + "/table")
        #expect(table.tokenCount == 100_000)
        for number in 0..<50_000 { #expect(contains(table, Self.short(number).dropLast())) }
        for number in 50_000..<60_000 { #expect(!contains(table, Self.short(number).dropLast())) }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files == ["list.txt"])
    }

    /// 32 digits, the least that a token has.
    private static func short(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits + "\n"
    }

    private func contains(_ table: SuppressionTable, _ token: some StringProtocol) -> Bool {
        Array(token.utf8).withUnsafeBytes { table.contains($0) }
    }
}
