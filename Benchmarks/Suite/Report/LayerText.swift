/// What the report says of a layer, before its table.
struct LayerText {
    let layer: String
    let title: String
    let text: String

    static let all = [
        LayerText(
            layer: "rivals", title: "Peal and other senders",
            text: """
                Each server in turn, all clients in the same rounds: 4 connections, 100 streams on each, \
                the same headers (a provider token, topic, push type, priority, expiration), bodies of \
                the same size. Peal sends a whole campaign: it reads a CSV file, renders three \
                placeholders, signs the provider token, finds duplicates, keeps the ledger, and would try \
                again. h2load replays one constant request; the senders for Node.js and Python are in \
                `Benchmarks/rivals` and send a constant text to a file of tokens. The note says \
                who held the rate down: who is above 80 % of a core.
                """),
        LayerText(
            layer: "wire", title: "Cases around a centre",
            text: """
                `peal send` against the local APNs and haproxy. The centre: 4 connections, 100 streams, \
                227-byte bodies, three placeholders, one thread. Each case changes one of them.
                """),
        LayerText(
            layer: "paced", title: "Limits of the rate",
            text: "`--rate` against what is achieved, towards the local APNs."),
        LayerText(
            layer: "distance", title: "A server that is far away",
            text: """
                The local APNs puts itself a round trip away and lets 65,535 body bytes of a connection \
                be under way: the one connection can carry no more than the limit in the table. For the \
                share it gives back what it has taken in steps of 4,096 bytes (`windowStepBytes` in its \
                registry). By itself it waits for half of the window, as the only public log of a \
                connection to Apple's service shows, which is the last column: two halves do not fit \
                into 65,535 bytes together, so a sender is granted one in a round trip, whatever it does.
                """),
        LayerText(
            layer: "scale", title: "Small and large files",
            text: """
                Whole campaigns towards the local APNs. CPU per row is without the start, which is that \
                of a campaign of the same file with `--limit 1`. Anonymous memory is the highest that was \
                seen, fifty times a second; file mappings can be dropped by the system at any time.
                """),
        LayerText(
            layer: "start", title: "Time to the first request",
            text: """
                From the start of the process to the line of the first request in the local APNs' log.
                """),
        LayerText(
            layer: "path", title: "The whole path in memory",
            text: """
                Everything that a worker does for a row, from the file to the answer, without TLS, \
                sockets, the loop, pacing and the slots of rows in flight; the server's bytes are canned. \
                Processor time of one thread.
                """),
        LayerText(
            layer: "micro", title: "Parts",
            text: """
                Processor time of one thread per operation. For the readers, an operation is a row of \
                `tools/make-recipients`, read from the page cache: `split` is reading the file and \
                finding where records end; `csv-fields` is checking the text and splitting records into all \
                five fields; `csv-read` and `ndjson-read` are both, from the file to all fields \
                (NDJSON: to all tokens, checked); `row` adds the campaign's values and the check of the \
                device token. The rows of `csv-read-quoted` are those of `csv-read` and one in 16 with \
                quotes. `request` is a request and its answer in memory. Allocations are counted by a \
                preloaded library (`Benchmarks/allocations`), those of C libraries included.
                """),
    ]
}
