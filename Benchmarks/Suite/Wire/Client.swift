internal import JSON

/// A program that sends `count` notifications to a server, all of which must be answered with 200.
protocol Client {
    var name: String { get }
    /// How much smaller its counts are than Peal's, because it is so much slower.
    var divisor: Int { get }
    func run(
        _ count: Int, to server: any LocalServer, from files: CampaignFiles
    ) throws -> ChildProcess.Usage
}

/// `peal send`: the whole campaign.
struct PealClient: Client {
    let name = "peal"
    let divisor = 1
    let options: Options
    let work: WorkFolder
    var arguments: [String] = []

    func run(
        _ count: Int, to server: any LocalServer, from files: CampaignFiles
    ) throws -> ChildProcess.Usage {
        let recipients = try files.recipients(count)
        let runFolder = work.path + "/run"
        defer { work.remove(runFolder) }
        let shape = files.shape
        let child = try ChildProcess(
            [
                options.peal, "send", files.folder, "--recipients", recipients, "--server",
                server.url, "--ca-file", server.caFile, "--run-dir", runFolder, "--connections",
                String(shape.connections), "--streams", String(shape.streams), "--threads",
                String(shape.threads), "--json", "--quiet",
            ] + arguments, cores: shape.threads > 1 ? "0,1" : clientCores,
            environment: ["XDG_STATE_HOME": work.path + "/state"], logs: work.newLogs("peal"))
        let usage = try child.waitForSuccess()
        let summary = try JSONDocument.parse(bytesOfFile(child.outputPath), dialect: .strict)
        guard summary["outcomes"]?["accepted"]?.asInt == count else {
            throw Failure("peal did not send all: \(textFile(child.outputPath))")
        }
        return usage
    }
}

/// h2load, which sends one constant request again and again.
struct H2Load: Client {
    let name = "h2load"
    let divisor = 1
    let work: WorkFolder
    let authorization: String

    func run(
        _ count: Int, to server: any LocalServer, from files: CampaignFiles
    ) throws -> ChildProcess.Usage {
        let shape = files.shape
        let headers = (CampaignFiles.headers + [("authorization", authorization)]).flatMap {
            ["-H", "\($0.0): \($0.1)"]
        }
        let token = String(repeating: "fa4e", count: 16)
        let child = try ChildProcess(
            [
                "h2load", "-n", String(count), "-c", String(shape.connections), "-m",
                String(shape.streams), "-t", "1", "-d", files.bodyPath,
            ] + headers + ["\(server.url)/3/device/\(token)"], cores: clientCores,
            logs: work.newLogs("h2load"))
        let usage = try child.waitForSuccess()
        guard contains(textFile(child.outputPath), "status codes: \(count) 2xx") else {
            throw Failure("h2load did not get a 200 for all: \(textFile(child.outputPath))")
        }
        return usage
    }
}

/// Node's built-in HTTP/2, in a few lines of JavaScript.
struct NodeClient: Client {
    let name = "Node.js"
    let divisor = 6
    let work: WorkFolder
    let authorization: String

    func run(
        _ count: Int, to server: any LocalServer, from files: CampaignFiles
    ) throws -> ChildProcess.Usage {
        let headers = files.folder + "/headers.json"
        var json = JSONWriter()
        json.beginObject()
        for (name, value) in CampaignFiles.headers + [("authorization", authorization)] {
            json.key(name)
            json.string(value)
        }
        json.endObject()
        try writeFile(headers, json.bytes)
        let child = try ChildProcess(
            [
                "node", projectRoot + "/Benchmarks/rivals/node_sender.mjs", server.url,
                server.caFile, try files.tokens(count), String(count),
                String(files.shape.connections), String(files.shape.streams), headers,
                files.bodyPath,
            ], cores: clientCores, logs: work.newLogs("node"))
        return try child.waitForStatuses(count)
    }
}

/// aioapns, a client for Python.
struct AioapnsClient: Client {
    let name = "aioapns"
    let divisor = 20
    let work: WorkFolder
    let python: String
    let keyFile: String

    func run(
        _ count: Int, to server: any LocalServer, from files: CampaignFiles
    ) throws -> ChildProcess.Usage {
        let port = String(server.echoURL.split(separator: ":").last!)
        let child = try ChildProcess(
            [
                python, projectRoot + "/Benchmarks/rivals/aioapns_sender.py", "127.0.0.1", port,
                server.caFile, keyFile, CampaignFiles.topic, try files.tokens(count),
                String(count), String(files.shape.connections), String(files.shape.streams),
                files.bodyPath,
            ], cores: clientCores, logs: work.newLogs("aioapns"))
        return try child.waitForStatuses(count)
    }
}

extension ChildProcess {
    /// Waits for a sender that prints its answers by status, which must all be 200.
    fileprivate func waitForStatuses(_ count: Int) throws -> Usage {
        let usage = try waitForSuccess()
        let statuses = try JSONDocument.parse(bytesOfFile(outputPath), dialect: .strict)
        guard statuses["200"]?.asInt == count else {
            throw Failure("not all answers were 200: \(textFile(outputPath))")
        }
        return usage
    }
}
