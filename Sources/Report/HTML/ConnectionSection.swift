internal import Sending

/// The connections of a run, and why they ended.
enum ConnectionSection {
    /// Causes that are listed; the others are summed up.
    private static let causesMax = 20

    static func write(_ facts: RunFacts, to page: inout HTMLWriter) {
        let counts = facts.summary.connections
        page.element("section", ["aria-labelledby": "connections"]) { page in
            page.element("h2", ["id": "connections"], "Connections and how they ended")
            page.element("p") { page in
                page.count("connections.opened", counts.opened)
                page.write(" opened, of which ")
                page.count("connections.goaway", counts.goaway)
                page.write(" ended by the server with notice (GOAWAY) and ")
                page.count("connections.lost", counts.lost)
                page.write(" lost without; ")
                page.figure(
                    "bytesSent", String(facts.summary.bytesSent),
                    NumberText.bytes(facts.summary.bytesSent))
                page.write(" sent.")
            }
            if !facts.connectionEnds.groups.isEmpty { ends(facts.connectionEnds, to: &page) }
        }
    }

    private static func ends(_ ends: ConnectionEnds, to page: inout HTMLWriter) {
        var rest = ends.others
        for group in ends.groups.dropFirst(causesMax) {
            rest.connections += group.connections
            rest.requests &+= group.requests
            rest.answered &+= group.answered
        }
        let head: [(String, Bool)] = [("Cause", false), ("Connections", true), ("Answers", true)]
        Table.write("Connections by the cause of their end", head, to: &page) { page in
            for group in ends.groups.prefix(causesMax) {
                row(group, to: &page) { $0.outside(group.end) }
            }
            if rest.connections > 0 { row(rest, to: &page) { $0.write("other causes") } }
        }
        page.element(
            "p", ["class": "soft"],
            "Each connection that has ended has its line in connections.ndjson.")
    }

    private static func row(
        _ group: ConnectionEnds.Group, to page: inout HTMLWriter, cause: (inout HTMLWriter) -> Void
    ) {
        page.element("tr") { page in
            page.element("th", ["scope": "row"]) { cause(&$0) }
            page.element("td", ["class": "number"], NumberText.count(group.connections))
            page.element("td", ["class": "number"], NumberText.count(group.answered))
        }
    }
}
