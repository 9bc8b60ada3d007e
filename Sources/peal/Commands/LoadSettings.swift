import Campaign
import EventLoop
import Load
import Transport

/// What the options of `peal load` ask for, checked before anything is started.
enum LoadSettings {
    private static let server = "https://localhost:2197"

    static func options(_ arguments: ParsedArguments) throws(CommandFailure) -> LoadOptions {
        try checkCombinations(arguments)
        var options = LoadOptions(
            endpoint: try endpoint(arguments), schedule: try schedule(arguments))
        options.target = LoadTarget(isOwned: arguments.has("i-own-this-server"))
        options.caFile = try caFile(arguments)
        options.connections = arguments.count("connections") ?? options.connections
        options.streams = arguments.count("streams") ?? options.streams
        options.threads = arguments.count("threads")
        options.payloadBytes = arguments.count("payload-bytes") ?? options.payloadBytes
        options.tokens = arguments.whole("tokens")
        options.topic = arguments.text("topic") ?? options.topic
        if !arguments.has("mock") { try checkTarget(options) }
        return options
    }

    private static func checkCombinations(
        _ arguments: ParsedArguments
    ) throws(CommandFailure) {
        for other in ["server", "ca-file"] where arguments.has("mock") && arguments.has(other) {
            throw .refused(
                "--mock brings its own server and certificate authority: leave --\(other) or "
                    + "--mock out")
        }
        guard !arguments.has("i-own-this-server") || arguments.has("server") else {
            throw .refused("--i-own-this-server goes with --server, which names the server")
        }
    }

    // MARK: The schedule

    private static func schedule(
        _ arguments: ParsedArguments
    ) throws(CommandFailure) -> LoadSchedule {
        let text = arguments.text("duration") ?? "10s"
        guard let ms = ManifestDuration.milliseconds(text), ms > 0 else {
            throw .refused("--duration '\(text)' is no time: \(ManifestDuration.form)")
        }
        let (from, to) = try rates(arguments)
        return LoadSchedule(fromRate: from, toRate: to, durationNs: UInt64(ms) * 1_000_000)
    }

    private static func rates(
        _ arguments: ParsedArguments
    ) throws(CommandFailure) -> (Double, Double) {
        if let ramp = arguments.text("ramp") {
            guard !arguments.has("rate") else {
                throw .refused("--ramp replaces --rate: leave one of the two out")
            }
            return try range(ramp)
        }
        guard let rate = arguments.decimal("rate") else {
            throw .refused(
                "how fast? Give --rate N (per second), or --ramp A..B; to try it: "
                    + "peal load --mock --rate 1000")
        }
        guard rate > 0 else {
            throw .refused("--rate 0 sends nothing: a load test has a rate of its own, as 1000")
        }
        return (rate, rate)
    }

    /// "1000..20000".
    private static func range(_ text: String) throws(CommandFailure) -> (Double, Double) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let isRange = parts.count == 3 && parts[1].isEmpty
        let numbers = isRange ? [parts[0], parts[2]] : []
        for number in numbers {
            if let problem = NumberCheck.problem(of: String(number), asWholeIn: 1...1_000_000) {
                throw .refused("--ramp '\(text)': '\(number)' \(problem)")
            }
        }
        let rates = numbers.compactMap { Double($0) }
        guard rates.count == 2 else {
            throw .refused("--ramp '\(text)' is not A..B: write two whole rates, as 1000..20000")
        }
        return (rates[0], rates[1])
    }

    // MARK: The server

    private static func endpoint(_ arguments: ParsedArguments) throws(CommandFailure) -> Endpoint {
        do {
            return try Endpoint.parse(url: arguments.text("server") ?? server)
        } catch {
            throw .refused("--server \(error)")
        }
    }

    private static func caFile(_ arguments: ParsedArguments) throws(CommandFailure) -> String? {
        if arguments.has("mock") { return nil }
        if let file = arguments.text("ca-file") { return file }
        if arguments.has("server") { return nil }
        let file = try StatePath.folder("mock") + "/ca.pem"
        guard SmallFile.exists(file) else {
            throw .refused(
                "no local APNs has run here yet (\(file) is missing): start peal mock in another "
                    + "terminal, or add --mock")
        }
        return file
    }

    /// Refuses a server that is neither this machine nor said to be the user's, or Apple's. Each
    /// connection checks the addresses again: a name can lead elsewhere a moment later.
    private static func checkTarget(_ options: LoadOptions) throws(CommandFailure) {
        let endpoint = options.endpoint
        if let refusal = options.target.refusal(host: endpoint.host) { throw .refused(refusal) }
        var failure: CommandFailure?
        do {
            let loop = try EventLoop()
            defer { loop.close() }
            _ = try loop.resolve(host: endpoint.host, port: endpoint.port) { result in
                switch result {
                case .success(let addresses):
                    let refusals = addresses.compactMap { options.target.refusal(address: $0) }
                    failure = refusals.first.map { .refused("--server \(endpoint): \($0)") }
                case .failure(let error): failure = CommandFailure(.stopped, error.description)
                }
            }
            loop.run()
        } catch {
            throw CommandFailure(.internalError, "cannot look up \(endpoint.host): \(error)")
        }
        if let failure { throw failure }
    }
}
