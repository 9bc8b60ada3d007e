internal import APNS
internal import JSON

extension RunSummary {
    /// The text of `summary.json`, with a line end at its end. Every outcome has its member, with 0
    /// where there is none, so that a script needs no default; reasons are listed when they occur.
    package func json() -> [UInt8] {
        var json = JSONWriter(pretty: true)
        json.beginObject()
        json.member("name", name)
        json.member("rows", rows)
        json.key("outcomes")
        json.beginObject()
        for outcome in Outcome.allCases { json.member(outcome.name, count(of: outcome)) }
        json.endObject()
        json.member("reasons", byReason(reasons))
        json.member("retriedReasons", byReason(retriedReasons))
        json.member("attempts", attempts)
        json.member("retries", retries)
        json.member("resumes", resumes)
        json.member("seconds", seconds, decimals: 3)
        json.member("acceptedPerSecond", acceptedPerSecond, decimals: 3)
        writeLatency(to: &json)
        writeConnections(to: &json)
        json.member("bytesSent", bytesSent)
        json.key("completed")
        json.bool(completed)
        json.member("stoppedBecause", stoppedBecause)
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private func writeLatency(to json: inout JSONWriter) {
        json.key("latencyMilliseconds")
        json.beginObject()
        json.member("p50", latencyMilliseconds.p50, decimals: 3)
        json.member("p90", latencyMilliseconds.p90, decimals: 3)
        json.member("p99", latencyMilliseconds.p99, decimals: 3)
        json.member("p999", latencyMilliseconds.p999, decimals: 3)
        json.member("max", latencyMilliseconds.max, decimals: 3)
        json.endObject()
    }

    private func writeConnections(to json: inout JSONWriter) {
        json.key("connections")
        json.beginObject()
        json.member("opened", connections.opened)
        json.member("goaway", connections.goaway)
        json.member("lost", connections.lost)
        json.endObject()
    }

    /// Counts by the reason's text, in the order of first appearance. Codes of different outcomes
    /// share some texts ("Timeout"), and a JSON object has each key once: so they are summed.
    private func byReason(_ counts: [(FinalCode, UInt64)]) -> [(String, UInt64)] {
        var sums: [(String, UInt64)] = []
        for (code, count) in counts where count > 0 && !code.reason.isEmpty {
            if let index = sums.firstIndex(where: { $0.0 == code.reason }) {
                sums[index].1 += count
            } else {
                sums.append((code.reason, count))
            }
        }
        return sums
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, _ counts: [(String, UInt64)]) {
        key(name)
        beginObject()
        for (reason, count) in counts { member(reason, count) }
        endObject()
    }
}
