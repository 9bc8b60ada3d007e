import Foundation
import TestSupport
import Testing

/// Disks that take no more, and folders that take nothing: the run stops, says which file and what
/// to do, and goes on when there is room. A limit on the size of files stands in for the disk in
/// most tests, because it can be set for one process.
@Suite(.timeLimit(.minutes(5))) struct FullDiskTests {
    private let peal = PealProgram()
    private let mock: MockProgram

    init() throws { mock = try MockProgram(peal, "--fault", "status=503 token=5 times=5500") }

    /// Tokens of 32 digits, so that the estimate of rows from the file's size is too low.
    private func tokens(_ rows: Int) -> String {
        (1...rows).map { row in
            let digits = String(row, radix: 16)
            return String(repeating: "0", count: 32 - digits.count) + digits + "\n"
        }.joined()
    }

    private func command(_ recipients: String, _ changes: [String: String] = [:]) throws -> [String]
    {
        let payload = ["payload": "{ aps: { alert: 'Hello' } }"]
        return [
            "send",
            try peal.campaign(
                recipients: recipients.utf8, changes: payload.merging(changes) { $1 }),
            "--server", mock.url, "--ca-file", mock.caFile, "--pacing", "unlimited",
        ]
    }

    /// - Parameter kibibytes: the size that no file may pass.
    private func run(
        _ command: [String], kibibytes: Int, inputFile: String? = nil
    ) throws -> Subprocess.Result {
        // Units of 512 bytes, as POSIX has them.
        try Subprocess.run(
            ["sh", "-c", #"ulimit -f "$0" && exec "$@""#, String(kibibytes * 2)]
                + [PealProgram.binary] + command,
            inputFile: inputFile, in: peal.folder.path, environment: peal.environment)
    }

    private func expectStop(
        _ result: Subprocess.Result, at file: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(result.status == 3, "\(result.errors)", sourceLocation: sourceLocation)
        #expect(
            result.errors.contains("/\(file)"), "\(result.errors)", sourceLocation: sourceLocation)
        #expect(
            result.errors.contains("ulimit -f") || result.errors.contains("free space"),
            "\(result.errors)", sourceLocation: sourceLocation)
    }

    @Test func aLedgerThatCannotGrow() throws {
        let command = try command("token\n" + tokens(500))
        expectStop(try run(command, kibibytes: 300), at: "ledger")
        #expect(try mock.stats().accepted == 0)
        let result = try peal.run(command + ["--resume"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": 500])
    }

    @Test func failureLinesThatDoNotFit() throws {
        let bad = (1...20_000).map { "nobody \($0)\n" }.joined()
        let command = try command("token\n" + bad + tokens(500))
        expectStop(try run(command, kibibytes: 1500), at: "failures.ndjson")
        let result = try peal.run(command + ["--resume"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": 500, "invalid": 20_000])
        #expect(try peal.failures().count == 20_000)  // and no row has two
    }

    @Test func retryLinesThatDoNotFit() throws {
        let rows = (1...8_000).map { row in
            let digits = String(row, radix: 16)
            return "5" + String(repeating: "0", count: 63 - digits.count) + digits + "\n"
        }
        let command = try command(
            "token\n" + rows.joined(),
            ["retry": "{ serverErrorDelay: '1ms..2ms' }"])
        expectStop(try run(command, kibibytes: 1100), at: "retries.ndjson")
        let result = try peal.run(command + ["--resume"])
        #expect(result.status == 0, "\(result.errors)")
        // A row that met the fault three times is given up.
        let counted = try peal.summary().counted
        #expect((counted["accepted"] ?? 0) + (counted["exhausted"] ?? 0) == 8_000, "\(counted)")
    }

    @Test func aCopyOfStandardInputThatDoesNotFit() throws {
        let rows = 40_000
        let file = peal.folder.write("token\n" + tokens(rows), to: "input.csv")
        let command = try command("token\n", ["duplicates": "'send'"]) + ["--recipients", "-"]
        expectStop(try run(command, kibibytes: 1100, inputFile: file), at: "input")
        let result = try peal.run(command + ["--resume"], inputFile: file)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": rows])
        #expect(try mock.stats().accepted == rows)
    }

    @Test func aTableOfDuplicatesThatCannotGrow() throws {
        let rows = 60_000
        let command = try command("token\n" + tokens(rows))
        expectStop(try run(command, kibibytes: 1100), at: "duplicates.new")
        let folder = try FileManager.default.contentsOfDirectory(atPath: peal.runFolder())
        #expect(!folder.contains { $0.hasPrefix("duplicates") }, "\(folder)")
        let result = try peal.run(command + ["--resume"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": rows])
        #expect(try mock.stats().accepted == rows)
    }

    /// Nothing was sent, so there is nothing to resume either.
    @Test func noRoomToBeginWith() throws {
        let result = try run(try command("token\n" + tokens(60_000)), kibibytes: 100)
        #expect(result.status == 2, "\(result.errors)")
        #expect(result.errors.contains("/duplicates"), "\(result.errors)")
        let runs = peal.folder.path + "/runs/trial"
        #expect(try FileManager.default.contentsOfDirectory(atPath: runs) == [])
    }

    /// A real file system, as large as the whole run folder but for a few bytes: whichever file it
    /// is that meets the end of it. In a name space of its own it goes with its process.
    @Test(.enabled(if: canMount)) func aFileSystemThatIsFull() throws {
        let rows = 6_000
        let command = try command(
            "token\n" + (1...200).map { "nobody \($0)\n" }.joined() + tokens(rows))
        let script = """
            mkdir runs && mount -t tmpfs -o size=$SIZE tmpfs runs && {
                "$@"; echo "status $?" >&2
                mount -o remount,size=64m runs
                "$@" --resume; echo "status $?" >&2
                cat runs/*/*/summary.json
            }
            """
        for kibibytes in [1100, 1192, 1216, 1240] {
            let result = try Subprocess.run(
                ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
                    + [PealProgram.binary] + command,
                in: peal.folder.path,
                environment: peal.environment.merging(["SIZE": "\(kibibytes)k"]) { $1 })
            let statuses = result.errors.split(separator: "\n").filter { $0.hasPrefix("status ") }
            #expect(statuses == ["status 3", "status 0"], "\(kibibytes): \(result.errors)")
            #expect(result.errors.contains("No space left on device; free some space"))
            let summary = try Summary(Data(result.outputBytes))
            #expect(summary.counted == ["accepted": rows, "invalid": 200])
            try FileManager.default.removeItem(atPath: peal.folder.path + "/runs")
        }
    }

    private static let canMount =
        (try? Subprocess.run([
            "unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt",
        ]))?.status == 0

    /// Root may write everywhere, but not here.
    @Test func aFolderThatCannotBeWritten() throws {
        let command = try command("token\n" + tokens(5))
        let inTheWay = peal.folder.write("a file", to: "file")
        for folder in ["/proc/peal/run", inTheWay + "/run"] {
            let result = try peal.run(command + ["--run-dir", folder])
            #expect(result.status == 2, "\(result.errors)")
            #expect(result.errors.contains((folder as NSString).deletingLastPathComponent))
            let isRemedied =
                result.errors.contains("--run-dir") || result.errors.contains("check the path")
            #expect(isRemedied, "\(result.errors)")
        }
        #expect(try mock.stats().accepted == 0)
    }

    @Test func aRunFolderThatAnotherProcessHas() throws {
        let command = try command("token\n" + tokens(5_000))
        let sender = try peal.start(command + ["--rate", "500"])
        while try mock.stats().accepted < 100 {}
        let other = try peal.run(command + ["--resume"])
        #expect(other.status == 2)
        #expect(other.errors.contains("another process uses this run folder"), "\(other.errors)")
        sender.signal(SIGINT)
        #expect(sender.wait().status == 130)
        #expect(try peal.run(command + ["--resume"]).status == 0)
        #expect(try mock.stats().accepted == 5_000)
    }
}
