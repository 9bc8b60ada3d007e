internal import APNS
internal import Sending

/// How fast the run was: its rate over time, how long answers took, what had to be tried again.
enum SpeedSection {
    static func write(_ facts: RunFacts, to page: inout HTMLWriter) {
        let summary = facts.summary
        page.element("section", ["aria-labelledby": "speed"]) { page in
            page.element("h2", ["id": "speed"], "How fast it was")
            page.element("p") { page in
                page.write("On average ")
                page.figure(
                    "acceptedPerSecond", exact(summary.acceptedPerSecond),
                    NumberText.rate(summary.acceptedPerSecond))
                page.write(" notifications were accepted per second.")
            }
            RateChart(facts)?.write(summary, to: &page)
        }
        page.element("section", ["aria-labelledby": "latency"]) { page in
            page.element("h2", ["id": "latency"], "How long answers took")
            latency(summary, to: &page)
        }
        page.element("section", ["aria-labelledby": "retries"]) { page in
            page.element("h2", ["id": "retries"], "What was tried again")
            retries(summary, to: &page)
        }
    }

    /// As in `summary.json`: to a thousandth.
    static func exact(_ value: Double) -> String {
        let rounded = (value * 1000).rounded() / 1000
        return rounded.description
    }

    private static func latency(_ summary: RunSummary, to page: inout HTMLWriter) {
        let latency = summary.latencyMilliseconds
        guard latency.max > 0 else {
            page.element("p", "No request was answered.")
            return
        }
        let head: [(String, Bool)] = [("Of all answers", false), ("came within", true)]
        Table.write("Time from request to answer", head, to: &page) { page in
            for (name, value, words) in [
                ("p50", latency.p50, "half"), ("p90", latency.p90, "90 of 100"),
                ("p99", latency.p99, "99 of 100"), ("p999", latency.p999, "999 of 1,000"),
                ("max", latency.max, "all"),
            ] {
                page.element("tr") { page in
                    page.element("th", ["scope": "row"], words)
                    page.element("td", ["class": "number"]) {
                        $0.figure(
                            "latencyMilliseconds.\(name)", exact(value),
                            NumberText.milliseconds(value))
                    }
                }
            }
        }
    }

    private static func retries(_ summary: RunSummary, to page: inout HTMLWriter) {
        page.element("p") { page in
            page.count("attempts", summary.attempts)
            page.write(" requests in all, of which ")
            page.count("retries", summary.retries)
            page.write(" repeated an earlier one.")
        }
        let retried = summary.retriedReasons
            .filter { $0.1 > 0 && !$0.0.reason.isEmpty }
            .sorted { ($1.1, $0.0.rawValue) < ($0.1, $1.0.rawValue) }
        guard !retried.isEmpty else { return }
        let head: [(String, Bool)] = [
            ("Answer after which a row was tried again", false), ("Times", true),
        ]
        Table.write("Retries by reason", head, to: &page) { page in
            for (code, count) in retried {
                page.element("tr") { page in
                    page.element("th", ["scope": "row", "class": "reason"]) { page in
                        page.words(code.reason)
                        let status = code.status == 0 ? "no answer" : "status \(code.status)"
                        page.element("span", ["class": "under"], status)
                    }
                    page.element("td", ["class": "number"]) {
                        $0.count("retriedReasons.\(code.reason)", count)
                    }
                }
            }
        }
    }
}
