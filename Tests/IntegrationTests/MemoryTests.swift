import Foundation
import Glibc
import TestSupport
import Testing

/// B91: memory does not grow with the file: four times the rows, the same peak.
@Suite(.timeLimit(.minutes(5))) struct MemoryTests {
    private let peal = PealProgram()

    @Test func peakMemoryIsTheSameForFourTimesTheRowsAndFarBelowTheLimit() throws {
        let file = try Tools.makeRecipients(200_000, format: "csv", in: peal.folder)
        let mock = try MockProgram(peal)

        let few = try peakAnonymousKiB(sending: 50_000, of: file, to: mock)
        let many = try peakAnonymousKiB(sending: 200_000, of: file, to: mock)

        #expect(many < 64 * 1024)
        #expect(Double(many) < Double(few) * 1.1 + 512, "\(few) KiB, then \(many) KiB")
        #expect(try mock.stats().accepted == 250_000)
    }

    /// A list of a million tokens beside it: none of them is in memory of the process's own.
    @Test func aLongSuppressionListCostsNoMemory() throws {
        let file = try Tools.makeRecipients(20_000, format: "csv", in: peal.folder)
        let campaign = try peal.campaign(
            recipients: Data(contentsOf: URL(fileURLWithPath: file)),
            changes: [
                "suppress": "['list.txt']",
                "payload": "{aps: {alert: 'Hello {{first_name|friend}}'}}",
            ])
        let list = campaign + "/list.txt"
        let mock = try MockProgram(peal)

        try Data("\(String(repeating: "f", count: 64))\n".utf8).write(to: URL(filePath: list))
        let few = try peakAnonymousKiB(sending: 20_000, of: file, to: mock, campaign: campaign)
        try Subprocess.run([
            "perl", "-e", #"open F, ">", shift; printf F "%064x\n", $_ for 1..1_000_000"#, list,
        ])
        let many = try peakAnonymousKiB(sending: 20_000, of: file, to: mock, campaign: campaign)

        #expect(Double(many) < Double(few) * 1.1 + 1024, "\(few) KiB, then \(many) KiB")
        #expect(try mock.stats().accepted == 40_000)
    }

    /// Waiting rows have slots, some 340 bytes each; one thread has 40,192 of them for a pool that
    /// may grow, several have more. With 30,000 rows not all of them are ever touched.
    @Test func aThirdOfTheRowsInRetriesDoesNotMakeItGrowEither() throws {
        let file = try Tools.makeRecipients(120_000, format: "csv", in: peal.folder)
        let campaign = try peal.campaign(
            recipients: Data(contentsOf: URL(fileURLWithPath: file)),
            changes: [
                "retry": "{ serverErrorDelay: '20ms..200ms' }",
                "payload": "{ aps: { alert: 'Hello {{first_name|friend}}' } }",
            ])
        let mock = try MockProgram(peal, "--fast", "--fault", "status=503 p=0.3")

        let few = try peakAnonymousKiB(sending: 30_000, of: file, to: mock, campaign: campaign)
        let many = try peakAnonymousKiB(sending: 120_000, of: file, to: mock, campaign: campaign)

        #expect(many < 64 * 1024)
        #expect(many < few + 40_192 * 340 / 1024 + 2048, "\(few) KiB, then \(many) KiB")
    }

    @Test func aRunThatGoesOnNeedsNoMoreHoweverMuchOfItIsDone() throws {
        let file = try Tools.makeRecipients(200_000, format: "csv", in: peal.folder)
        let mock = try MockProgram(peal)

        let few = try peakAnonymousKiB(sending: 50_000, of: file, to: mock, killedAt: 25_000)
        let many = try peakAnonymousKiB(sending: 200_000, of: file, to: mock, killedAt: 100_000)

        #expect(many < 64 * 1024)
        #expect(Double(many) < Double(few) * 1.1 + 2048, "\(few) KiB, then \(many) KiB")
    }

    /// Samples the sender's RssAnon as long as it runs.
    ///
    /// - Parameter killedAt: after so many accepted rows it is killed; what goes on is measured.
    private func peakAnonymousKiB(
        sending rows: Int, of file: String, to mock: MockProgram, campaign: String? = nil,
        killedAt: Int? = nil
    ) throws -> Int {
        let run = "\(peal.folder.path)/run-\(rows)-\(UInt32.random(in: 0...UInt32.max))"
        let command = [
            "send", campaign ?? PealProgram.sample("spring-sale"), "--recipients", file, "--pacing",
            "unlimited", "--server", mock.url, "--ca-file", mock.caFile,
            "--quiet", "--run-dir", run,
        ]
        // One that is to be killed in the middle takes two seconds, so that there is time for it.
        let rate = killedAt == nil ? 0 : rows / 2
        var sender = try peal.start(
            command + ["--limit", String(rows), "--rate", String(rate)])
        if let killedAt {
            while try acceptedRows(run) < killedAt {}
            sender.signal(SIGKILL)
            #expect(sender.wait().status == 128 + SIGKILL)
            sender = try peal.start(command + ["--resume", "--rate", "0"])
        }
        var peak = 0
        while let now = anonymousKiB(of: sender.identifier) {
            peak = max(peak, now)
            usleep(2_000)
        }
        let end = sender.wait()
        #expect(end.status == 0, "\(end.errors)")
        return peak
    }

    /// Rows that the ledger of a run calls accepted.
    private func acceptedRows(_ run: String) throws -> Int {
        guard let file = fopen(run + "/ledger", "r") else { return 0 }
        defer { fclose(file) }
        var block = [UInt8](repeating: 0, count: 1 << 20)
        return block[..<fread(&block, 1, block.count, file)].count { $0 == 16 }
    }

    /// RssAnon of a process; nil when it has ended.
    private func anonymousKiB(of process: Int32) -> Int? {
        guard let file = fopen("/proc/\(process)/status", "r") else { return nil }
        defer { fclose(file) }
        var block = [UInt8](repeating: 0, count: 8192)
        let count = fread(&block, 1, block.count, file)
        let status = String(decoding: block[..<count], as: UTF8.self)
        return status.firstMatch(of: /RssAnon:\s+([0-9]+) kB/).flatMap { Int($0.1) }
    }
}
