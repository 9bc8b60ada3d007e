internal import APNS
internal import JSON

/// What a run has measured, all of its starts together: everything in its summary that no ledger
/// byte tells.
struct Measurements: Sendable {
    var seconds = 0.0
    var attempts: UInt64 = 0
    var retries: UInt64 = 0
    var bytesSent: UInt64 = 0
    var connections = ConnectionCounts()
    /// Answers that were retried, by final code.
    var retried = [UInt64](repeating: 0, count: 256)
    var latencies = LatencyHistogram()
    var rate = RateSeries()

    init() {}

    /// Adds what the workers of this start have counted so far.
    mutating func add(_ state: RunState, seconds: Double) {
        self.seconds += seconds
        for counters in state.counters {
            attempts += counters.value(.attempts)
            retries += counters.value(.retries)
            bytesSent += counters.value(.bytesSent)
            connections.opened += counters.value(.connectionsOpened)
            connections.goaway += counters.value(.connectionsGoAway)
            connections.lost += counters.value(.connectionsLost)
            for code in OpenState.firstFinal...UInt8.max {
                retried[Int(code)] += counters.retriedCount(code)
            }
        }
        for recorder in state.latencies { latencies.add(recorder.histogram) }
    }
}

/// The file `checkpoint` of a run folder.
extension Measurements {
    private static let format = 1

    /// Sparse: of the buckets and codes only those that are not zero.
    func json() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("format", Self.format)
        writer.key("seconds")
        writer.number(seconds)
        for (key, value) in [
            ("attempts", attempts), ("retries", retries), ("bytesSent", bytesSent),
            ("connectionsOpened", connections.opened), ("connectionsGoAway", connections.goaway),
            ("connectionsLost", connections.lost),
            ("latencyMaxMicroseconds", latencies.maxMicroseconds),
        ] {
            writer.member(key, value)
        }
        Self.write(retried, "retried", to: &writer)
        Self.write(latencies.counts, "latencyBuckets", to: &writer)
        write(rate, to: &writer)
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    /// Reads a checkpoint; a run that was killed in its first second has none.
    ///
    /// - Throws: kind `.refused` for a file that no checkpoint wrote.
    init(checkpoint path: String) throws(SendError) {
        guard let bytes = try SmallFile.readIfThere(path) else { return }
        let node = try? JSONDocument.parse(bytes, dialect: .strict)
        guard let node, node["format"]?.asInt == Self.format,
            let seconds = node["seconds"]?.asDouble,
            let attempts = Self.count(node["attempts"]), let retries = Self.count(node["retries"]),
            let bytesSent = Self.count(node["bytesSent"]),
            let opened = Self.count(node["connectionsOpened"]),
            let goaway = Self.count(node["connectionsGoAway"]),
            let lost = Self.count(node["connectionsLost"]),
            let longest = Self.count(node["latencyMaxMicroseconds"]),
            let retried = Self.counts(node["retried"], count: 256),
            let buckets = Self.counts(
                node["latencyBuckets"], count: LatencyHistogram.bucketCount),
            let rate = Self.rate(node)
        else {
            throw SendError(
                .refused,
                """
                \(path): it is damaged; restore it, or remove it: then the run goes on, and its \
                summary counts attempts, times and connections anew (rows and outcomes do not \
                come from it)
                """)
        }
        self.seconds = seconds
        self.attempts = attempts
        self.retries = retries
        self.bytesSent = bytesSent
        connections.opened = opened
        connections.goaway = goaway
        connections.lost = lost
        self.retried = retried
        latencies = LatencyHistogram(counts: buckets, maxMicroseconds: longest)
        self.rate = rate
    }

    private static func write(_ counts: [UInt64], _ key: String, to writer: inout JSONWriter) {
        writer.key(key)
        writer.beginObject()
        for (index, count) in counts.enumerated() where count > 0 {
            writer.member(String(index), count)
        }
        writer.endObject()
    }

    private func write(_ rate: RateSeries, to writer: inout JSONWriter) {
        writer.member("rateBucketSeconds", rate.bucketSeconds)
        writer.key("acceptedByBucket")
        writer.beginArray()
        for count in rate.counts { writer.number(count) }
        writer.endArray()
    }

    /// An empty series for a checkpoint of an earlier version; nil for a damaged one.
    private static func rate(_ node: JSONNode) -> RateSeries? {
        guard let elements = node["acceptedByBucket"]?.elements else {
            return node["acceptedByBucket"] == nil ? RateSeries() : nil
        }
        let counts = elements.compactMap { count($0) }
        guard counts.count == elements.count, let seconds = count(node["rateBucketSeconds"]) else {
            return nil
        }
        return RateSeries(bucketSeconds: seconds, counts: counts)
    }

    private static func count(_ node: JSONNode?) -> UInt64? {
        node?.asInt.flatMap { UInt64(exactly: $0) }
    }

    private static func counts(_ node: JSONNode?, count: Int) -> [UInt64]? {
        guard let members = node?.members else { return nil }
        var counts = [UInt64](repeating: 0, count: count)
        for member in members {
            guard let index = Int(member.key), counts.indices ~= index,
                let value = Self.count(member.value)
            else { return nil }
            counts[index] = value
        }
        return counts
    }
}

extension RunSummary {
    /// Takes over how many rows are in each state, by ledger byte.
    mutating func take(_ counts: [UInt64]) {
        let finalCodes = Int(OpenState.firstFinal)...255
        outcomes = Outcome.allCases.map { outcome in
            let rows = finalCodes.reduce(UInt64(0)) { sum, byte in
                FinalCode(rawValue: UInt8(byte)).outcome == outcome ? sum + counts[byte] : sum
            }
            return (outcome, rows)
        }
        reasons = finalCodes.compactMap { byte in
            let code = FinalCode(rawValue: UInt8(byte))
            return counts[byte] > 0 && code != .accepted ? (code, counts[byte]) : nil
        }
        reasons.sort { $0.1 > $1.1 }
        inDoubt = counts[Int(OpenState.inDoubt)]
    }

    mutating func take(_ measured: Measurements) {
        seconds = measured.seconds
        attempts = measured.attempts
        retries = measured.retries
        bytesSent = measured.bytesSent
        connections = measured.connections
        retriedReasons = (OpenState.firstFinal...UInt8.max).compactMap { code in
            let count = measured.retried[Int(code)]
            return count > 0 ? (FinalCode(rawValue: code), count) : nil
        }
        let latencies = measured.latencies
        latencyMilliseconds.p50 = Double(latencies.percentile(0.5)) / 1000
        latencyMilliseconds.p90 = Double(latencies.percentile(0.9)) / 1000
        latencyMilliseconds.p99 = Double(latencies.percentile(0.99)) / 1000
        latencyMilliseconds.p999 = Double(latencies.percentile(0.999)) / 1000
        latencyMilliseconds.max = Double(latencies.maxMicroseconds) / 1000
        if seconds > 0 { acceptedPerSecond = Double(count(of: .accepted)) / seconds }
    }
}
