import Load

extension CommandTable {
    private static let counts = (
        connections: OptionSpec.Kind.whole(1...UInt64(LoadOptions.connectionsMax)),
        streams: OptionSpec.Kind.whole(1...UInt64(LoadOptions.streamsMax)),
        threads: OptionSpec.Kind.whole(1...UInt64(LoadOptions.threadsMax)),
        payloadBytes: OptionSpec.Kind.whole(
            UInt64(SyntheticPayload.bytesMin)...UInt64(LoadOptions.payloadBytesMax))
    )

    static let load = CommandSpec(
        "load", operand: nil, "tests a server with a steady or rising load",
        details: """
            Sends made-up notifications to device tokens that no device has. When each
            request is to be sent is fixed in advance (an open loop), and latency counts
            from that time: a server that stalls cannot hide it by slowing the test down.

              peal load --mock --rate 5000 --duration 10s

            It sends to this machine only, unless --server names another and
            --i-own-this-server says that you may; and never to Apple.

            Exit status: 0 the rate was reached (99 % of it, answered with 200), 3 it was
            not, or the server could not be reached, 2 refused and nothing sent,
            130 interrupted, with a summary of what was measured, 1 internal error.
            """,
        options: [
            .value(
                "rate", "N", .decimal(0...1e6), "plans N requests per second"),
            .value(
                "ramp", "A..B", .text, "plans a rate that changes evenly from A to B per second"),
            .value(
                "duration", "TIME", default: "10s", "plans for so long: 500ms, 30s, 15m, 4h"),
            .value(
                "connections", "N", counts.connections, default: "4",
                "keeps N connections in all"),
            .value(
                "streams", "N", counts.streams,
                default: "as many as the server allows, up to 1000",
                "keeps at most N requests open on each connection"),
            .value(
                "threads", "N", counts.threads,
                default: "one for each processor",
                "works with N threads; there are at least as many connections"),
            .value(
                "payload-bytes", "N", counts.payloadBytes, default: "227",
                "sends payloads of N bytes"),
            .value(
                "tokens", "N", .whole(1...1_000_000_000_000),
                default: "so many that each is hit once a minute",
                "sends to N device tokens in turn; they are the same in every test"),
            .value("topic", "TOPIC", default: "com.example.app", "sends for this app"),
            .value(
                "server", "URL", default: "https://localhost:2197, where peal mock listens",
                "sends to https://HOST:PORT instead"),
            .value(
                "ca-file", "PEM",
                default: "with --server the system's, else ca.pem of the local APNs",
                "trusts the certificate authorities in this file, and no others"),
            .flag(
                "i-own-this-server", "lets --server be another machine, which this may take down"),
            .flag(
                "mock",
                "starts a fast local APNs in this process and sends to it; both share the processors"
            ),
            .value(
                "histogram", "FILE", .text,
                "writes the latencies to FILE in milliseconds, as HdrHistogram's tools read them"),
            .flag("json", "prints the summary as JSON on standard output, and nothing else there"),
            .flag("quiet", "says nothing on standard error but warnings and errors"),
        ])
}
