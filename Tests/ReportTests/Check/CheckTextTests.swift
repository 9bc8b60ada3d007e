import Check
import Foundation
import Report
import Testing

@Suite struct CheckTextTests {
    private func messyRig() throws -> CheckRig {
        let locales = ["de", "ja", "zh-Hant-TW", "", "x-\u{1B}[31m-red"]
        let names = ["Ann", "", "王小明", String(repeating: "y", count: 600)]
        let lines = (1...400).map { row in
            let token = row % 40 == 0 ? "nope" : CheckRig.token(row % 50 == 0 ? 1 : row)
            return "\(token),\(locales[row % locales.count]),\(names[row % names.count])"
        }
        return try CheckRig(
            ["payloads": "{ ja: { aps: { alert: '{{name|皆様}}さん' } } }", "expiration": "0"],
            recipients: "token,locale,name\n" + lines.joined(separator: "\n"))
    }

    @Test func aSmallFileIsToldInFull() throws {
        var rig = try CheckRig(
            recipients: "token,name\n\(CheckRig.token(1)),Ann\n\(CheckRig.token(2)),Bob\nx,Cy\n")
        rig.facts.seconds = 0.012
        rig.facts.source = "r.csv"
        rig.pace = SendForecast.Pace(mode: "gentle", rate: 0, connectionRate: 100, connections: 4)
        #expect(
            rig.text().hasPrefix(
                """
                trial: 3 rows checked in 12 ms, nothing sent

                  2  66.7 %  would be sent
                  1  33.3 %  invalid, not sent

                Invalid rows
                  1  BadTokenForm
                     Write the device token in hexadecimal: an even number of digits, 32 to 512.
                     r.csv:4:1: no device token in hexadecimal in "token"

                Payload sizes in bytes (APNs takes 4,096)
                  smallest 26 · median 26 · largest 26, in row 1

                Empty placeholders, and what takes their place
                  0 %  name  “friend”

                Sending
                """))
        #expect(rig.text().contains("gentle, 4 connections at 100 per second each"))
    }

    @Test(arguments: [60, 80, 100])
    func noLineIsWiderThanTheTerminal(columns: Int) throws {
        let rig = try messyRig()
        let lines = rig.text(columns: columns).split(separator: "\n")
        // The places of invalid rows are for copying, and stay whole.
        for line in lines where !line.contains(rig.facts.source) {
            #expect(ColumnWidth.of(String(line)) <= columns, "\(line)")
        }
        #expect(!rig.text(columns: columns).unicodeScalars.contains { $0.value == 0x1B })
    }

    @Test func warningsComeBeforeNotesAndEachHasItsRemedy() throws {
        let rig = try messyRig()
        let findings = rig.findings
        #expect(findings.count > 3)
        #expect(findings.drop { $0.isWarning }.allSatisfy { !$0.isWarning })
        #expect(findings.allSatisfy { $0.message.hasSuffix(".") && !$0.remedy.isEmpty })
        let text = rig.text().split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for finding in findings {
            #expect(text.contains(finding.message))
            #expect(text.contains(finding.remedy))
        }
    }

    @Test(arguments: [
        // mode, rate, per connection, connections, seconds for 30 rows
        ("gentle", 0.0, 100.0, 3, 0.1), ("adaptive", 10, 0, 4, 3), ("unlimited", 60, 5, 4, 1.5),
        ("adaptive", 2, 5, 4, 15),
    ])
    func timeIsRequestsByTheTighterBound(
        mode: String, rate: Double, each: Double, connections: Int, seconds: Double
    ) throws {
        var rig = try CheckRig()
        rig.pace = SendForecast.Pace(
            mode: mode, rate: rate, connectionRate: each, connections: connections)
        let predicted = try #require(rig.forecast.secondsMin)
        #expect(abs(predicted - seconds) < 0.001)
    }

    @Test func withoutABoundThereIsNoTime() throws {
        #expect(try CheckRig().forecast.secondsMin == nil)
    }

    @Test func theJSONIsThatOfTheFacts() throws {
        let rig = try messyRig()
        let json = CheckJSON.render(
            rig.campaign, rig.facts, rig.forecast, findings: rig.findings)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
        #expect(object["rows"] as? Int == 400)
        #expect(object["invalid"] as? Int == 10)
        #expect((object["findings"] as? [[String: Any]])?.count == rig.findings.count)
    }

    // MARK: Progress

    @Test func aTerminalSeesALiveLineThatFits() {
        var line = CheckProgressLine(isTerminal: true)
        var progress = CheckProgress()
        progress.rows = 1_234_567
        progress.fractionRead = 0.25
        progress.seconds = 0.1
        #expect(line.update(progress) { 80 } == nil)
        #expect(line.erasure.isEmpty)
        progress.seconds = 1
        #expect(
            line.update(progress) { 80 }
                == "\r1,234,567 rows checked (25 %) · 3 s left · 1,234,567 rows/s\u{1B}[K")
        progress.seconds = 1.05
        #expect(line.update(progress) { 80 } == nil)
        #expect(line.erasure == "\r\u{1B}[K")
        progress.seconds = 2
        #expect(line.update(progress) { 20 } == "\r1,234,567 rows che…\u{1B}[K")
    }

    @Test func aLogGetsALineEveryTenSeconds() {
        var line = CheckProgressLine(isTerminal: false)
        var progress = CheckProgress()
        progress.rows = 1000
        progress.seconds = 9.9
        #expect(line.update(progress) { 80 } == nil)
        progress.seconds = 10
        #expect(line.update(progress) { 80 } == "1,000 rows checked · 100 rows/s\n")
        #expect(line.erasure.isEmpty)
    }
}
