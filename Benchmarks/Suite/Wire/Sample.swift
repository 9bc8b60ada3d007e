/// One comparison of a short and a long run of a client: what each further notification cost.
struct Sample {
    var clientMicroseconds: Double
    var serverMicroseconds: Double
    var perSecond: Double
}

/// Runs clients against servers, and checks that nothing was lost.
final class Sampler {
    private let work: WorkFolder
    private var digests: [Int: UInt64] = [:]

    init(_ work: WorkFolder) { self.work = work }

    func sample(
        _ client: any Client, _ server: any LocalServer, _ files: CampaignFiles, _ counts: Counts
    ) throws -> Sample {
        let short = try run(client, server, files, counts.short)
        let long = try run(client, server, files, counts.long)
        let count = Double(counts.long - counts.short)
        return Sample(
            clientMicroseconds: (long.usage.cpuSeconds - short.usage.cpuSeconds) / count * 1e6,
            serverMicroseconds: (long.server - short.server) / count * 1e6,
            perSecond: count / max(1e-6, long.usage.wallSeconds - short.usage.wallSeconds))
    }

    /// A run; its server must have counted exactly its notifications, and their tokens.
    private func run(
        _ client: any Client, _ server: any LocalServer, _ files: CampaignFiles, _ count: Int
    ) throws -> (usage: ChildProcess.Usage, server: Double) {
        let before = try server.count()
        let cpuBefore = cpuSeconds(ofProcess: server.process.identifier)
        let usage = try client.run(count, to: server, from: files)
        let cpu = cpuSeconds(ofProcess: server.process.identifier) - cpuBefore
        let after = try server.count()
        guard after.requests - before.requests == count else {
            throw Failure(
                """
                invalid: \(client.name) sent \(count), and \(server.name) counted \
                \(after.requests - before.requests)
                """)
        }
        // h2load has one token for all.
        if !(client is H2Load), let first = before.digest, let second = after.digest {
            guard try second &- first == digest(files, count) else {
                throw Failure("invalid: \(server.name) got other tokens than \(client.name) has")
            }
        }
        return (usage, cpu)
    }

    /// What `tools/token-digest`, which shares no code with Peal, says of the file.
    private func digest(_ files: CampaignFiles, _ count: Int) throws -> UInt64 {
        if let known = digests[count] { return known }
        let text = try outputOf(
            [projectRoot + "/tools/token-digest", try files.recipients(count)],
            logs: work.newLogs("token-digest"))
        guard let word = text.split(separator: "\n").last?.split(separator: " ").last,
            let digest = UInt64(word, radix: 16)
        else { throw Failure("tools/token-digest is not understood: \(text)") }
        digests[count] = digest
        return digest
    }
}

extension CaseResult {
    /// The figures of a client's samples, and what held its rate down.
    init(layer: String, name: String, subject: String, _ samples: [Sample], clientCores: Int = 1) {
        self.init(layer: layer, name: name, subject: subject)
        let client = Figure(samples.map(\.clientMicroseconds), "µs")
        let server = Figure(samples.map(\.serverMicroseconds), "µs")
        figures = [("CPU", client), ("server CPU", server)]
        let rates = samples.map(\.perSecond).filter { $0 < Self.perSecondMax }
        guard !rates.isEmpty else { return }
        let rate = Figure(rates, "/s")
        figures.append(("rate", rate))
        let clientShare = client.median * rate.median / 1e6 / Double(clientCores)
        let serverShare = server.median * rate.median / 1e6
        let shares = "client \(Self.percent(clientShare)), server \(Self.percent(serverShare))"
        note =
            serverShare >= 0.8 && serverShare >= clientShare
            ? "server-bound: \(shares)"
            : clientShare >= 0.8 ? "client-bound: \(shares)" : "waiting: \(shares)"
    }

    /// Above this, the short run took as long as the long one: other work held it up.
    private static let perSecondMax = 1e7

    private static func percent(_ share: Double) -> String {
        "\(NumberText.fixed(share * 100, places: 0)) %"
    }
}
