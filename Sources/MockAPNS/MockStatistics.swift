internal import APNS
internal import JSON

/// What all workers together have counted, as `GET /mock/stats` shows it.
struct MockStatistics {
    /// What a page holds at most of single connections: about 150 bytes each.
    private static let connectionsShownMax = 1_000

    let workers: [MockCounters]
    var latencies: [ServiceLatency] = []
    var boards: [ConnectionBoard] = []
    /// Of the faults; nil without any.
    var seed: UInt64?
    var logFailure: String?

    /// `{"accepted":…,"requests":…,"reasons":{…},"connections":…,"connectionsOpen":…,
    /// "connectionsRefused":…,"handshakesFailed":…,"tokens":{"count":…,"digest":"…"},"faults":{…},
    /// "latency":{…},"perConnection":[…]}`: reasons that occurred, the number of connections opened
    /// so far and open now, and of the accepted requests the number of tokens and the wrapping sum
    /// of FNV-1a-64 over each token in lower case, in 16 hex digits; how often each kind of fault
    /// struck; the service's own time from a whole request to its answer, in microseconds; and the
    /// connections, open ones first.
    func json() -> [UInt8] {
        var writer = JSONWriter(pretty: false)
        writer.beginObject()
        write("accepted", sum(of: .accepted), to: &writer)
        write("requests", sum(of: .requests), to: &writer)
        writer.key("reasons")
        writer.beginObject()
        for reason in GatewayReason.allCases {
            let count = workers.reduce(0) { $0 &+ $1.value(of: reason) }
            if count > 0 { write(reason.name, count, to: &writer) }
        }
        writer.endObject()
        writeConnections(to: &writer)
        writer.key("tokens")
        writer.beginObject()
        write("count", sum(of: .accepted), to: &writer)
        writer.key("digest")
        writer.string(TokenDigest.text(sum(of: .digest)))
        writer.endObject()
        writeFaults(to: &writer)
        writeLatency(to: &writer)
        if let logFailure {
            writer.key("logFailure")
            writer.string(logFailure)
        }
        writer.key("perConnection")
        ConnectionBoard.write(boards, countMax: Self.connectionsShownMax, to: &writer)
        writer.endObject()
        return writer.bytes
    }

    private func writeConnections(to writer: inout JSONWriter) {
        // Read in this order, so that a connection closing meanwhile never makes the difference
        // negative.
        let closed = sum(of: .connectionsClosed)
        let opened = sum(of: .connectionsOpened)
        write("connections", opened, to: &writer)
        write("connectionsOpen", opened - closed, to: &writer)
        write("connectionsRefused", sum(of: .connectionsRefused), to: &writer)
        write("handshakesFailed", sum(of: .handshakesFailed), to: &writer)
    }

    private func writeFaults(to writer: inout JSONWriter) {
        writer.key("faults")
        writer.beginObject()
        for kind in FaultKind.allCases {
            let count = workers.reduce(0) { $0 &+ $1.value(of: kind) }
            if count > 0 { write(kind.row.key, count, to: &writer) }
        }
        writer.endObject()
        if let seed { write("seed", seed, to: &writer) }
        let refused = sum(of: .delaysRefused)
        if refused > 0 { write("delaysRefused", refused, to: &writer) }
    }

    private func writeLatency(to writer: inout JSONWriter) {
        let summary = ServiceLatency.summary(latencies, shares: [0.5, 0.99])
        writer.key("latency")
        writer.beginObject()
        write("count", summary.count, to: &writer)
        let values = summary.percentilesNs + [summary.maxNs]
        for (key, ns) in zip(["p50Us", "p99Us", "maxUs"], values) {
            writer.key(key)
            writer.number(Double(ns) / 1_000)
        }
        writer.endObject()
    }

    private func write(_ key: String, _ value: UInt64, to writer: inout JSONWriter) {
        writer.key(key)
        writer.number(value)
    }

    private func sum(of counter: MockCounters.Counter) -> UInt64 {
        workers.reduce(0) { $0 &+ $1.value(of: counter) }
    }
}
