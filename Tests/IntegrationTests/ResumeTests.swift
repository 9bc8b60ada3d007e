import Foundation
import TestSupport
import Testing

/// Runs that are killed, and go on.
@Suite(.timeLimit(.minutes(5))) struct ResumeTests {
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

    /// A run of standard input that was ended before its input was.
    private struct Interrupted {
        let rows = 50_000
        let file: String
        let mock: MockProgram
        let command: [String]
        /// The end of the first start.
        let status: Int32
        let errors: String

        init(_ peal: PealProgram, by signal: Int32) throws {
            file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
            mock = try MockProgram(peal)
            command = [
                "send", PealProgram.sample("spring-sale"), "--pacing", "unlimited", "--server",
                mock.url, "--ca-file", mock.caFile,
            ]
            let sender = try peal.start(
                command + ["--rate", "1000", "--recipients", "-"], inputFile: file)
            while try mock.stats().accepted < 100 {}
            sender.signal(signal)
            (status, errors) = sender.wait()
        }

        func expectEveryRowOnce() throws {
            let stats = try mock.stats()
            #expect(stats.accepted == rows)
            #expect(try stats.digest == Tools.tokenDigest(file))
        }
    }

    /// The command that the summary suggests, with the same input once more.
    @Test func standardInputThatHadNotEndedIsReadOnceMore() throws {
        let first = try Interrupted(peal, by: SIGINT)
        #expect(first.status == 130)
        let suggested = try #require(
            first.errors.split(separator: "\n").first { $0.contains("--resume") })
        let words = suggested.split(separator: " ").dropFirst().map(String.init)
        #expect(words.contains("-"))
        let result = try peal.run(
            words.map { $0 == "1000" ? "0" : $0 }, inputFile: first.file)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": first.rows])
        try first.expectEveryRowOnce()
        let copy = try Data(contentsOf: URL(fileURLWithPath: peal.runFolder() + "/input"))
        #expect(try copy == Data(contentsOf: URL(fileURLWithPath: first.file)))
    }

    /// Without it, what was copied is sent, in whole records; then the rest, after a kill.
    @Test func standardInputThatIsGoneIsSentAsFarAsItWasCopied() throws {
        let first = try Interrupted(peal, by: SIGKILL)
        let folder = try peal.runFolder()
        let copied = try String(contentsOfFile: folder + "/input", encoding: .utf8)
        let whole = copied.last == "\n" ? copied.count { $0 == "\n" } - 1 : nil
        let second = try peal.run(first.command + ["--resume", "--rate", "0"])
        #expect(second.status == 3)
        let rows = try peal.summary().rows
        if let whole { #expect(rows == whole) }
        #expect(rows < first.rows)
        #expect(try peal.summary().counted == ["accepted": rows])
        #expect(second.errors.contains("ends with row \(rows)"), "\(second.errors)")
        #expect(second.errors.contains("--recipients -"))

        let third = try peal.run(
            first.command + ["--resume", "--rate", "0", "--recipients", "-"],
            inputFile: first.file)
        #expect(third.status == 0, "\(third.errors)")
        #expect(try peal.summary().counted == ["accepted": first.rows])
        #expect(try first.mock.stats().tokenCount >= first.rows)
    }

    @Test func otherRowsOnStandardInputStopTheRun() throws {
        let first = try Interrupted(peal, by: SIGINT)
        let accepted = try first.mock.stats().accepted
        var other = try Data(contentsOf: URL(fileURLWithPath: first.file))
        other[100] ^= 1  // a digit of the first row's token
        let path = peal.folder.write(other, to: "other.csv")
        let result = try peal.run(
            first.command + ["--resume", "--recipients", "-"], inputFile: path)
        #expect(result.status == 3, "\(result.errors)")
        #expect(result.errors.contains("differs after 100 bytes"), "\(result.errors)")
        #expect(try first.mock.stats().accepted == accepted)
        // And a file that holds the same rows still does.
        let again = try peal.run(
            first.command + ["--resume", "--recipients", first.file, "--rate", "0"])
        #expect(again.status == 0, "\(again.errors)")
        try first.expectEveryRowOnce()
        #expect(try peal.run(first.command + ["--resume"]).status == 2)
    }

    /// What was measured up to the last checkpoint is in the summary of a run that was killed.
    @Test func whatAKilledStartHasMeasuredIsNotLost() throws {
        let rows = 4_000
        let file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
        let mock = try MockProgram(peal, "--fault", "status=503 times=20")
        let campaign = try peal.campaign(
            recipients: Data(contentsOf: URL(fileURLWithPath: file)),
            changes: [
                "retry": "{serverErrorDelay: '1ms..2ms'}",
                "payload": "{aps: {alert: 'Hello {{first_name|friend}}'}}",
            ])
        let folder = peal.folder.path + "/run"
        let command = [
            "send", campaign, "--server", mock.url, "--ca-file", mock.caFile, "--run-dir", folder,
            "--pacing", "unlimited",
        ]
        let sender = try peal.start(command + ["--rate", "1000"])
        func measured() -> [String: Any]? {
            let path = URL(fileURLWithPath: folder + "/checkpoint")
            guard let data = try? Data(contentsOf: path) else { return nil }
            return try? JSONSerialization.jsonObject(with: data) as? [String: Any]
        }
        while try mock.stats().accepted < 1_500 {}
        sender.signal(SIGKILL)
        #expect(sender.wait().status == 128 + SIGKILL)
        let kept = try #require(measured())
        let keptAttempts = try #require(kept["attempts"] as? Int)
        let answered = try mock.stats().accepted
        #expect(keptAttempts > 300)
        let result = try peal.run(command + ["--resume"])
        #expect(result.status == 0, "\(result.errors)")

        let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/summary.json"))
        let summary = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let attempts = try #require(summary["attempts"] as? Int)
        // All of this start's, and of the first start's those of the checkpoint.
        let laterAnswers = try mock.stats().accepted - answered
        #expect(attempts == keptAttempts + laterAnswers)
        // Of the 20 answers with 503, those that were a row's last are no retries.
        let exhausted = try #require((summary["outcomes"] as? [String: Int])?["exhausted"])
        #expect(
            (summary["retriedReasons"] as? [String: Int])?["ServiceUnavailable"] == 20 - exhausted)
        #expect(summary["resumes"] as? Int == 1)
        let connections = try #require(summary["connections"] as? [String: Int])
        let keptConnections = try #require(kept["connectionsOpened"] as? Int)
        #expect(try #require(connections["opened"]) > keptConnections)
        #expect(try #require(summary["seconds"] as? Double) > 1)
        #expect(try #require(summary["bytesSent"] as? Int) > rows * 30)
    }

    /// Killed while it makes things ready, at one moment after the other, it still goes on.
    @Test func aRunThatIsKilledWhileItResumesStillResumes() throws {
        let first = try Interrupted(peal, by: SIGKILL)
        let command = first.command + ["--resume", "--recipients", first.file]
        for milliseconds in stride(from: 1, through: 60, by: 3) {
            _ = try Subprocess.run(
                ["timeout", "-s", "KILL", "0.\(milliseconds < 10 ? "00" : "0")\(milliseconds)"]
                    + [PealProgram.binary] + command + ["--rate", "100"],
                in: peal.folder.path, environment: peal.environment)
        }
        let result = try peal.run(command + ["--rate", "0"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": first.rows])
    }

    /// Killed while it starts: there is a run to resume, or none and the next one starts.
    @Test func aRunThatIsKilledWhileItStartsIsResumableOrNone() throws {
        let file = try Tools.makeRecipients(300, format: "csv", in: peal.folder)
        let mock = try MockProgram(peal)
        for milliseconds in stride(from: 1, through: 40, by: 2) {
            let folder = peal.folder.path + "/run-\(milliseconds)"
            let command = [
                PealProgram.binary, "send", PealProgram.sample("spring-sale"), "--server", mock.url,
                "--ca-file", mock.caFile, "--recipients", file, "--run-dir", folder,
            ]
            _ = try Subprocess.run(
                ["timeout", "-s", "KILL", "0.\(milliseconds < 10 ? "00" : "0")\(milliseconds)"]
                    + command, in: peal.folder.path, environment: peal.environment)
            let result = try peal.run(Array(command.dropFirst()) + ["--resume"])
            if result.status != 0 {
                #expect(result.status == 2, "\(result.errors)")
                let isExplained =
                    result.errors.contains("no run has begun")
                    || result.errors.contains("cannot open the run folder")
                    || result.errors.contains("nothing to resume")
                #expect(isExplained, "\(result.errors)")
            }
        }
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
