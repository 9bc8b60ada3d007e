import APNS
import Foundation
import Sending
import Testing

struct RunSummaryJSONTests {
    private func parsed(_ summary: RunSummary) throws -> [String: Any] {
        // Foundation's parser is the judge: it is not the writer's twin.
        let value = try JSONSerialization.jsonObject(with: Data(summary.json()))
        return try #require(value as? [String: Any])
    }

    @Test func everyNameIsThere() throws {
        let members = try parsed(RunSummary(name: "shop", runDirectory: "runs/shop/x"))
        #expect(
            Set(members.keys) == [
                "name", "rows", "outcomes", "reasons", "retriedReasons", "attempts", "retries",
                "resumes", "seconds", "acceptedPerSecond", "latencyMilliseconds", "connections",
                "bytesSent", "completed", "stoppedBecause",
            ])
        let outcomes = try #require(members["outcomes"] as? [String: UInt64])
        #expect(Set(outcomes.keys) == Set(Outcome.allCases.map(\.name)))
        let latency = try #require(members["latencyMilliseconds"] as? [String: Double])
        #expect(Set(latency.keys) == ["p50", "p90", "p99", "p999", "max"])
        let connections = try #require(members["connections"] as? [String: UInt64])
        #expect(Set(connections.keys) == ["opened", "goaway", "lost"])
        #expect(members["stoppedBecause"] is NSNull)
    }

    @Test func countsAreExactAndTextIsEscaped() throws {
        var summary = RunSummary(name: "shop", runDirectory: "runs/shop/x")
        summary.rows = 9_007_199_254_740_993  // 2^53 + 1: no Double holds it
        summary.outcomes = [(.accepted, 3), (.invalid, 2)]
        summary.stoppedBecause = "the \"server\"\nsaid no"
        summary.seconds = 1.23456
        let members = try parsed(summary)
        #expect(members["rows"] as? UInt64 == 9_007_199_254_740_993)
        #expect((members["outcomes"] as? [String: UInt64])?["accepted"] == 3)
        #expect(members["stoppedBecause"] as? String == "the \"server\"\nsaid no")
        #expect(members["seconds"] as? Double == 1.235)
    }

    @Test func codesThatShareAReasonAreSummed() throws {
        var summary = RunSummary(name: "shop", runDirectory: "runs/shop/x")
        summary.reasons = [
            (.exhaustedTimeout, 2), (.unregistered, 5), (.unknownTimeout, 3), (.accepted, 9),
        ]
        let reasons = try #require(try parsed(summary)["reasons"] as? [String: UInt64])
        #expect(reasons == ["Timeout": 5, "Unregistered": 5])
    }
}
