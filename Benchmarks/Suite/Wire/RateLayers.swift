/// Whether a limit of the rate is kept to: notifications per second against what was asked for.
struct PacedLayer {
    let options: Options
    let work: WorkFolder

    func run(into file: ResultFile) throws {
        let rates = options.size == .tiny ? [1_000] : [1_000, 10_000, 50_000]
        let wanted = rates.filter {
            options.wants("rate \($0)") && !file.holds("paced", "rate \($0)")
        }
        guard !wanted.isEmpty else { return }
        let mock = try MockAPNs(options, work)
        let files = try CampaignFiles(work, shape: Shape(), name: "paced")
        let sampler = Sampler(work)
        for rate in wanted {
            say("paced: \(rate) per second")
            let client = PealClient(
                options: options, work: work, arguments: ["--rate", String(rate)])
            let seconds = options.size == .full ? 4 : options.size == .quick ? 2 : 1
            let counts = Counts(short: rate / 2, long: rate / 2 + rate * seconds)
            let samples = try (0..<min(3, options.rounds)).map { _ in
                try sampler.sample(client, mock, files, counts)
            }
            var result = CaseResult(layer: "paced", name: "rate \(rate)")
            let achieved = samples.map(\.perSecond)
            result.figures = [
                ("achieved", Figure(achieved, "/s")),
                ("share", Figure(achieved.map { $0 / Double(rate) * 100 }, "%")),
                ("CPU", Figure(samples.map(\.clientMicroseconds), "µs")),
            ]
            try file.add([result])
        }
    }
}

/// How much of what the window allows is reached with a server that is far away.
///
/// The server lets 65,535 body bytes of a connection be under way, so a connection can carry no
/// more than that in a round trip. That the sender makes use of it shows only with a server that
/// gives back what it has taken in small steps; one that waits for half of its window, as the local
/// APNs does by itself, never grants a second half within a round trip. Both are measured.
struct DistanceLayer {
    static let windowBytes = 65_535
    static let stepBytes = 4_096

    let options: Options
    let work: WorkFolder

    func run(into file: ResultFile) throws {
        for milliseconds in options.size == .tiny ? [20] : [20, 80] {
            for bodyBytes in options.size == .tiny ? [1024] : [227, 1024] {
                let name = "\(milliseconds) ms, body \(bodyBytes)"
                guard options.wants(name), !file.holds("distance", name) else { continue }
                say("distance: \(name)")
                try file.add([try measure(name, milliseconds, bodyBytes)])
            }
        }
    }

    private func measure(
        _ name: String, _ milliseconds: Int, _ bodyBytes: Int
    ) throws -> CaseResult {
        var shape = Shape()
        (shape.connections, shape.streams, shape.bodyBytes) = (1, 1000, bodyBytes)
        let files = try CampaignFiles(
            work, shape: shape, name: "distance-\(milliseconds)-\(bodyBytes)")
        let limit =
            Double(shape.connections * Self.windowBytes)
            / (Double(files.bodyBytes) * Double(milliseconds) / 1000)
        let seconds = options.size == .full ? 4.0 : 2.0
        let start = Int(limit * 0.5)
        let counts = Counts(short: start, long: start + Int(limit * seconds))
        let rates = try rates(milliseconds, files, counts, stepBytes: Self.stepBytes)
        let defaultRates = try self.rates(milliseconds, files, counts, stepBytes: 0)
        var result = CaseResult(layer: "distance", name: name)
        result.figures = [
            ("rate", Figure(rates, "/s")), ("limit", Figure([limit], "/s")),
            ("share", Figure(rates.map { $0 / limit * 100 }, "%")),
            ("share with half steps", Figure(defaultRates.map { $0 / limit * 100 }, "%")),
        ]
        return result
    }

    /// What is sent per second to a server that gives windows back in such steps.
    private func rates(
        _ milliseconds: Int, _ files: CampaignFiles, _ counts: Counts, stepBytes: Int
    ) throws -> [Double] {
        let registry = work.makeFolder("step-\(stepBytes)") + "/registry.json5"
        try writeFile(registry, Array("{ inferences: { windowStepBytes: \(stepBytes) } }".utf8))
        let mock = try MockAPNs(
            options, work,
            arguments: ["--registry", registry, "--fault", "round-trip=\(milliseconds)ms"])
        let client = PealClient(options: options, work: work)
        let sampler = Sampler(work)
        return try (0..<min(3, options.rounds)).map { _ in
            try sampler.sample(client, mock, files, counts).perSecond
        }
    }
}
