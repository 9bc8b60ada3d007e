import APNS
import Foundation
import FoundationXML
import Report
import Sending
import TestSupport
import Testing

/// The report as an independent parser reads it: libxml2, which stops at the first fault.
struct ReportPageTests {
    private func parsed(_ facts: RunFacts) throws -> XMLDocument {
        try XMLDocument(data: Data(ReportPage.render(facts)))
    }

    private func text(_ facts: RunFacts) -> String {
        String(decoding: ReportPage.render(facts), as: UTF8.self)
    }

    /// What the page says its figures are, by their name in `summary.json`; those of the same name
    /// are summed, as they are there.
    private func figures(_ document: XMLDocument) throws -> [String: Double] {
        var figures: [String: Double] = [:]
        for node in try document.nodes(forXPath: "//data[@data-figure]") {
            let element = try #require(node as? XMLElement)
            let name = try #require(element.attribute(forName: "data-figure")?.stringValue)
            let value = try #require(element.attribute(forName: "value")?.stringValue)
            figures[name, default: 0] += try #require(Double(value))
        }
        return figures
    }

    /// `summary.json` in the same form, read by Foundation.
    private func expected(_ summary: RunSummary) throws -> [String: Double] {
        var expected: [String: Double] = [:]
        func add(_ value: Any, _ path: String) {
            if let object = value as? [String: Any] {
                for (key, value) in object { add(value, path.isEmpty ? key : "\(path).\(key)") }
            } else if let number = value as? NSNumber, path != "completed" {
                expected[path] = number.doubleValue
            }
        }
        add(try JSONSerialization.jsonObject(with: Data(summary.json())), "")
        // Outcomes that no row has are left out.
        return expected.filter { $0.value != 0 || !$0.key.hasPrefix("outcomes.") }
    }

    @Test func everyFigureIsThatOfTheSummary() throws {
        let facts = SampleFacts.plain()
        #expect(try figures(parsed(facts)) == (try expected(facts.summary)))
    }

    @Test func theResultStandsAtTheTopInPlainWords() throws {
        let document = try parsed(SampleFacts.plain())
        let lead = try document.nodes(forXPath: "//p[@class='lead']").first?.stringValue
        #expect(
            lead == "The notification for 198,406 of 200,000 recipients was accepted by APNs, "
                + "Apple’s push service: 99.2 %.")
        #expect(!text(SampleFacts.plain()).contains("delivered"))
    }

    @Test func eachReasonSaysWhatToDo() throws {
        let cells = try parsed(SampleFacts.plain()).nodes(forXPath: "//td").map(\.stringValue)
        for code in [FinalCode.unregistered, .badDeviceToken, .badTokenForm] {
            #expect(cells.contains(code.advice))
        }
    }

    @Test func aStoppedRunSaysWhy() throws {
        var facts = SampleFacts.plain()
        facts.summary.completed = false
        facts.summary.stoppedBecause = "the server cannot be reached"
        facts.summary.outcomes = [(.accepted, 150_000)]
        facts.summary.inDoubt = 30
        let notice = try parsed(facts).nodes(forXPath: "//div[@class='notice']").first
        #expect(notice?.stringValue?.contains("the server cannot be reached") == true)
        let lead = try parsed(facts).nodes(forXPath: "//p[@class='lead']").first
        #expect(lead?.stringValue?.contains("150,000 of 200,000 recipients read so far") == true)
        let items = try parsed(facts).nodes(forXPath: "//header/../ul/li").map(\.stringValue)
        #expect(
            items == [
                "50,000 without an outcome yet (of these, 30 were sent, and the answer did not come)"
            ])
    }

    @Test func aRunThatSentNothingHasAReportToo() throws {
        let facts = RunFacts(
            summary: RunSummary(name: "shop", runDirectory: "runs/shop/T"),
            startedAt: "2026-03-14T09:00:00.000Z", input: "-", server: "https://localhost:2197")
        let document = try parsed(facts)
        #expect(document.stringValue?.contains("The file has no rows") == true)
        #expect(try document.nodes(forXPath: "//svg").isEmpty)
    }

    /// Names, paths and what a server says, as someone who means ill would choose them.
    @Test(arguments: [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "</title><script>",
        "'; } </style><style>*{display:none}", "&lt;b&gt;&#0;", "a\u{0}\u{1B}[31m\u{202E}b\u{FFFE}",
        "]]><!--", "javascript:alert(1)", "{{7*7}}",
    ])
    func hostileTextsAreInert(hostile: String) throws {
        var facts = SampleFacts.plain()
        facts.connectionEnds = ConnectionEnds([ConnectionEnds.Group(end: "gone")])
        let plain = try parsed(facts)
        facts.connectionEnds = ConnectionEnds([ConnectionEnds.Group(end: hostile)])
        facts.summary.name = hostile
        facts.summary.runDirectory = hostile
        facts.input = hostile
        facts.server = hostile
        let page = try parsed(facts)
        // The same elements with the same attributes: nothing of the text became markup.
        #expect(try shape(page) == (try shape(plain)))
        #expect(!text(facts).unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{1B}" })
    }

    private func shape(_ document: XMLDocument) throws -> [String] {
        try document.nodes(forXPath: "//*").map { node in
            let attributes = (node as? XMLElement)?.attributes ?? []
            return "\(node.name ?? "") \(attributes.compactMap(\.name).joined(separator: " "))"
        }
    }

    @Test func nothingInItLeadsToAnotherPlace() throws {
        let text = text(SampleFacts.plain())
        for word in ["http:", "https:", "src=", "href", "url(", "@import", "<script", "<link"] {
            #expect(!text.contains(word), "\(word)")
        }
        #expect(
            text.contains(
                "http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;;"))
    }

    /// A proxy may repeat the path of a request in what it says.
    @Test func deviceTokensAreShortened() throws {
        var facts = SampleFacts.plain()
        facts.summary.completed = false
        let token = String(repeating: "0123456789abcdef", count: 4)
        facts.summary.stoppedBecause = "no route for /3/device/\(token) today"
        let text = text(facts)
        #expect(text.contains("no route for /3/device/01234567… today"))
        #expect(!text.contains(token.prefix(32)))
    }

    @Test func itsSizeIsBounded() throws {
        let bytes = ReportPage.render(SampleFacts.full())
        #expect(bytes.count <= ReportPage.bytesMax)
        _ = try parsed(SampleFacts.full())
    }

    @Test func eachTableHasHeadingsAndEachDrawingWords() throws {
        let page = try parsed(SampleFacts.plain())
        let tables = try page.nodes(forXPath: "//table")
        #expect(tables.count == 4)
        #expect(try page.nodes(forXPath: "//table[thead//th[@scope='col']]").count == tables.count)
        #expect(try page.nodes(forXPath: "//tbody/tr[not(th[@scope='row'])]").isEmpty)
        #expect(try page.nodes(forXPath: "//svg").count == 2)
        #expect(try page.nodes(forXPath: "//svg[@role='img'][title]").count == 2)
        #expect(try page.nodes(forXPath: "//html[@lang='en']//h1").count == 1)
        for label in try page.nodes(forXPath: "//*/@aria-labelledby") {
            for id in (label.stringValue ?? "").split(separator: " ") {
                #expect(try page.nodes(forXPath: "//*[@id='\(id)']").count == 1, "\(id)")
            }
        }
    }

    /// WCAG 2.1, 1.4.3: 4.5 to 1 for text. Computed here from the colours in the style sheet.
    @Test func textHasContrastInLightAndDark() throws {
        let text = text(SampleFacts.plain())
        let schemes = text.matches(of: /:root \{([^}]*)\}/).map { String($0.1) }
        #expect(schemes.count == 3)
        for scheme in schemes {
            var colours: [String: Double] = [:]
            for match in scheme.matches(of: /--([a-z]+): #([0-9a-f]{6})/) {
                colours[String(match.1)] = luminance(String(match.2))
            }
            let back = try [#require(colours["back"]), #require(colours["card"])]
            for name in ["text", "soft", "good", "bad"] {
                let colour = try #require(colours[name])
                for back in back {
                    let ratio = (max(colour, back) + 0.05) / (min(colour, back) + 0.05)
                    #expect(ratio >= 4.5, "\(name): \(ratio)")
                }
            }
        }
    }

    private func luminance(_ hex: String) -> Double {
        let number = Int(hex, radix: 16) ?? 0
        func linear(_ shift: Int) -> Double {
            let part = Double((number >> shift) & 255) / 255
            return part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0)
    }
}
