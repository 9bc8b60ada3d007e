internal import Glibc

/// Whether memory and the cost of a row stay the same from small files to large ones.
struct ScaleLayer {
    let options: Options
    let work: WorkFolder

    static func rowCounts(_ size: Options.Size) -> [Int] {
        switch size {
        case .full: [100_000, 1_000_000, 10_000_000]
        case .quick: [50_000, 500_000]
        case .tiny: [2_000]
        }
    }

    func run(into file: ResultFile) throws {
        let wanted = Self.rowCounts(options.size).filter {
            options.wants("rows \($0)") && !file.holds("scale", "rows \($0)")
        }
        guard !wanted.isEmpty else { return }
        let mock = try MockAPNs(options, work)
        let files = try CampaignFiles(work, shape: Shape(), name: "scale")
        for rows in wanted {
            say("scale: \(rows) rows")
            let rounds = rows > 1_000_000 ? 1 : options.rounds
            var result = CaseResult(layer: "scale", name: "rows \(rows)")
            var perRow: [Double] = []
            var anonymous: [Double] = []
            var mapped: [Double] = []
            for _ in 0..<rounds {
                let start = try run(rows, files, mock, limit: 1)
                let whole = try run(rows, files, mock, limit: nil)
                perRow.append(
                    (whole.usage.cpuSeconds - start.usage.cpuSeconds) / Double(rows) * 1e6)
                anonymous.append(whole.peak.anonymousKiB / 1024)
                mapped.append(whole.peak.fileKiB / 1024)
            }
            result.figures = [
                ("CPU per row", Figure(perRow, "µs")),
                ("anonymous memory", Figure(anonymous, "MB")),
                ("file mappings", Figure(mapped, "MB")),
            ]
            try file.add([result])
        }
    }

    private func run(
        _ rows: Int, _ files: CampaignFiles, _ mock: MockAPNs, limit: Int?
    ) throws -> (usage: ChildProcess.Usage, peak: PeakMemory) {
        let before = try mock.count().requests
        let child = try startCampaign(
            options, work, files, mock, recipients: try files.recipients(rows),
            arguments: limit.map { ["--limit", String($0)] } ?? [])
        defer { work.remove(work.path + "/run") }
        var peak = PeakMemory()
        while child.isRunning {
            peak.look(at: child.identifier)
            usleep(20_000)
        }
        let usage = try child.waitForSuccess()
        guard try mock.count().requests - before == limit ?? rows else {
            throw Failure("invalid: the local APNs did not get all \(limit ?? rows) notifications")
        }
        return (usage, peak)
    }
}

/// The most memory that a process was seen to have, looked at fifty times a second.
struct PeakMemory {
    private(set) var anonymousKiB = 0.0
    private(set) var fileKiB = 0.0

    mutating func look(at identifier: pid_t) {
        for line in textFile("/proc/\(identifier)/status").split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard words.count > 1, let value = Double(words[1]) else { continue }
            if words[0] == "RssAnon:" { anonymousKiB = max(anonymousKiB, value) }
            if words[0] == "RssFile:" || words[0] == "RssShmem:" { fileKiB = max(fileKiB, value) }
        }
    }
}

/// How long a campaign takes from its start to its first request, with a small and a large file.
struct StartLayer {
    let options: Options
    let work: WorkFolder

    func run(into file: ResultFile) throws {
        // 95 bytes a row: the full run's largest file has about 1 GB.
        for rows in [
            ScaleLayer.rowCounts(options.size).first!, ScaleLayer.rowCounts(options.size).last!,
        ] {
            let name = "rows \(rows)"
            guard options.wants(name), !file.holds("start", name) else { continue }
            say("start: \(rows) rows")
            let files = try CampaignFiles(work, shape: Shape(), name: "start")
            let recipients = try files.recipients(rows)
            let samples = try (0..<options.rounds).map { _ in try measure(files, recipients) }
            var result = CaseResult(layer: "start", name: name)
            result.figures = [
                ("file", Figure([Double(sizeOfFile(recipients)) / 1e6], "MB")),
                ("first request after", Figure(samples, "ms")),
            ]
            try file.add([result])
        }
    }

    /// The local APNs logs each request; the time until its log has a line, looked at 2,000 times a
    /// second.
    private func measure(_ files: CampaignFiles, _ recipients: String) throws -> Double {
        let log = work.path + "/requests.log"
        removeFile(log)
        let mock = try MockAPNs(options, work, arguments: ["--fast", "--log", log])
        let start = monotonicNs()
        let child = try startCampaign(
            options, work, files, mock, recipients: recipients, arguments: [])
        while sizeOfFile(log) == 0 {
            guard child.isRunning || sizeOfFile(log) > 0 else {
                throw Failure("the campaign ended without a request")
            }
            usleep(500)
        }
        let milliseconds = Double(monotonicNs() - start) / 1e6
        child.signal(SIGINT)
        child.signal(SIGINT)
        _ = try child.waitForSuccess([0, 130])
        work.remove(work.path + "/run")
        return milliseconds
    }
}

/// Starts `peal send` in the folder `run`.
func startCampaign(
    _ options: Options, _ work: WorkFolder, _ files: CampaignFiles, _ mock: MockAPNs,
    recipients: String, arguments: [String]
) throws -> ChildProcess {
    try ChildProcess(
        [
            options.peal, "send", files.folder, "--recipients", recipients, "--server", mock.url,
            "--ca-file", mock.caFile, "--run-dir", work.path + "/run", "--connections", "4",
            "--streams", "100", "--threads", "1", "--quiet",
        ] + arguments, cores: clientCores,
        environment: ["XDG_STATE_HOME": work.path + "/state"], logs: work.newLogs("peal"))
}
