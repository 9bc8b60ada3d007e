/// `peal send` against the local APNs and haproxy: a star of cases around a centre.
struct WireLayer {
    let options: Options
    let work: WorkFolder

    private func shapes() -> [(name: String, shape: Shape)] {
        var cases: [(name: String, shape: Shape)] = [("centre", Shape())]
        func add(_ name: String, _ change: (inout Shape) -> Void) {
            var shape = Shape()
            change(&shape)
            cases.append((name, shape))
        }
        let isFull = options.size == .full
        if options.size == .tiny { return cases }
        for connections in isFull ? [1, 2, 8, 16] : [1, 16] {
            add("connections \(connections)") { $0.connections = connections }
        }
        for streams in isFull ? [1, 10, 1000] : [1, 1000] {
            add("streams \(streams)") { $0.streams = streams }
        }
        // The three placeholders and what is around them take more than 100 bytes.
        add("body 100") { ($0.bodyBytes, $0.isPersonalised) = (100, false) }
        if isFull { add("body 1024") { $0.bodyBytes = 1024 } }
        // APNs takes 4,096 bytes; names differ in length, so the average stays below.
        add("body 4000") { $0.bodyBytes = 4000 }
        add("not personalised") { $0.isPersonalised = false }
        if coreCount > 1 { add("threads 2") { $0.threads = 2 } }
        return cases
    }

    func run(into file: ResultFile) throws {
        let wanted = shapes().filter { options.wants($0.name) && !file.holds("wire", $0.name) }
        guard !wanted.isEmpty else { return }
        let mock = try MockAPNs(options, work)
        var servers: [any LocalServer] = [mock]
        if findProgram("haproxy") == nil {
            try file.skip("wire against haproxy: it is not installed (apt-get install haproxy)")
        } else {
            servers.append(try HAProxy(work, like: mock))
        }
        let client = PealClient(options: options, work: work)
        let sampler = Sampler(work)
        for (index, (name, shape)) in wanted.enumerated() {
            say("wire: \(name)")
            let files = try CampaignFiles(work, shape: shape, name: "wire-\(index)")
            let counts = Counts.of(options.size).scaled(for: shape)
            var samples = [[Sample]](repeating: [], count: servers.count)
            for _ in 0..<options.rounds {
                for (number, server) in servers.enumerated() {
                    samples[number].append(try sampler.sample(client, server, files, counts))
                }
            }
            try file.add(
                servers.enumerated().map { number, server in
                    var result = CaseResult(
                        layer: "wire", name: name, subject: server.name, samples[number],
                        clientCores: shape.threads)
                    if shape.threads > 1 { result.note += "; client and server share two cores" }
                    return result
                })
        }
    }
}
