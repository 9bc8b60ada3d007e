package import Sending

/// `report.html`: what became of a campaign, as one file that needs nothing else.
///
/// It has no script, and its policy forbids every request. Device tokens and keys are not in it, so
/// that it may be passed on to whom the lists beside it may not.
package enum ReportPage {
    /// No report is larger, whatever the run: every list in it is bounded.
    package static let bytesMax = 128 << 10
    /// Nothing may be fetched, from nowhere; only the style sheet in the file is used.
    private static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

    /// The file's bytes.
    package static func render(_ facts: RunFacts) -> [UInt8] {
        var page = HTMLWriter()
        page.element("html", ["lang": "en"]) { page in
            head(facts, to: &page)
            page.element("body") { page in
                page.element("main") { main(facts, to: &$0) }
            }
        }
        return Array(page.text.utf8)
    }

    private static func head(_ facts: RunFacts, to page: inout HTMLWriter) {
        page.element("head") { page in
            page.empty("meta", ["charset": "utf-8"])
            page.empty("meta", ["http-equiv": "Content-Security-Policy", "content": policy])
            page.empty(
                "meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
            page.empty("meta", ["name": "referrer", "content": "no-referrer"])
            page.empty("meta", ["name": "robots", "content": "noindex"])
            page.element("title", OutsideText.cleaned(facts.summary.name) + ": campaign report")
            page.style(ReportStyle.sheet)
        }
    }

    private static func main(_ facts: RunFacts, to page: inout HTMLWriter) {
        ResultSection.write(facts, to: &page)
        OutcomeSection.write(facts.summary, to: &page)
        SpeedSection.write(facts, to: &page)
        ConnectionSection.write(facts, to: &page)
        SettingsSection.write(facts, to: &page)
        page.element("footer") { page in
            page.write(
                "Made by Peal from this machine's records of the run. Device tokens, keys and "
                    + "passwords are not in this page.")
        }
    }
}
