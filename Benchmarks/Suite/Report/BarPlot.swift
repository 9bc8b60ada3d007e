/// CPU per notification of each client, a group of bars for each server, as SVG.
struct BarPlot {
    private static let width = 760
    private static let labelWidth = 110
    private static let barHeight = 18
    private static let rowHeight = 24

    private let results: [CaseResult]

    init(_ results: [CaseResult]) { self.results = results.filter { $0["CPU"] != nil } }

    var svg: String {
        var servers: [String] = []
        for result in results where !servers.contains(result.name) { servers.append(result.name) }
        let longest = results.compactMap { $0["CPU"]?.median }.max() ?? 1
        var y = 44
        var body = ""
        for server in servers {
            body += text(8, y + 14, "against \(server)", weight: "bold")
            y += Self.rowHeight
            for result in results where result.name == server {
                body += bar(result, at: y, longest: longest)
                y += Self.rowHeight
            }
            y += 12
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.width)" height="\(y)" \
            viewBox="0 0 \(Self.width) \(y)" font-family="sans-serif" font-size="13">
            <rect width="100%" height="100%" fill="#ffffff"/>
            \(text(8, 22, "CPU time per notification (microseconds): shorter is better", weight: "bold"))\
            \(body)</svg>

            """
    }

    private func bar(_ result: CaseResult, at y: Int, longest: Double) -> String {
        let value = result["CPU"]!.median
        let room = Double(Self.width - Self.labelWidth - 150)
        let length = max(1, Int((value / longest * room).rounded()))
        let colour = result.subject == "peal" ? "#0a6ebd" : "#9aa5b1"
        let ratio = result["CPU ÷ peal's"].map { " (\(NumberText.short($0.median)) ×)" } ?? ""
        return text(8, y + 14, "\u{2003}\(result.subject)")
            + """
            <rect x="\(Self.labelWidth)" y="\(y)" width="\(length)" height="\(Self.barHeight)" \
            fill="\(colour)"/>

            """
            + text(
                Self.labelWidth + length + 8, y + 14,
                NumberText.short(value) + (result.subject == "peal" ? "" : ratio))
    }

    private func text(_ x: Int, _ y: Int, _ text: String, weight: String = "normal") -> String {
        "<text x=\"\(x)\" y=\"\(y)\" font-weight=\"\(weight)\" fill=\"#1f2933\">\(text)</text>\n"
    }
}
