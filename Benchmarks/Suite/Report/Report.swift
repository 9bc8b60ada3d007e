/// Writes `Benchmarks/RESULTS.md` and its plot from the results of a run.
struct Report {
    static let plotName = "cpu-per-notification.svg"

    let file: ResultFile
    let folder: String

    func write() throws(Failure) {
        let rivals = file.results.filter { $0.layer == "rivals" }
        if !rivals.isEmpty {
            try writeFile("\(folder)/\(Self.plotName)", BarPlot(rivals).svg)
        }
        try writeFile("\(folder)/RESULTS.md", text(hasPlot: !rivals.isEmpty))
        say("\(folder)/RESULTS.md is written")
    }

    private func text(hasPlot: Bool) -> String {
        var parts = [
            """
            # Results of the benchmarks

            `tools/benchmark` measures, `tools/benchmark report` writes this file from what it has \
            measured: change those, and [TRIED.md](TRIED.md), not this.

            """
        ]
        parts.append(warnings)
        parts.append(machine)
        parts.append("## What was aimed at\n\n" + Aims(file.results).table.markdown)
        if hasPlot {
            parts.append("![CPU per notification of Peal and other senders](\(Self.plotName))")
        }
        for section in LayerText.all {
            let results = file.results.filter { $0.layer == section.layer }
            guard !results.isEmpty else { continue }
            parts.append("## \(section.title)\n\n\(section.text)\n\n\(Table(of: results).markdown)")
        }
        if !file.skipped.isEmpty {
            parts.append(
                "## What was left out\n\n" + file.skipped.map { "* \($0)" }.joined(separator: "\n"))
        }
        parts.append(textFile(projectRoot + "/Benchmarks/TRIED.md"))
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
    }

    private func fact(_ key: String) -> String {
        file.facts.first { $0.key == key }?.value ?? "?"
    }

    /// What makes figures worth less than they look.
    private var warnings: String {
        var lines: [String] = []
        if let load = Double(fact("load at the start")), load > 0.5 {
            lines.append(
                """
                **The machine was loaded** (load \(NumberText.fixed(load, places: 1)) on \
                \(coreCount) cores when the run began): times are too long, and rates too low. Ratios \
                of CPU times within a round say something; nothing else does.
                """)
        }
        if fact("size") != "full" {
            lines.append(
                """
                **These are figures of a short run** (`--\(fact("size"))`, \(fact("rounds")) rounds); \
                `tools/benchmark` without options makes the long one.
                """)
        }
        return lines.joined(separator: "\n\n")
    }

    private var machine: String {
        var table = Table(["machine and programs", ""])
        for (key, value) in file.facts { table.add([key, value]) }
        return """
            ## Machine and commands

            \(table.markdown)

                tools/benchmark            # all layers; `tools/benchmark rivals` and so on: one
                tools/benchmark report     # this file

            Client and server are processes of their own, each on a core of its own (`taskset`: the \
            client on core 0). Rounds of all that is compared alternate; tables have the median and, in \
            brackets, the lowest and highest. CPU is user and system time of the whole process \
            (`wait4`). Each sample is a short and a long run of the same program, and counts their \
            difference: start, connecting and warming up are not in it. A run is invalid unless the \
            server has counted each notification once; the local APNs also compares the sum of \
            the hashes of all tokens.
            """
    }
}
