import APNS
import Campaign
import Sending

/// What a report is made of, made up: every kind of outcome, every reason, all of it.
enum SampleFacts {
    static func plain() -> RunFacts {
        var summary = RunSummary(name: "spring-sale", runDirectory: "runs/spring-sale/T")
        summary.rows = 200_000
        summary.outcomes = [
            (.accepted, 198_406), (.unregistered, 1204), (.invalid, 90), (.duplicate, 300),
        ]
        summary.reasons = [
            (.unregistered, 1200), (.badDeviceToken, 4), (.badTokenForm, 90), (.duplicate, 300),
        ]
        summary.retriedReasons = [(.serviceUnavailable, 17), (.exhaustedTimeout, 2)]
        summary.attempts = 199_627
        summary.retries = 19
        summary.resumes = 2
        summary.seconds = 61.2345678
        summary.acceptedPerSecond = 3240.1234
        summary.latencyMilliseconds.p50 = 14.21
        summary.latencyMilliseconds.p90 = 20
        summary.latencyMilliseconds.p99 = 25.5
        summary.latencyMilliseconds.p999 = 53.0001
        summary.latencyMilliseconds.max = 1290.5
        summary.connections.opened = 9
        summary.connections.goaway = 2
        summary.connections.lost = 1
        summary.bytesSent = 88_000_000
        summary.completed = true
        var facts = RunFacts(
            summary: summary, startedAt: "2026-03-14T09:00:00.000Z", input: "recipients.csv",
            server: "https://api.push.apple.com:443")
        facts.rate.add(198_406, from: 0, to: 61.2)
        facts.pace = RunPace(
            mode: .adaptive, rate: 4000, connectionRate: 0, connections: 4, threads: 2)
        return facts
    }

    /// As much of everything as there can be, in the longest words.
    static func full() -> RunFacts {
        var facts = plain()
        facts.summary.outcomes = Outcome.allCases.map { ($0, .max / 16) }
        let codes = FinalCode.table.map(\.code)
        facts.summary.reasons = codes.map { ($0, .max / 1024) }
        facts.summary.retriedReasons = facts.summary.reasons
        facts.summary.rows = .max
        facts.summary.completed = false
        let long = String(repeating: "<&\"'>", count: 2000)
        facts.summary.name = long
        facts.summary.runDirectory = long
        facts.summary.stoppedBecause = long
        facts.input = long
        facts.server = long
        facts.connectionEnds = ConnectionEnds(
            (0..<1000).map { ConnectionEnds.Group(end: "\($0)" + long) })
        facts.rate = RateSeries()
        facts.rate.add(.max / 2, from: 0, to: 599.5)
        facts.summary.seconds = 599.5
        return facts
    }
}
