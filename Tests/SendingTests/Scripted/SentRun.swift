import APNS
import Foundation
import Testing

@testable import Sending

/// What a run left behind.
struct SentRun {
    struct Failure {
        var outcome: String
        var reason: String?
        var status: Int?
        var attempts: Int
        var invalidSince: String?
        var registeredAt: String?
        var detail: String?
    }

    let summary: RunSummary
    /// The ledger's bytes of the rows that were read.
    let ledger: [UInt8]
    /// The failure lines by row.
    let failures: [UInt64: Failure]
    let failureLineCount: Int
    let unregistered: [String]
    /// The lines of the answers that were retried, and of the connections that ended.
    let retries: [[String: Any]]
    let connections: [[String: Any]]
    private let json: [String: Any]

    init(_ summary: RunSummary, folder: String) throws {
        self.summary = summary
        func bytes(_ name: String) throws -> Data {
            try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
        }
        ledger = Array(try bytes("ledger").prefix(Int(summary.rows)))
        var failures: [UInt64: Failure] = [:]
        let lines = try bytes("failures.ndjson").split(separator: UInt8(ascii: "\n"))
        for line in lines {
            let object = try #require(JSONSerialization.jsonObject(with: line) as? [String: Any])
            let row = try #require(object["row"] as? UInt64)
            failures[row] = Failure(
                outcome: try #require(object["outcome"] as? String),
                reason: object["reason"] as? String, status: object["status"] as? Int,
                attempts: try #require(object["attempts"] as? Int),
                invalidSince: object["invalidSince"] as? String,
                registeredAt: object["registeredAt"] as? String,
                detail: object["detail"] as? String)
        }
        self.failures = failures
        failureLineCount = lines.count
        func objects(_ name: String) throws -> [[String: Any]] {
            try bytes(name).split(separator: UInt8(ascii: "\n")).map {
                try #require(JSONSerialization.jsonObject(with: $0) as? [String: Any])
            }
        }
        retries = try objects("retries.ndjson")
        connections = try objects("connections.ndjson")
        unregistered = String(decoding: try bytes("unregistered.csv"), as: UTF8.self)
            .split(separator: "\n").map(String.init)
        json = try #require(
            JSONSerialization.jsonObject(with: try bytes("summary.json")) as? [String: Any])
    }

    func outcome(_ row: UInt64) -> Outcome? {
        let byte = ledger[Int(row - 1)]
        return byte < FinalCode.rawValueMin ? nil : FinalCode(rawValue: byte).outcome
    }

    func rows(with byte: UInt8) -> Int { ledger.count { $0 == byte } }

    func count(_ outcome: Outcome) -> UInt64 { summary.count(of: outcome) }

    func retried(_ code: FinalCode) -> UInt64 {
        summary.retriedReasons.reduce(0) { $1.0 == code ? $0 + $1.1 : $0 }
    }

    /// What holds at every exit: the ledger, the summary, its file and the failure lines tell the
    /// same.
    func check(_ sourceLocation: SourceLocation) throws {
        let finalRows = ledger.count { $0 >= FinalCode.rawValueMin }
        #expect(
            Int(summary.outcomes.reduce(0) { $0 + $1.1 }) == finalRows,
            sourceLocation: sourceLocation)
        #expect(
            summary.completed == (finalRows == Int(summary.rows) && summary.exitStatus == 0),
            sourceLocation: sourceLocation)
        let told = try #require(json["outcomes"] as? [String: Int])
        for outcome in Outcome.allCases {
            let rows = ledger.count {
                $0 >= FinalCode.rawValueMin && FinalCode(rawValue: $0).outcome == outcome
            }
            #expect(Int(count(outcome)) == rows, sourceLocation: sourceLocation)
            #expect(told[outcome.name] == rows, sourceLocation: sourceLocation)
        }
        var failed = 0
        for (index, byte) in ledger.enumerated() where byte >= FinalCode.rawValueMin {
            let code = FinalCode(rawValue: byte)
            if code == .accepted { continue }
            failed += 1
            let line = failures[UInt64(index + 1)]
            #expect(line?.outcome == code.outcome.name, sourceLocation: sourceLocation)
        }
        #expect(failureLineCount == failed, sourceLocation: sourceLocation)
        #expect(json["rows"] as? UInt64 == summary.rows, sourceLocation: sourceLocation)
        #expect(json["completed"] as? Bool == summary.completed, sourceLocation: sourceLocation)
    }
}
