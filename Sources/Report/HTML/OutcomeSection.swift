internal import APNS
internal import Sending

/// What became of the rows, why, and what to do about it.
enum OutcomeSection {
    static func write(_ summary: RunSummary, to page: inout HTMLWriter) {
        page.element("section", ["aria-labelledby": "outcomes"]) { page in
            page.element("h2", ["id": "outcomes"], "What became of each row")
            outcomes(summary, to: &page)
        }
        let failures = summary.reasons
            .filter { $0.1 > 0 && !$0.0.reason.isEmpty }
            .sorted { ($1.1, $0.0.rawValue) < ($0.1, $1.0.rawValue) }
        page.element("section", ["aria-labelledby": "reasons"]) { page in
            page.element("h2", ["id": "reasons"], "Why, and what to do")
            if failures.isEmpty {
                page.element("p", "No row failed.")
            } else {
                reasons(failures, to: &page)
            }
        }
    }

    private static func outcomes(_ summary: RunSummary, to page: inout HTMLWriter) {
        let head: [(String, Bool)] = [("Outcome", false), ("Rows", true), ("Share", true)]
        Table.write("Rows by outcome", head, to: &page) { page in
            for outcome in Outcome.allCases {
                let count = summary.count(of: outcome)
                // The page has all figures of the summary, be they 0; those of a row of its own.
                guard count > 0 || outcome == .accepted else { continue }
                page.element("tr") { page in
                    page.element("th", ["scope": "row"], OutcomeText.words(for: outcome))
                    page.element("td", ["class": "number"]) {
                        $0.count("outcomes.\(outcome.name)", count)
                    }
                    share(count, summary, to: &page)
                }
            }
            if summary.openRows > 0 {
                page.element("tr") { page in
                    page.element("th", ["scope": "row"], "no outcome yet")
                    page.element("td", ["class": "number"], NumberText.count(summary.openRows))
                    share(summary.openRows, summary, to: &page)
                }
            }
            page.element("tr") { page in
                page.element("th", ["scope": "row"], "all rows that were read")
                page.element("td", ["class": "number"]) { $0.count("rows", summary.rows) }
                share(summary.rows, summary, to: &page)
            }
        }
    }

    private static func share(_ count: UInt64, _ summary: RunSummary, to page: inout HTMLWriter) {
        page.element("td", ["class": "number"], NumberText.percent(count, of: summary.rows))
    }

    private static func reasons(_ failures: [(FinalCode, UInt64)], to page: inout HTMLWriter) {
        let head: [(String, Bool)] = [("Reason", false), ("Rows", true), ("What to do", false)]
        Table.write("Rows by reason", head, to: &page) { page in
            for (code, count) in failures {
                page.element("tr") { page in
                    page.element("th", ["scope": "row", "class": "reason"]) { page in
                        page.words(code.reason)
                        page.element("span", ["class": "under"], kind(of: code))
                    }
                    page.element("td", ["class": "number"]) {
                        $0.count("reasons.\(code.reason)", count)
                    }
                    page.element("td", code.advice)
                }
            }
        }
    }

    /// Such as "no longer registered, status 410".
    private static func kind(of code: FinalCode) -> String {
        let words = OutcomeText.words(for: code.outcome)
        return code.status == 0 ? words : "\(words), status \(code.status)"
    }
}

/// A table whose columns have headings.
enum Table {
    /// - Parameter head: the headings, each with whether numbers are below it.
    static func write(
        _ caption: String, _ head: [(String, Bool)], to page: inout HTMLWriter,
        rows: (inout HTMLWriter) -> Void
    ) {
        page.element("table", ["aria-label": caption]) { page in
            page.element("thead") { page in
                page.element("tr") { page in
                    for (title, isNumber) in head {
                        if isNumber {
                            page.element("th", ["scope": "col", "class": "number"], title)
                        } else {
                            page.element("th", ["scope": "col"], title)
                        }
                    }
                }
            }
            page.element("tbody") { rows(&$0) }
        }
    }
}
