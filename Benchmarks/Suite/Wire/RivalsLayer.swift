internal import Glibc
internal import JSON

/// Peal and other senders against the same servers, in turn.
struct RivalsLayer {
    let options: Options
    let work: WorkFolder

    func run(into file: ResultFile) throws {
        let names = ["local APNs", "haproxy", "nginx"].filter {
            options.wants($0) && !file.holds("rivals", $0)
        }
        guard !names.isEmpty else { return }
        let mock = try MockAPNs(options, work)
        let files = try CampaignFiles(work, shape: Shape(), name: "rivals")
        let clients = try clients(files, file)
        let sampler = Sampler(work)
        for name in names {
            if name != "local APNs", findProgram(name) == nil {
                try file.skip(
                    "rivals against \(name): it is not installed (apt-get install \(name))")
                continue
            }
            let server: any LocalServer =
                switch name {
                case "haproxy": try HAProxy(work, like: mock)
                case "nginx": try Nginx(work, like: mock)
                default: mock
                }
            try compare(clients, server, files, sampler, file)
        }
    }

    private func compare(
        _ clients: [any Client], _ server: any LocalServer, _ files: CampaignFiles,
        _ sampler: Sampler, _ file: ResultFile
    ) throws {
        // nginx answers before it has read the body, and never echoes `apns-id`.
        let clients = clients.filter { !(server is Nginx && $0 is AioapnsClient) }
        if server is Nginx { try file.skip("aioapns against nginx: it needs `apns-id` sent back") }
        var samples = [[Sample]](repeating: [], count: clients.count)
        var failed: Set<Int> = []
        for round in 1...options.rounds {
            say("rivals: \(server.name), round \(round) of \(options.rounds)")
            for (index, client) in clients.enumerated() where !failed.contains(index) {
                let counts = Counts.of(options.size).divided(by: client.divisor)
                do {
                    samples[index].append(try sampler.sample(client, server, files, counts))
                } catch  where !(client is PealClient) {
                    failed.insert(index)
                    try file.skip("\(client.name) against \(server.name): \(error)")
                }
            }
        }
        var results: [CaseResult] = []
        for (index, client) in clients.enumerated() where !failed.contains(index) {
            var result = CaseResult(
                layer: "rivals", name: server.name, subject: client.name, samples[index])
            let ratios = zip(samples[index], samples[0]).map {
                $0.clientMicroseconds / $1.clientMicroseconds
            }
            result.figures.insert(("CPU ÷ peal's", Figure(ratios, "×")), at: 1)
            results.append(result)
        }
        try file.add(results)
    }

    /// Those that are installed; Peal comes first.
    private func clients(_ files: CampaignFiles, _ file: ResultFile) throws -> [any Client] {
        let token = try outputOf(
            [options.peal, "auth", files.folder, "--print-token"],
            environment: ["XDG_STATE_HOME": work.path + "/state"], logs: work.newLogs("auth"))
        let authorization = "bearer " + token.filter { $0 != "\n" }
        var clients: [any Client] = [PealClient(options: options, work: work)]
        if findProgram("h2load") != nil {
            clients.append(H2Load(work: work, authorization: authorization))
        } else {
            try file.skip("h2load: it is not installed (apt-get install nghttp2-client)")
        }
        if findProgram("node") != nil {
            clients.append(NodeClient(work: work, authorization: authorization))
        } else {
            try file.skip("Node.js: there is no `node` in PATH")
        }
        let python = projectRoot + "/.build/test-python/bin/python"
        if findProgram(python) != nil, let key = try makeKey() {
            clients.append(AioapnsClient(work: work, python: python, keyFile: key))
        } else {
            try file.skip("aioapns: it is not in .build/test-python (`tools/test` puts it there)")
        }
        return clients
    }

    /// A key for aioapns, which signs its own tokens; no server here checks whose they are.
    private func makeKey() throws -> String? {
        let path = work.path + "/AuthKey_ABC123DEFG.p8"
        _ = try outputOf(
            [
                "openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-out", path,
            ], logs: work.newLogs("openssl"))
        return path
    }
}
