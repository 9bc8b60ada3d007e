internal import JSON

/// Counts the allocations of `peal send` by the library that makes them: those that 20,000 further
/// notifications need, per 1,000.
struct AllocationGate {
    static let counts = Counts(short: 20_000, long: 40_000)
    /// What is made now and then and not per notification: a chunk's line, a timer.
    static let slackPerThousand = 1.0

    let options: Options
    let work: WorkFolder

    /// Per 1,000 notifications, in the order of the counting library.
    func measure() throws -> [(owner: String, perThousand: Double)] {
        let library = projectRoot + "/.build/benchmark/count-allocations.so"
        guard fileExists(library) else {
            throw Failure("\(library) is missing: run tools/benchmark")
        }
        let mock = try MockAPNs(options, work)
        let files = try CampaignFiles(work, shape: Shape(), name: "allocations")
        let short = try run(Self.counts.short, library, files, mock)
        let long = try run(Self.counts.long, library, files, mock)
        let thousands = Double(Self.counts.long - Self.counts.short) / 1000
        return zip(short, long).map {
            ($0.owner, max(0, Double($1.count - $0.count)) / thousands)
        }
    }

    private func run(
        _ count: Int, _ library: String, _ files: CampaignFiles, _ mock: MockAPNs
    ) throws -> [(owner: String, count: Int)] {
        let output = work.path + "/allocations"
        defer { work.remove(work.path + "/run") }
        let child = try ChildProcess(
            [
                "env", "LD_PRELOAD=\(library)", "PEAL_ALLOCATIONS=\(output)",
                options.peal, "send", files.folder, "--recipients", try files.recipients(count),
                "--server", mock.url, "--ca-file", mock.caFile, "--run-dir", work.path + "/run",
                "--connections", "4", "--streams", "100", "--threads", "1", "--json", "--quiet",
            ], environment: ["XDG_STATE_HOME": work.path + "/state"], logs: work.newLogs("peal"))
        try child.waitForSuccess()
        let summary = try JSONDocument.parse(bytesOfFile(child.outputPath), dialect: .strict)
        guard summary["outcomes"]?["accepted"]?.asInt == count else {
            throw Failure("peal did not send all: \(textFile(child.outputPath))")
        }
        return textFile(output).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 1 ? Int(words[1]).map { (String(words[0]), $0) } : nil
        }
    }

    func check(against thresholds: Thresholds) throws {
        var table = Table(["allocations per 1,000 by", "now", "at most"])
        var failures: [String] = []
        for (owner, number) in try measure() {
            let limit = thresholds.allocations.first { $0.owner == owner }?.perThousand ?? 0
            table.add([owner, NumberText.fixed(number, places: 1), NumberText.grouped(limit)])
            if number > limit + Self.slackPerThousand { failures.append(owner) }
        }
        show(table.text)
        guard failures.isEmpty else {
            throw Failure(
                """
                more allocations than Benchmarks/thresholds.json allows: \
                \(failures.joined(separator: ", ")). Take them away; if they have to be, \
                `tools/benchmark --renew` writes the file anew
                """)
        }
    }
}
