/// What the project wants to reach, beside what was measured.
struct Aims {
    private let results: [CaseResult]
    private(set) var table = Table(["aim", "wanted", "measured", "reached"])

    init(_ results: [CaseResult]) {
        self.results = results
        addRatios()
        addTogether()
        addScale()
        addDistance()
        addReaders()
    }

    private func find(_ layer: String, _ name: String, _ subject: String = "") -> CaseResult? {
        results.first { $0.layer == layer && $0.name == name && $0.subject == subject }
    }

    private mutating func add(
        _ aim: String, _ wanted: String, _ measured: String, _ isReached: Bool
    ) {
        table.add([aim, wanted, measured, isReached ? "yes" : "**no**"])
    }

    private mutating func addRatios() {
        let wanted = [
            ("h2load", "local APNs", 2.0), ("h2load", "haproxy", 2.0), ("h2load", "nginx", 1.3),
            ("Node.js", "local APNs", 14.0), ("Node.js", "haproxy", 14.0),
            ("aioapns", "local APNs", 68.0), ("aioapns", "haproxy", 68.0),
        ]
        for (client, server, least) in wanted {
            guard let ratio = find("rivals", server, client)?["CPU ÷ peal's"] else { continue }
            add(
                "CPU per notification, \(client) ÷ Peal, against \(server)",
                "\(NumberText.short(least)) or more", NumberText.short(ratio.median),
                ratio.median >= least)
        }
    }

    private mutating func addTogether() {
        guard let ours = find("rivals", "local APNs", "peal")?["rate"],
            let theirs = find("rivals", "haproxy", "h2load")?["rate"]
        else { return }
        let ratio = ours.median / theirs.median
        add(
            "rate of Peal and local APNs together ÷ that of h2load and haproxy", "1.5 or more",
            NumberText.short(ratio), ratio >= 1.5)
    }

    private mutating func addScale() {
        let names = ["rows 100000", "rows 1000000", "rows 10000000"]
        let cases = names.compactMap { find("scale", $0) }
        guard cases.count == 3, let small = cases[0]["anonymous memory"]?.median,
            let large = cases[2]["anonymous memory"]?.median
        else { return }
        add(
            "anonymous memory with 10 million rows", "under 64 MB", "\(NumberText.short(large)) MB",
            large < 64)
        add(
            "the same against 100 thousand rows", "within 10 %", change(from: small, to: large),
            abs(large / small - 1) <= 0.1)
        let costs = cases.compactMap { $0["CPU per row"]?.median }
        for (index, limit) in [(0, 15.0), (1, 5.0)] {
            add(
                "CPU per row, \(names[index]) to \(names[index + 1])",
                "within \(NumberText.short(limit)) %",
                change(from: costs[index], to: costs[index + 1]),
                abs(costs[index + 1] / costs[index] - 1) * 100 <= limit)
        }
    }

    private mutating func addDistance() {
        for result in results where result.layer == "distance" {
            guard let share = result["share"]?.median else { continue }
            add(
                "share of the window's limit, \(result.name)", "90 % or more",
                "\(NumberText.short(share)) %", share >= 90)
        }
    }

    private mutating func addReaders() {
        for (name, least) in [("csv-read", 1000.0), ("ndjson-read", 500.0)] {
            guard let rate = find("micro", name)?["throughput"]?.median else { continue }
            add(
                "\(name), one core", "\(NumberText.grouped(least)) MB/s or more",
                "\(NumberText.short(rate)) MB/s", rate >= least)
            if let time = find("micro", name)?["time"]?.median,
                let whole = find("rivals", "haproxy", "peal")?["CPU"]?.median
            {
                let share = time / (whole * 1000) * 100
                add(
                    "\(name), share of Peal's CPU per notification", "under 10 %",
                    "\(NumberText.short(share)) %", share < 10)
            }
        }
    }

    private func change(from first: Double, to second: Double) -> String {
        let change = (second / first - 1) * 100
        return (change > 0 ? "+" : "") + NumberText.fixed(change, places: 1) + " %"
    }
}
