/// What `peal mock --help` says of faults, made from the table of their kinds.
package enum FaultHelp {
    /// One command line that combines several; a test runs it.
    package static let combination = [
        "latency=5ms..20ms", "status=503 reason=Shutdown p=0.02",
        "reset=REFUSED_STREAM every=50", "goaway=graceful wait=50ms every=700",
        "cut every=900 times=3", "settings streams=20 from=1s",
    ]

    /// Whole lines of at most 80 columns.
    package static let text: String = {
        let rows = FaultKind.allCases.map(\.row)
        var lines = [
            "Faults: --fault \"WHAT WHEN\", or in a JSON5 file: [{ status: 503, p: 0.01 }, …].",
            "WHEN is any of p=0.01 (probability), every=100, token=ab (first digits),",
            "from=5s to=10s (since the start), times=3, per=connection; all have to hold.",
            "The same seed and order of requests on each thread give the same faults.",
            "Latencies add up; of answers, resets, silence and cuts the first one counts.", "",
        ]
        for row in rows {
            let name = row.value.isEmpty ? row.key : row.key + "=" + row.value
            lines.append("  \(name): \(row.effect)")
            lines.append("      --fault \"\(row.example)\"")
        }
        lines += ["", "Several at once:", "", "  peal mock --seed 7 \\"]
        lines += combination.enumerated().map { index, spec in
            "    --fault \"\(spec)\"" + (index + 1 < combination.count ? " \\" : "")
        }
        return lines.joined(separator: "\n")
    }()
}
