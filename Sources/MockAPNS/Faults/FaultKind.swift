/// What a fault does: one row of the table that parsing, help and statistics read.
///
/// The raw value is the kind's place among the counters.
enum FaultKind: Int, CaseIterable, Sendable {
    case status, latency, roundTrip, goAway, reset, silence, halfOpen, cut, hangUp
    case settings, noWindowUpdate, stuck, slowHandshake, tokenRate, connectionRate

    /// How the kind is declared.
    struct Row: Sendable {
        /// The key that names the kind in a specification and in a file.
        let key: String
        /// What stands behind the key, as help shows it; empty for a key that stands alone.
        let value: String
        /// What it does, in a few words.
        let effect: String
        /// The keys that belong to this kind alone.
        let parameters: [String]
        /// A whole specification.
        let example: String
        /// When it can strike.
        let moment: Moment
    }

    /// What a kind of fault is tied to.
    enum Moment: Sendable {
        /// Each request; or each connection with `per=connection`.
        case requestOrConnection
        /// A request, and nothing else.
        case request
        /// A connection when it is accepted.
        case connection
    }

    /// The rows, in the order of the cases.
    private static let rows: [Row] = [
        Row(
            key: "status", value: "CODE", effect: "answers so; reason=NAME timestamp=MS",
            parameters: ["reason", "timestamp"],
            example: "status=503 reason=Shutdown p=0.01", moment: .request),
        Row(
            key: "latency", value: "TIME",
            effect: "delays answers; or A..B, or lognormal:MEDIAN:SIGMA",
            parameters: [], example: "latency=lognormal:20ms:0.5", moment: .request),
        Row(
            key: "round-trip", value: "TIME", effect: "puts the server that far away",
            parameters: [], example: "round-trip=40ms", moment: .connection),
        Row(
            key: "goaway", value: "now|graceful",
            effect: "reason=NAME text=TEXT code=CODE unprocessed=N wait=TIME",
            parameters: ["reason", "text", "code", "unprocessed", "wait"],
            example: "goaway=now reason=Shutdown unprocessed=5 every=1000",
            moment: .requestOrConnection),
        Row(
            key: "reset", value: "CODE", effect: "resets the stream",
            parameters: [], example: "reset=REFUSED_STREAM every=50", moment: .request),
        Row(
            key: "silence", value: "", effect: "never answers the stream",
            parameters: [], example: "silence token=ab", moment: .request),
        Row(
            key: "half-open", value: "", effect: "stops reading the connection",
            parameters: [], example: "half-open every=2000", moment: .requestOrConnection),
        Row(
            key: "cut", value: "", effect: "resets the connection in mid-stream",
            parameters: [], example: "cut p=0.001", moment: .requestOrConnection),
        Row(
            key: "hang-up", value: "tcp|tls", effect: "accepts (or shakes hands), then closes",
            parameters: [], example: "hang-up=tcp every=3", moment: .connection),
        Row(
            key: "settings", value: "", effect: "announces streams=N window=N table=N",
            parameters: ["streams", "window", "table"],
            example: "settings streams=1 from=5s times=1", moment: .requestOrConnection),
        Row(
            key: "no-window-update", value: "", effect: "withholds WINDOW_UPDATE",
            parameters: [], example: "no-window-update every=500", moment: .requestOrConnection),
        Row(
            key: "stuck", value: "CODE", effect: "answers so to the connection's end",
            parameters: ["reason"], example: "stuck=500 p=0.2 per=connection",
            moment: .requestOrConnection),
        Row(
            key: "slow-handshake", value: "TIME", effect: "begins TLS so late",
            parameters: [], example: "slow-handshake=2s p=0.5", moment: .connection),
        Row(
            key: "token-rate", value: "N", effect: "429 above N a second for one device token",
            parameters: [], example: "token-rate=2", moment: .request),
        Row(
            key: "connection-rate", value: "N",
            effect: "resets new connections above N a second",
            parameters: [], example: "connection-rate=10", moment: .connection),
    ]

    var row: Row { Self.rows[rawValue] }

    /// The kind that a key names.
    static func named(_ key: String) -> FaultKind? { allCases.first { $0.row.key == key } }
}
