import Foundation
import TestSupport
import Testing

/// Runs that are killed, and go on.
@Suite(.timeLimit(.minutes(2))) struct ResumeTests {
    private let peal = PealProgram()

    @Test func aRunThatIsKilledThreeTimesLosesNoRowAndRepeatsOnlyWhatWasInFlight() throws {
        let rows = 20_000
        let file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
        let log = peal.folder.path + "/requests.ndjson"
        let mock = try MockProgram(peal, "--log", log)
        let command = [
            "send", PealProgram.sample("spring-sale"), "--pacing", "unlimited", "--recipients",
            file, "--server", mock.url,
            "--ca-file", mock.caFile,
        ]
        var inFlight = 0
        for start in 0..<3 {
            let sender = try peal.start(
                command + ["--rate", "3000"] + (start > 0 ? ["--resume"] : []))
            let accepted = try mock.stats().accepted
            while try mock.stats().accepted < accepted + 1500 {}
            sender.signal(SIGKILL)
            #expect(sender.wait().status == 128 + SIGKILL)
            let ledger = try Data(contentsOf: URL(fileURLWithPath: peal.runFolder() + "/ledger"))
            inFlight += ledger.count { $0 == 1 }
        }
        let result = try peal.run(command + ["--rate", "0", "--resume"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("going on with runs/spring-sale/"))
        let summary = try peal.summary()
        #expect(summary.completed)
        #expect(summary.rows == rows)
        #expect(summary.counted == ["accepted": rows])

        let accepted = try mock.stats().accepted
        mock.process.signal(SIGTERM)
        #expect(mock.process.wait().status == 0)
        #expect(accepted >= rows)
        #expect(accepted - rows <= inFlight)
        #expect(try acceptedTokens(log) == tokens(ofFile: file))
    }

    @Test func standardInputThatHadEndedIsReadFromItsCopy() throws {
        let rows = 2_000
        let file = try Tools.makeRecipients(rows, format: "ndjson", in: peal.folder)
        let mock = try MockProgram(peal)
        let command = [
            "send", PealProgram.sample("spring-sale"), "--pacing", "unlimited", "--recipients", "-",
            "--server", mock.url,
            "--ca-file", mock.caFile,
        ]
        let sender = try peal.start(command + ["--rate", "500"], inputFile: file)
        while try mock.stats().accepted < 100 {}
        sender.signal(SIGINT)
        let end = sender.wait()
        #expect(end.status == 130, "\(end.errors)")

        // The command that the summary suggests, as it stands there.
        let suggested = try #require(
            end.errors.split(separator: "\n").first { $0.contains("--resume") })
        let words = suggested.split(separator: " ").dropFirst().map(String.init)
        let result = try peal.run(words.map { $0 == "500" ? "0" : $0 })
        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": rows])
        let stats = try mock.stats()
        #expect(stats.accepted == rows)
        #expect(try stats.digest == Tools.tokenDigest(file))
        #expect(try peal.run(command + ["--resume"]).status == 2)
    }

    @Test func standardInputThatHadNotEndedGoesOnWithAFile() throws {
        let rows = 50_000
        let file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
        let mock = try MockProgram(peal)
        let command = [
            "send", PealProgram.sample("spring-sale"), "--pacing", "unlimited", "--server",
            mock.url, "--ca-file",
            mock.caFile,
        ]
        let sender = try peal.start(
            command + ["--rate", "1000", "--recipients", "-"], inputFile: file)
        while try mock.stats().accepted < 100 {}
        sender.signal(SIGINT)
        #expect(sender.wait().status == 130)

        let refused = try peal.run(command + ["--resume"])
        #expect(refused.status == 2)
        #expect(refused.errors.contains("not yet supported"))
        #expect(refused.errors.contains("--recipients FILE"))
        let result = try peal.run(command + ["--resume", "--recipients", file, "--rate", "0"])
        #expect(result.status == 0, "\(result.errors)")
        let stats = try mock.stats()
        #expect(stats.accepted == rows)
        #expect(try stats.digest == Tools.tokenDigest(file))
    }

    @Test func withoutARunThereIsNothingToResume() throws {
        let result = try peal.run("send", PealProgram.sample("hello"), "--mock", "--resume")
        #expect(result.status == 2)
        #expect(result.errors.contains("nothing to resume"))
        let limited = try peal.run(
            "send", PealProgram.sample("hello"), "--mock", "--resume", "--limit", "1")
        #expect(limited.status == 2)
        #expect(limited.errors.contains("--limit"))
    }

    /// The tokens that were answered 200, as Foundation reads the log.
    private func acceptedTokens(_ log: String) throws -> Set<String> {
        var tokens: Set<String> = []
        for line in try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n") {
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            guard object["status"] as? Int == 200 else { continue }
            tokens.insert(try #require(object["token"] as? String))
        }
        return tokens
    }

    private func tokens(ofFile path: String) throws -> Set<String> {
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        return Set(lines.dropFirst().map { $0.prefix { $0 != "," }.lowercased() })
    }
}
