import Foundation
import TestSupport
import Testing

/// What an outsider can count: tokens of a recipients file, a server's log, answers that a run gave
/// up. Read by Foundation, which shares no code with Peal.
enum RunAudit {
    /// How often each token was answered 200, by the log of the local APNs.
    static func acceptedTokens(_ log: String) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for line in try objects(log) where line["status"] as? Int == 200 {
            counts[try #require(line["token"] as? String), default: 0] += 1
        }
        return counts
    }

    /// The tokens of a file of `tools/make-recipients`, in the order of the rows.
    static func tokens(ofFile path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst()
            .map { $0.prefix { $0 != "," }.lowercased() }
    }

    /// How many answers of each token never came, by `retries.ndjson`: lines without a status.
    static func lostAnswers(ofRun folder: String) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for line in try objects(folder + "/retries.ndjson") where line["status"] == nil {
            counts[try #require(line["token"] as? String), default: 0] += 1
        }
        return counts
    }

    /// Complains about tokens that were not accepted, or more often than lost answers explain.
    static func expectEachToken(
        of tokens: [String], in accepted: [String: Int], lost: [String: Int]
    ) {
        let missing = tokens.filter { accepted[$0] == nil }
        #expect(missing.isEmpty, "\(missing.count) tokens are missing")
        let tooOften = accepted.filter { $0.value > 1 + lost[$0.key, default: 0] }
        #expect(tooOften.isEmpty, "\(tooOften.count) tokens were sent again without need")
        #expect(Set(accepted.keys).isSubset(of: tokens))
    }

    private static func objects(_ path: String) throws -> [[String: Any]] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }
}
