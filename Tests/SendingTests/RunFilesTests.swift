import APNS
import Foundation
import TestSupport
import Testing

@testable import Sending

@Suite struct RunFilesTests {
    private let folder = TemporaryDirectory()

    @Test func theRunFolderIsPrivateAndLocked() throws {
        let path = folder.path + "/runs/sale/20260314T090000Z"
        let first = try RunFolder(creating: path)
        #expect(try permissions(path) == 0o700)
        #expect(throws: SendError.self) { try RunFolder(creating: path) }
        try first.replace("summary.json", with: Array("{}".utf8))
        #expect(try permissions(path + "/summary.json") == 0o600)
    }

    @Test func ledgerCountsWhatWasSetAndNothingElse() throws {
        let ledger = try Ledger(path: folder.path + "/ledger")
        try ledger.reserve(rows: 3_000_000)
        ledger.set(FinalCode.accepted.rawValue, row: 1)
        ledger.set(FinalCode.accepted.rawValue, row: 3_000_000)
        ledger.set(OpenState.inDoubt, row: 2)
        let counts = ledger.counts(rows: 3_000_000)
        #expect(counts[Int(FinalCode.accepted.rawValue)] == 2)
        #expect(counts[Int(OpenState.inDoubt)] == 1)
        #expect(counts[0] == 2_999_997)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/ledger")).first == 16)
    }

    /// A file that the disk cannot hold is an error; touching pages that are not there would be
    /// SIGBUS.
    @Test func aDiskThatCannotHoldTheFileIsAnErrorThatSaysSoAndNoSignal() throws {
        // More than an ext4 file can have, so that nothing is allocated on the way.
        let bytes = 1 << 46
        let map = try GrowingMap(path: folder.path + "/map", capacityBytes: bytes)
        let error = #expect(throws: SendError.self) { try map.grow(toBytes: bytes) }
        #expect(error?.kind == .stopped)
        #expect(error?.description.contains("--run-dir") == true)
    }

    @Test func aFullDiskNamesTheFileAndTheWayOut() throws {
        let file = try AppendFile(path: "/dev/full")
        let error = #expect(throws: SendError.self) { try file.append(Array("{}\n".utf8)) }
        #expect(error?.kind == .stopped)
        #expect(error?.description.contains("/dev/full") == true)
        #expect(error?.description.contains("free some space") == true)
    }

    /// B64: the line stays JSON, whatever bytes a server sends, and wherever a text is cut.
    @Test func aLineIsAlwaysUTF8() throws {
        let ledger = try Ledger(path: folder.path + "/ledger")
        try ledger.reserve(rows: 10)
        let journal = OutcomeJournal(
            ledger: ledger, failures: try AppendFile(path: folder.path + "/failures.ndjson"),
            retries: try AppendFile(path: folder.path + "/retries.ndjson"), identity: RunIdentity())
        var failure = FailureLine(row: 1, line: 2, code: .rejectedOther, status: 400)
        failure.detail = String(repeating: "a", count: 511) + "é"
        try [UInt8]([0x41, 0xC3, 0xFF]).withUnsafeBytes { reason in
            failure.reason = reason
            try journal.recordFailure(failure)
        }
        try journal.flush()
        let line = Data(try #require(folder.read("failures.ndjson")))
        #expect(String(data: line, encoding: .utf8) != nil)
        #expect(try JSONSerialization.jsonObject(with: line) is [String: Any])
    }

    @Test func anIDDependsOnTheRunAndTheRowAlone() {
        let run = RunIdentity(bytes: Array(0..<16))
        #expect(apnsID(run, row: 1) == apnsID(RunIdentity(bytes: Array(0..<16)), row: 1))
        #expect(apnsID(run, row: 1) != apnsID(run, row: 2))
        #expect(apnsID(run, row: 1) != apnsID(RunIdentity(), row: 1))
        let canonical = /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        for row in UInt64(1)...1_000 {
            #expect(apnsID(run, row: row).wholeMatch(of: canonical) != nil)
        }
    }

    @Test func aFailureLineStandsBeforeItsFinalByte() throws {
        let ledger = try Ledger(path: folder.path + "/ledger")
        try ledger.reserve(rows: 10)
        let journal = OutcomeJournal(
            ledger: ledger, failures: try AppendFile(path: folder.path + "/failures.ndjson"),
            retries: try AppendFile(path: folder.path + "/retries.ndjson"), identity: RunIdentity())
        var failure = FailureLine(row: 7, line: 8, code: .badTopic, status: 400)
        failure.attempts = 1
        failure.hasAPNSID = true
        let reason = Array("Bad\"Topic\n".utf8)
        try reason.withUnsafeBytes {
            failure.reason = $0
            try journal.recordFailure(failure)
        }
        #expect(ledger.state(row: 7) == 0)
        try journal.flush()
        #expect(ledger.state(row: 7) == FinalCode.badTopic.rawValue)

        let line = try #require(folder.read("failures.ndjson"))
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        #expect(object["row"] as? Int == 7)
        #expect(object["line"] as? Int == 8)
        #expect(object["outcome"] as? String == "rejected")
        #expect(object["status"] as? Int == 400)
        #expect(object["reason"] as? String == "Bad\"Topic\n")
        #expect(object["attempts"] as? Int == 1)
        #expect(object["token"] == nil)
        let time = try #require(object["time"] as? String)
        let parsed = try Date(
            time, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true))
        #expect(abs(parsed.timeIntervalSinceNow) < 60)
    }

    @Test func thousandsOfFailuresBecomeAsManyLines() throws {
        let ledger = try Ledger(path: folder.path + "/ledger")
        try ledger.reserve(rows: 5_000)
        let journal = OutcomeJournal(
            ledger: ledger, failures: try AppendFile(path: folder.path + "/failures.ndjson"),
            retries: try AppendFile(path: folder.path + "/retries.ndjson"), identity: RunIdentity())
        for row in UInt64(1)...5_000 {
            try journal.recordFailure(FailureLine(row: row, line: row + 1, code: .duplicate))
        }
        try journal.flush()
        let lines = try #require(folder.read("failures.ndjson")).split(
            separator: UInt8(ascii: "\n"))
        #expect(lines.count == 5_000)
        #expect(ledger.counts(rows: 5_000)[Int(FinalCode.duplicate.rawValue)] == 5_000)
    }

    /// B81, B82: tokens leave the list with APNs' time, and not when the environment may be wrong.
    @Test func thePruneListHoldsUnregisteredTokensWithTheirTimes() throws {
        let lines = """
            {"row":1,"line":2,"outcome":"rejected","status":400,"reason":"BadTopic","token":"aa11"}
            {"row":2,"line":3,"outcome":"unregistered","status":410,"reason":"Unregistered","token":"bb22","invalidSince":"2026-01-02T03:04:05.006Z"}
            {"row":3,"line":4,"outcome":"unregistered","status":400,"reason":"BadDeviceToken","token":"cc33"}
            {"row":4,"line":5,"outcome":"unregistered","status":410,"reason":"=HYPERLINK(\\"x\\")","token":"dd44"}

            """
        let failures = folder.write(lines, to: "failures.ndjson")
        try UnregisteredList.write(from: failures, to: folder.path + "/all.csv", acceptedRows: 1)
        #expect(
            String(decoding: folder.read("all.csv") ?? [], as: UTF8.self) == """
                token,row,reason,invalid_since
                bb22,2,Unregistered,2026-01-02T03:04:05.006Z
                cc33,3,BadDeviceToken,
                dd44,4,"'=HYPERLINK(""x"")",

                """)
        try UnregisteredList.write(from: failures, to: folder.path + "/few.csv", acceptedRows: 0)
        #expect(!String(decoding: folder.read("few.csv") ?? [], as: UTF8.self).contains("cc33"))
    }

    /// Every first character that makes a spreadsheet calculate; quotes and line ends; and a text
    /// that is none of it.
    @Test(arguments: [
        ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"), ("\r=1", "\"'\r=1\""), ("a\"b", "\"a\"\"b\""), ("a,b", "\"a,b\""),
        ("=\"\",", "\"'=\"\"\"\",\""), ("\r\n=1", "\"'\r\n=1\""), ("\u{FF1D}1", "'\u{FF1D}1"),
        ("Unregistered", "Unregistered"), ("a=1", "a=1"), ("'a", "'a"),
    ])
    func aCellIsNeverAFormula(text: String, cell: String) throws {
        let line = try JSONSerialization.data(withJSONObject: [
            "row": 1, "outcome": "unregistered", "reason": text, "token": "aa11",
        ])
        let failures = folder.write(line + [10], to: "failures.ndjson")
        try UnregisteredList.write(from: failures, to: folder.path + "/list.csv", acceptedRows: 1)
        #expect(
            String(decoding: folder.read("list.csv") ?? [], as: UTF8.self)
                == "token,row,reason,invalid_since\naa11,1,\(cell),\n")
    }

    private func permissions(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    private func apnsID(_ run: RunIdentity, row: UInt64) -> String {
        var text = [UInt8](repeating: 0, count: APNSID.characters)
        text.withUnsafeMutableBytes { run.writeAPNSID(row: row, to: $0) }
        return String(decoding: text, as: UTF8.self)
    }
}
