internal import JSON
internal import Measure
internal import Transport

extension LoadSummary {
    /// The shares that are told, with their names; the maximum comes after them.
    package static let percentiles: [(name: String, share: Double)] = [
        ("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("p9999", 0.9999),
    ]

    /// A hundred thousandth of a millisecond is what the clock can tell.
    private static let decimals = 5

    /// The summary for scripts, with a line end at its end. Every member is always there.
    package func json() -> [UInt8] {
        var json = JSONWriter(pretty: true)
        json.beginObject()
        writePlan(to: &json)
        writeVerdict(to: &json)
        json.member("rateBeforeLate", rateBeforeLate, decimals: Self.decimals)
        json.member("planned", planned)
        json.member("sent", sent)
        json.member("notSent", notSent)
        json.member("accepted", accepted)
        json.member("failed", failed)
        writeFailures(to: &json)
        json.member("sentAgain", again)
        json.member("warmUps", warmUps)
        json.key("latencyMilliseconds")
        write(latency, to: &json)
        json.key("serviceMilliseconds")
        write(service, to: &json)
        json.key("lagMilliseconds")
        write(lag, to: &json)
        json.key("failedLatencyMilliseconds")
        write(failedLatency, to: &json)
        writeEffort(to: &json)
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private func writePlan(to json: inout JSONWriter) {
        json.member("server", options.endpoint.description)
        json.member("fromRate", options.schedule.fromRate, decimals: Self.decimals)
        json.member("toRate", options.schedule.toRate, decimals: Self.decimals)
        json.member(
            "durationSeconds", Double(options.schedule.durationNs) / 1e9, decimals: Self.decimals)
        json.member("threads", UInt64(options.threadCount))
        json.member("streams", UInt64(options.streams))
        json.member("payloadBytes", UInt64(options.payloadBytes))
        json.member("tokens", options.tokenCount)
    }

    private func writeVerdict(to json: inout JSONWriter) {
        json.key("end")
        switch end {
        case .completed: json.string("completed")
        case .interrupted: json.string("interrupted")
        case .failed: json.string("failed")
        }
        json.key("failure")
        if case .failed(let text) = end { json.string(text) } else { json.null() }
        json.member("seconds", seconds, decimals: Self.decimals)
        json.member("askedPerSecond", askedPerSecond, decimals: Self.decimals)
        json.member("achievedPerSecond", achievedPerSecond, decimals: Self.decimals)
        json.key("rateReached")
        json.bool(isRateReached)
        json.member("shortfall", shortfall?.rawValue)
    }

    private func writeFailures(to json: inout JSONWriter) {
        json.key("failures")
        json.beginArray()
        for failure in failures {
            json.beginObject()
            json.member("status", UInt64(failure.status))
            json.member("reason", failure.reason)
            json.member("count", failure.count)
            json.endObject()
        }
        json.endArray()
    }

    private func write(_ histogram: Histogram, to json: inout JSONWriter) {
        json.beginObject()
        json.member("count", histogram.count)
        json.member("mean", histogram.mean / 1e6, decimals: Self.decimals)
        for (name, share) in Self.percentiles {
            json.member(name, Double(histogram.percentile(share)) / 1e6, decimals: Self.decimals)
        }
        json.member("max", Double(histogram.max) / 1e6, decimals: Self.decimals)
        json.endObject()
    }

    private func writeEffort(to json: inout JSONWriter) {
        json.key("connections")
        json.beginObject()
        json.member("kept", UInt64(options.connections))
        json.member("opened", connectionsOpened)
        json.member("goaway", connectionsGoAway)
        json.member("lost", connectionsLost)
        json.endObject()
        json.member("bytesSent", bytesSent)
        json.key("blockedSeconds")
        json.beginObject()
        for obstacle in Obstacle.allCases {
            json.member("\(obstacle)", blockedSeconds[obstacle.rawValue], decimals: Self.decimals)
        }
        json.endObject()
        json.member("processorSeconds", processorSeconds, decimals: Self.decimals)
        json.member("threadBusyShare", threadBusyShare, decimals: Self.decimals)
        json.member("threadWaitShare", threadWaitShare, decimals: Self.decimals)
        json.member("machineBusyShare", machineBusyShare, decimals: Self.decimals)
    }
}
