import Foundation
import Glibc
import TestSupport
import Testing

@testable import Sending

/// What is wrong before the first row leaves no run folder behind, and says where and what to do.
@Suite(.timeLimit(.minutes(5)), .serialized) struct RefusedStartTests {
    private func refusal(_ rig: SendingRig) throws -> String {
        let error = #expect(throws: SendError.self) { try rig.start() }
        #expect(error?.kind == .refused)
        #expect(!FileManager.default.fileExists(atPath: rig.options.runDirectory))
        return error?.description ?? ""
    }

    private let server = try! ScriptedServer { _ in .accept }

    @Test func aColumnThatIsMissing() throws {
        var rig = SendingRig(server)
        rig.manifest["payload"] = "{aps: {alert: '{{first_name}}'}}"
        #expect(try refusal(rig).contains("first_name"))
    }

    @Test func aFileThatIsNotThere() throws {
        var rig = SendingRig(server)
        rig.options.recipients = rig.folder.path + "/nowhere.csv"
        #expect(try refusal(rig).contains("nowhere.csv"))
    }

    @Test func moreThreadsThanConnections() throws {
        var rig = SendingRig(server)
        rig.options.threads = 2
        #expect(try refusal(rig).contains("--threads"))
    }

    @Test func noStreams() throws {
        var rig = SendingRig(server)
        rig.options.streams = 0
        #expect(try refusal(rig).contains("--streams"))
    }

    /// Standard input is copied into the run folder as it is read: tokens of a run that never
    /// began.
    @Test func standardInputWithoutTheColumn() throws {
        var rig = SendingRig(server)
        rig.options.recipients = "-"
        rig.manifest["payload"] = "{aps: {alert: '{{first_name}}'}}"
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let text = Array("token\n\(SendingRig.token(1))\n".utf8)
        #expect(write(ends[1], text, text.count) == text.count)
        close(ends[1])
        let before = dup(0)
        dup2(ends[0], 0)
        defer {
            dup2(before, 0)
            close(before)
            close(ends[0])
        }
        #expect(try refusal(rig).contains("first_name"))
    }

    @Test func aRunFolderThatExistsIsNotTouched() throws {
        var rig = SendingRig(server)
        rig.options.runDirectory = rig.folder.path
        rig.folder.write("mine", to: "run.json")
        let error = #expect(throws: SendError.self) { try rig.start() }
        #expect(error?.kind == .refused)
        #expect(error?.description.contains("--run-dir") == true)
        #expect(rig.folder.read("run.json") == Array("mine".utf8))
    }
}
