internal import APNS
internal import Sending

/// The top of a report: the result in plain words, for someone who has never heard of APNs.
enum ResultSection {
    static func write(_ facts: RunFacts, to page: inout HTMLWriter) {
        let summary = facts.summary
        page.element("header") { page in
            page.element("h1") { $0.outside(summary.name) }
            page.element("p", ["class": "soft"]) { page in
                state(summary, to: &page)
                page.write(" · started ")
                time(facts.startedAt, to: &page)
                page.write(" · \(NumberText.duration(seconds: summary.seconds)) of sending")
            }
        }
        lead(summary, to: &page)
        if !summary.completed { notice(summary, to: &page) }
        guard summary.rows > 0 else { return }
        bar(summary, to: &page)
        page.element("ul") { page in
            for outcome in Outcome.allCases where outcome != .accepted {
                let count = summary.count(of: outcome)
                guard count > 0 else { continue }
                page.element("li", "\(NumberText.count(count)) \(words(for: outcome))")
            }
            if summary.openRows > 0 {
                page.element("li", NumberText.count(summary.openRows) + openWords(summary))
            }
        }
        page.element(
            "p", ["class": "soft"],
            "“Accepted” means that Apple’s push service (APNs) took the notification. Whether and "
                + "when a device shows it, Apple tells no sender: the device may be off, or its "
                + "owner may have switched notifications off.")
    }

    /// An instant of a run, such as "2026-03-14 09:00:00 UTC".
    static func time(_ rfc3339: String, to page: inout HTMLWriter) {
        let shown = rfc3339.prefix(19).replacing("T", with: " ") + " UTC"
        page.element("time", ["datetime": rfc3339], String(shown))
    }

    private static func state(_ summary: RunSummary, to page: inout HTMLWriter) {
        if summary.completed {
            page.element("span", ["class": "state completed"], "Completed")
        } else {
            page.element("span", ["class": "state stopped"], "Stopped before its end")
        }
    }

    private static func lead(_ summary: RunSummary, to page: inout HTMLWriter) {
        guard summary.rows > 0 else {
            page.element(
                "p", ["class": "notice empty"],
                "The file has no rows, so nothing was sent to anyone.")
            return
        }
        let accepted = summary.count(of: .accepted)
        // The list may go on behind the rows that were read.
        let soFar = summary.completed || summary.inputHasEnded ? "" : " read so far"
        page.element("p", ["class": "lead"]) { page in
            page.write("The notification for ")
            page.element(
                "strong", "\(NumberText.count(accepted)) of \(NumberText.count(summary.rows))")
            page.write(
                " \(summary.rows == 1 ? "recipient" : "recipients")\(soFar) was accepted by APNs, Apple’s "
                    + "push service: \(NumberText.percent(accepted, of: summary.rows)).")
        }
    }

    private static func notice(_ summary: RunSummary, to page: inout HTMLWriter) {
        page.element("div", ["class": "notice"]) { page in
            page.element("p") { page in
                page.element("strong", "Why it stopped: ")
                page.outside(summary.stoppedBecause ?? "it was interrupted")
            }
            page.element("p") { page in
                page.write(
                    "It can go on where it stopped, and sends no row twice that has an outcome: ")
                page.element("code", "peal send … --resume")
            }
        }
    }

    private static func words(for outcome: Outcome) -> String {
        switch outcome {
        case .accepted: "accepted by APNs"
        case .unregistered:
            "cannot be reached: the app was removed, or the token is old or of another environment"
        case .rejected: "rejected by APNs"
        case .exhausted: "given up, because several attempts failed"
        case .unknown: "sent without an answer: accepted or not, nobody knows"
        case .invalid: "not sent, because the row in the file cannot be used"
        case .duplicate: "not sent again, because the same device stands in the file before"
        case .suppressed: "not sent, because the device is on a suppression list"
        case .heldOut: "held out on purpose, for comparison"
        }
    }

    private static func openWords(_ summary: RunSummary) -> String {
        let doubt = min(summary.inDoubt, summary.openRows)
        return doubt == 0
            ? " not sent yet"
            : " without an outcome yet (of these, \(NumberText.count(doubt)) were sent, and the "
                + "answer did not come)"
    }

    /// Shares as one line of colour; its text alternative has the figures.
    private static func bar(_ summary: RunSummary, to page: inout HTMLWriter) {
        let accepted = summary.count(of: .accepted)
        let failed = summary.outcomes.reduce(UInt64(0)) {
            OutcomeText.isFailure($1.0) ? $0 + $1.1 : $0
        }
        let left = summary.rows - min(summary.rows, accepted + failed + summary.openRows)
        let parts = [
            (accepted, "good", "accepted"), (failed, "bad", "failed"),
            (left, "rest", "left out on purpose"), (summary.openRows, "open", "without an outcome"),
        ].filter { $0.0 > 0 }
        let text = parts.map { "\(NumberText.percent($0.0, of: summary.rows)) \($0.2)" }
        page.element(
            "svg",
            [
                "class": "bar", "viewBox": "0 0 1000 10", "preserveAspectRatio": "none",
                "role": "img", "aria-labelledby": "shares",
            ]
        ) { page in
            page.element("title", ["id": "shares"], "Shares: " + text.joined(separator: ", "))
            var left = 0.0
            for (count, style, _) in parts {
                // What is there is seen, be it ever so little.
                let width = max(2, Double(count) / Double(summary.rows) * 1000)
                page.empty(
                    "rect",
                    [
                        "class": style, "x": DrawnNumber.text(min(left, 998)), "y": "0",
                        "width": DrawnNumber.text(width), "height": "10",
                    ])
                left += width
            }
        }
    }
}

extension RunSummary {
    /// Rows without a final outcome.
    var openRows: UInt64 { rows - min(rows, outcomes.reduce(0) { $0 + $1.1 }) }
}
