internal import JSON

/// `run.json`: what the run is, and whether it has ended.
struct RunRecord: Sendable {
    let name: String
    let identity: RunIdentity
    /// Of the first start.
    let startedAt: Timestamp
    /// The path of the recipients, or "-".
    var input: String
    /// The names of a CSV's columns; the list of chunks does not cover the header.
    let columns: [String]
    /// Rows past this one are not sent; nil for no limit.
    let limit: UInt64?
    var server: String
    /// How often the run was resumed.
    var resumes: UInt64 = 0
    /// Of the latest start; nil for runs of earlier versions.
    var pace: RunPace?
    /// What ``read(_:)`` found.
    private(set) var isCompleted = false
    /// Whether the run came to an end of its own, which it wrote down.
    private(set) var hasEnded = false

    init(
        name: String, identity: RunIdentity, startedAt: Timestamp, input: String,
        columns: [String], limit: UInt64?, server: String
    ) {
        self.name = name
        self.identity = identity
        self.startedAt = startedAt
        self.input = input
        self.columns = columns
        self.limit = limit
        self.server = server
    }

    /// - Parameter state: `running`, `completed`, `stopped` or `interrupted`.
    func json(state: String) -> [UInt8] {
        var writer = JSONWriter(pretty: true)
        writer.beginObject()
        writer.member("format", Self.format)
        writer.member("name", name)
        writer.member("identity", identity.hex)
        writer.member("startedAt", startedAt.rfc3339)
        writer.member("input", input)
        writer.key("columns")
        writer.beginArray()
        for column in columns { writer.string(column) }
        writer.endArray()
        if let limit {
            writer.member("limit", limit)
        }
        writer.member("server", server)
        if let pace {
            writer.key("pacing")
            pace.write(to: &writer)
        }
        writer.member("resumes", resumes)
        writer.member("state", state)
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    /// Reads the `run.json` at `path`.
    static func read(_ path: String) throws(SendError) -> RunRecord {
        guard let bytes = try SmallFile.readIfThere(path) else {
            throw SendError(
                .refused,
                """
                \(path): there is no such file: no run has begun in this folder, so there is \
                nothing to resume; check --run-dir, or start a new run without --resume
                """)
        }
        guard let node = try? JSONDocument.parse(bytes, dialect: .strict),
            node["format"]?.asInt == Self.format, let name = node["name"]?.asString,
            let identity = node["identity"]?.asString.flatMap({ RunIdentity(hex: $0) }),
            let startedAt = node["startedAt"]?.asString.flatMap({ Timestamp(rfc3339: $0) }),
            let input = node["input"]?.asString, let columns = node["columns"]?.elements,
            let server = node["server"]?.asString, let resumes = node["resumes"]?.asInt,
            let state = node["state"]?.asString
        else {
            throw SendError(
                .refused,
                """
                \(path): it is damaged, or of another version of Peal; restore it, or start a new run
                """)
        }
        var record = RunRecord(
            name: name, identity: identity, startedAt: startedAt, input: input,
            columns: columns.compactMap(\.asString),
            limit: node["limit"]?.asInt.flatMap { UInt64(exactly: $0) }, server: server)
        record.resumes = UInt64(max(0, resumes))
        record.pace = RunPace(node["pacing"])
        record.isCompleted = state == "completed"
        record.hasEnded = state != "running"
        return record
    }

    private static let format = 1
}
