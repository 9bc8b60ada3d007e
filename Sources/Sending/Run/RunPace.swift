package import Campaign
internal import JSON

/// How fast a run was allowed to send, from options and manifest: what `run.json` tells of its
/// latest start.
package struct RunPace: Sendable, Equatable {
    package var mode: Pacing.Mode
    /// Notifications per second for the whole run; 0: no bound.
    package var rate: Double
    /// The same for each connection.
    package var connectionRate: Double
    package var connections: Int
    package var threads: Int

    package init(
        mode: Pacing.Mode, rate: Double, connectionRate: Double, connections: Int, threads: Int
    ) {
        self.mode = mode
        self.rate = rate
        self.connectionRate = connectionRate
        self.connections = connections
        self.threads = threads
    }

    init(_ plan: SendPlan, mode: Pacing.Mode) {
        self.init(
            mode: mode, rate: plan.rate, connectionRate: plan.connectionRate,
            connections: plan.connections, threads: plan.threads)
    }

    /// Reads what ``write(to:)`` wrote; nil for anything else, and for runs of earlier versions.
    init?(_ node: JSONNode?) {
        guard let node, let mode = node["mode"]?.asString.flatMap(Pacing.Mode.init(rawValue:)),
            let rate = node["rate"]?.asDouble,
            let connectionRate = node["perConnection"]?.asDouble,
            let connections = node["connections"]?.asInt, let threads = node["threads"]?.asInt
        else { return nil }
        self.init(
            mode: mode, rate: rate, connectionRate: connectionRate, connections: connections,
            threads: threads)
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("mode")
        writer.string(mode.rawValue)
        writer.key("rate")
        writer.number(rate)
        writer.key("perConnection")
        writer.number(connectionRate)
        writer.key("connections")
        writer.number(connections)
        writer.key("threads")
        writer.number(threads)
        writer.endObject()
    }
}
