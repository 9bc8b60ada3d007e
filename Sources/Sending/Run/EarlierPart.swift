internal import APNS
internal import JSON

/// What the earlier starts of a run have left behind; nothing for a run that starts now.
struct EarlierPart: Sendable {
    /// The chunks that were handed out, in file order.
    var chunks: [ChunkEntry] = []
    /// Whether no row comes after them.
    var inputHasEnded = false
    /// The rows in them, up to the run's limit.
    var rows: UInt64 = 0
    /// How many of the rows are in each state, by ledger byte.
    var counts = [UInt64](repeating: 0, count: 256)
    var measured = EarlierMeasurements()

    init() {}

    /// Reads what the folder's list of chunks and its last summary say.
    init(_ folder: RunFolder, limit: UInt64?) throws(SendError) {
        try LineFile.cutTornEnd(folder.file("chunks"))
        (chunks, inputHasEnded) = try ChunkList.read(folder.file("chunks"))
        rows = min(chunks.last?.lastRow ?? 0, limit ?? .max)
        measured = EarlierMeasurements(summary: folder.file("summary.json"))
    }
}

/// What the summary of the earlier starts counted. A start that was killed wrote none: what it
/// counted is lost, and only what comes from the ledger is whole.
struct EarlierMeasurements: Sendable {
    var accepted: UInt64 = 0
    var seconds = 0.0
    var attempts: UInt64 = 0
    var retries: UInt64 = 0
    var bytesSent: UInt64 = 0
    var connections = ConnectionCounts()
    var latencyMilliseconds = LatencyMilliseconds()
    var retriedReasons: [(FinalCode, UInt64)] = []

    init() {}

    /// Reads `summary.json`; nothing when there is none that can be read.
    init(summary path: String) {
        guard let bytes = try? SmallFile.read(path),
            let node = try? JSONDocument.parse(bytes, dialect: .strict)
        else { return }
        func count(_ node: JSONNode?, _ key: String) -> UInt64 {
            node?[key]?.asInt.flatMap { UInt64(exactly: $0) } ?? 0
        }
        func number(_ node: JSONNode?, _ key: String) -> Double { node?[key]?.asDouble ?? 0 }
        accepted = count(node["outcomes"], Outcome.accepted.name)
        seconds = number(node, "seconds")
        attempts = count(node, "attempts")
        retries = count(node, "retries")
        bytesSent = count(node, "bytesSent")
        connections.opened = count(node["connections"], "opened")
        connections.goaway = count(node["connections"], "goaway")
        connections.lost = count(node["connections"], "lost")
        let latencies = node["latencyMilliseconds"]
        latencyMilliseconds.p50 = number(latencies, "p50")
        latencyMilliseconds.p90 = number(latencies, "p90")
        latencyMilliseconds.p99 = number(latencies, "p99")
        latencyMilliseconds.p999 = number(latencies, "p999")
        latencyMilliseconds.max = number(latencies, "max")
        for member in node["retriedReasons"]?.members ?? [] {
            let codes = (OpenState.firstFinal...UInt8.max).lazy.map { FinalCode(rawValue: $0) }
            guard let code = codes.first(where: { $0.reason == member.key }) else { continue }
            retriedReasons.append((code, UInt64(max(0, member.value.asInt ?? 0))))
        }
    }
}

extension RunSummary {
    /// Adds what earlier starts counted. Percentiles cannot be added: they stay those of the latest
    /// start that had answers.
    mutating func add(_ earlier: EarlierMeasurements) {
        seconds += earlier.seconds
        attempts += earlier.attempts
        retries += earlier.retries
        bytesSent += earlier.bytesSent
        connections.opened += earlier.connections.opened
        connections.goaway += earlier.connections.goaway
        connections.lost += earlier.connections.lost
        retriedReasons = earlier.retriedReasons + retriedReasons
        let longest = max(latencyMilliseconds.max, earlier.latencyMilliseconds.max)
        if latencyMilliseconds.max == 0 { latencyMilliseconds = earlier.latencyMilliseconds }
        latencyMilliseconds.max = longest
    }
}
