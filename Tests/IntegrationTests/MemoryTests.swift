import Foundation
import Glibc
import TestSupport
import Testing

/// Memory does not grow with the file: four times the rows, the same peak.
@Suite(.timeLimit(.minutes(3))) struct MemoryTests {
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

    /// Samples the sender's RssAnon as long as it runs.
    private func peakAnonymousKiB(
        sending rows: Int, of file: String, to mock: MockProgram,
        campaign: String = PealProgram.sample("spring-sale")
    ) throws -> Int {
        let sender = try peal.start(
            "send", campaign, "--recipients", file, "--rate", "0",
            "--pacing", "unlimited",
            "--limit", String(rows), "--server", mock.url, "--ca-file", mock.caFile, "--quiet")
        var peak = 0
        while let now = anonymousKiB(of: sender.identifier) {
            peak = max(peak, now)
            usleep(2_000)
        }
        let end = sender.wait()
        #expect(end.status == 0, "\(end.errors)")
        return peak
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
