internal import MockAPNS

/// Every command and option of Peal: the one declaration of the command line.
package enum CommandTable {
    package static let commands = [
        send, check, report, mock, load, device, auth,
    ]

    /// The commands that this version supports.
    package static var supported: [CommandSpec] { commands.filter(\.isSupported) }

    /// What the engine and the local APNs are built for. APNs itself allows 1,000 streams on a
    /// connection.
    private static let threadsMax: UInt64 = 64
    private static let connectionsMax: UInt64 = 512
    private static let streamsMax: UInt64 = 1000
    /// Above this, the time between two notifications is under a nanosecond.
    private static let rateMax = 1e9

    // Options of `send` and `check`.
    private static let recipients = OptionSpec.value(
        "recipients", "FILE|-", default: "the manifest's",
        "reads the device tokens from FILE, or from standard input")
    private static let expectRows = OptionSpec.value(
        "expect-rows", "N", .whole(0...UInt64.max),
        "treats fewer than N rows at the end of the input as an error")
    private static let rate = OptionSpec.value(
        "rate", "N", .decimal(0...rateMax), default: "the manifest's, else unlimited",
        "sends at most N notifications per second in all; 0 is unlimited")
    private static let connectionRate = OptionSpec.value(
        "connection-rate", "N", .decimal(0...rateMax),
        default: "the manifest's, else unlimited",
        "sends at most N notifications per second on each connection; 0 is unlimited")
    private static let pacing = OptionSpec.value(
        "pacing", "MODE", .choice(["adaptive", "gentle", "unlimited"]),
        default: "the manifest's, else adaptive",
        "adaptive looks at the answers, gentle sends 100 per second on each connection")
    private static let connections = OptionSpec.value(
        "connections", "N", .whole(1...connectionsMax), default: "the manifest's, else 4",
        "opens N connections in all")

    private static let send = CommandSpec(
        "send", operand: "CAMPAIGN", "sends a campaign",
        details: """
            CAMPAIGN is a folder that holds campaign.json, or a manifest file. Progress and
            summary go to standard error. What became of every row is in the run folder.

            Exit status: 0 every row has a final outcome, 2 refused and nothing sent,
            3 stopped early, 130 interrupted, 1 internal error. A run that ended with 3 or
            130, or was killed, goes on with --resume: the campaign's message, columns and
            recipients must be the same then, everything else may change.
            """,
        options: [
            recipients, expectRows,
            .value(
                "limit", "N", .whole(1...UInt64.max), default: "all rows",
                "sends the first N rows only"),
            .value(
                "server", "URL", default: "Apple's host of the campaign's environment",
                "sends to https://HOST:PORT instead"),
            .value(
                "ca-file", "PEM", default: "the system's",
                "trusts the certificate authorities in this file, and no others"),
            .flag("mock", "starts a local APNs inside this process and sends to it"),
            .value(
                "run-dir", "DIR", default: "runs/NAME/TIME",
                "keeps this run's files in DIR, which must not exist yet"),
            .flag(
                "resume",
                "goes on with the run in --run-dir, else the newest of this campaign that is not "
                    + "complete; sends no row twice that has an outcome"),
            rate, connectionRate, pacing, connections,
            .value(
                "streams", "N", .whole(1...streamsMax),
                default: "as many as the server allows, up to 1000",
                "keeps at most N requests open on each connection"),
            .value(
                "threads", "N", .whole(1...threadsMax), default: "one for each processor",
                "works with N threads; there are at least as many connections"),
            .flag("json", "prints the summary as JSON on standard output, and nothing else there"),
            .flag("quiet", "says nothing on standard error but warnings and errors"),
            .flag("yes", "does not ask before sending to Apple"),
            .later("proxy", "URL"), .later("metrics", "HOST:PORT"),
            .later("at", "TIME"),
        ])

    private static let check = CommandSpec(
        "check", operand: "CAMPAIGN", "reads a campaign and all its rows, and sends nothing",
        details: """
            CAMPAIGN is a folder that holds campaign.json, or a manifest file. The report on
            standard output tells which rows are invalid and why, repeated tokens, sizes,
            locales, empty placeholders, what may not be meant so, and what sending takes.
            No connection is opened, and no run folder is made. The options of pace are
            those of `send`; here they say for which pace the time is predicted.

            Exit status: 0 `send` would send (what is invalid is left out then), 2 `send`
            would refuse, 3 reading broke off, or fewer rows than --expect-rows.

              peal check campaigns/spring-sale
              peal check campaigns/spring-sale --row 7
              peal check campaigns/spring-sale --json | jq .findings
            """,
        notes: """
            With --json: an object of name, recipients, rows, sendable, invalid, repeated,
            seconds, bytesRead; invalidReasons [{reason, rows, advice, examples [{row, line,
            column, detail}]}]; duplicates {policy, rows, examples [{row, firstRow}],
            mostRepeated {firstRow, rows}}; payloadBytes {limit, smallest, median, largest,
            largestRow, total, histogram [{from, to, rows}]}; payloads {NAME: rows}; locales
            [{locale, rows, payload}]; otherLocaleRows; placeholders [{column, rows, empty,
            defaults}]; forecast {requests, bytes, pacing, connections, ratePerSecondMax,
            secondsMin}; findings [{id, severity, message, remedy}]; and a row as sample.
            What does not exist is null. Payloads are counted for the rows whose token is
            one.

            A row, with --row too: row, line, token (shortened), valid; then payloadName,
            payloadBytes, headers {NAME: value; in parentheses, what a run decides} and
            payload (the exact JSON, as a string), or else reason, advice and place {row,
            line, column, detail}.
            """,
        options: [
            recipients, expectRows,
            .value(
                "limit", "N", .whole(1...UInt64.max), default: "all rows",
                "checks the first N rows only"),
            .value(
                "row", "N", .whole(1...UInt64.max),
                "shows row N alone: on a phone, as JSON, with its headers, or why it is invalid"),
            rate, connectionRate, pacing, connections,
            .flag("json", "prints the facts as JSON on standard output, and nothing else there"),
        ])

    private static let report = CommandSpec(
        "report", operand: "RUN", "prints the summary of a run and writes its report anew",
        details: """
            RUN is the folder of one run, runs/NAME/TIME, however that run ended: completed,
            stopped, interrupted or killed. The summary goes to standard output. In the
            folder, report.html (for a browser, one file that needs nothing else) and
            unregistered.csv are written anew.

            Exit status: 0 done, whatever became of the run, 2 no run, damaged, or in use
            by another process, 3 the files could not be written.

              peal report runs/spring-sale/20260314T090000Z
              peal report runs/spring-sale/20260314T090000Z --json | jq .outcomes
            """,
        options: [
            .flag("json", "prints the summary as JSON on standard output, and nothing else there")
        ])

    private static let mock = CommandSpec(
        "mock", operand: nil, "runs a local APNs until it is interrupted",
        details: """
            When it is ready it prints its address and its certificate authority. Then:

              peal send CAMPAIGN --server https://localhost:2197 --ca-file DIR/ca.pem

            What it has seen so far: https://HOST:PORT/mock/stats
            What it knows: /mock/registry, /mock/teams, /mock/keys, /mock/apps, /mock/tokens
            (GET; POST adds or replaces, in the form of --registry; DELETE takes away)
            """,
        notes: FaultHelp.text,
        options: [
            .value(
                "listen", "HOST:PORT", default: "127.0.0.1:2197",
                "listens here; port 0 picks a free one"),
            .value(
                "state", "DIR", default: "$XDG_STATE_HOME/peal/mock",
                "keeps its certificate authority and certificate in DIR"),
            .value(
                "key", "FILE", default: "signatures are not checked", repeatable: true,
                "verifies provider tokens with this p8 or public key"),
            .value(
                "threads", "N", .whole(1...threadsMax), default: "1", "works with N threads"),
            .flag("fast", "answers as fast as it can: large windows, all streams at once"),
            .value(
                "registry", "FILE", default: "registry.json5 in DIR, else everybody is welcome",
                "knows the teams, keys, apps and device tokens in this JSON5 file"),
            .value(
                "fault", "SPEC", .text, repeatable: true, "misbehaves on purpose; see below"),
            .value(
                "faults", "FILE", .text,
                "misbehaves as this JSON5 file says, with the keys of --fault"),
            .value(
                "seed", "N", .whole(0...UInt64.max), default: "a random one, which it prints",
                "makes faults strike at the same places again"),
            .value(
                "log", "FILE", .text,
                "appends a JSON line for each request; waits for the disk rather than lose one"),
        ])

    private static let device = CommandSpec(
        "device", operand: nil, "runs a simulated phone that prints what it receives",
        details: """
            It registers an app with the local APNs, keeps one connection open, and prints
            each notification as it arrives. Its token, for your recipients file, stands
            in the file $XDG_STATE_HOME/peal/devices/NAME/TOPIC. It is the same at the next
            start: then the latest notification that came meanwhile arrives.
            """,
        options: [
            .value(
                "topic", "TOPIC", .text, "the app: its bundle id, as campaigns name it in `topic`"),
            .value("name", "NAME", default: "phone", "tells this phone from others of yours"),
            .value(
                "server", "URL", default: "https://localhost:2197", "the local APNs"),
            .value(
                "ca-file", "PEM", default: "ca.pem of the local APNs in its default folder",
                "trusts the certificate authorities in this file, and no others"),
            .value(
                "count", "N", .whole(1...1_000_000_000), default: "until it is interrupted",
                "ends after N notifications"),
            .flag("json", "prints each notification as a line of JSON"),
            .flag(
                "unregister",
                "has the local APNs forget the phone, which answers 410 for its token from then on"
            ),
        ])

    private static let auth = CommandSpec(
        "auth", operand: "CAMPAIGN|FILE", "describes and verifies credentials",
        details: """
            Takes a campaign, or a file itself: a p8 key, or a certificate with its key
            (p12 or PEM). What the file holds decides, not its name. Sends nothing.
            """,
        options: [
            .flag(
                "print-token", "prints a provider token on standard output, and nothing else there"),
            .value("key-id", "ID", default: "the campaign's", "the key's ID, ten characters"),
            .value("team-id", "ID", default: "the campaign's", "the team's ID, ten characters"),
            .value(
                "passphrase-env", "NAME", default: "the campaign's",
                "the environment variable that holds the file's passphrase"),
        ])
}
