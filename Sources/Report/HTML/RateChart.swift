internal import Sending

/// The rate of a run over its time, drawn. Numbers stand beside the drawing and not in it: so it
/// takes any width, and they stay readable.
struct RateChart {
    private static let width = 600.0
    private static let height = 100.0

    /// Notifications per second, by bucket.
    private let rates: [Double]
    private let series: RateSeries
    private let seconds: Double
    /// The upper edge: 1, 2 or 5 with noughts.
    private let top: Double

    /// Nil when there is nothing to draw: nothing was accepted, or nothing measured.
    init?(_ facts: RunFacts) {
        series = facts.rate
        seconds = facts.summary.seconds
        guard seconds > 0, series.counts.contains(where: { $0 > 0 }) else { return nil }
        rates = series.rates(seconds: seconds)
        top = Self.roundNumber(atLeast: rates.max() ?? 1)
    }

    func write(_ summary: RunSummary, to page: inout HTMLWriter) {
        page.element("figure") { page in
            page.element("div", ["class": "chart"]) { page in
                page.element("div", ["class": "rates", "aria-hidden": "true"]) { page in
                    for part in [1.0, 0.5, 0.0] {
                        page.element("span", NumberText.rate(top * part))
                    }
                }
                drawing(to: &page)
                page.element("div", ["class": "times", "aria-hidden": "true"]) { page in
                    page.element("span", "0 s")
                    page.element("span", NumberText.duration(seconds: seconds / 2))
                    page.element("span", NumberText.duration(seconds: seconds))
                }
            }
            page.element("figcaption") { page in
                page.write("Notifications accepted per second, by time since the start")
                page.write(summary.resumes > 0 ? ", pauses left out. " : ". ")
                page.write(
                    "Each point is a mean of "
                        + NumberText.duration(seconds: Double(series.bucketSeconds), tenths: false)
                        + ".")
            }
        }
    }

    private func drawing(to page: inout HTMLWriter) {
        page.element(
            "svg",
            [
                "viewBox": "0 0 600 100", "preserveAspectRatio": "none", "role": "img",
                "aria-labelledby": "rate-title rate-text",
            ]
        ) { page in
            page.element("title", ["id": "rate-title"], "Accepted per second over time")
            page.element("desc", ["id": "rate-text"], description)
            let edge = edge
            page.empty("path", ["class": "area", "d": edge + "V100H0Z"])
            page.empty("path", ["class": "grid", "d": "M0 0H600M0 50H600M0 100H600"])
            page.empty("path", ["class": "edge", "d": edge])
        }
    }

    private var description: String {
        let index = rates.indices.max { rates[$0] < rates[$1] } ?? 0
        let start = Double(index) * Double(series.bucketSeconds)
        let quiet = rates.count { $0 == 0 }
        return "From 0 to \(NumberText.duration(seconds: seconds)). The highest rate, "
            + "\(NumberText.rate(rates[index])) per second, was reached after "
            + "\(NumberText.duration(seconds: start)). "
            + (quiet == 0
                ? "There was no standstill."
                : "In \(quiet) of \(rates.count) intervals nothing was accepted.")
    }

    /// Steps: each bucket as wide as its time, the last as far as the run went.
    private var edge: String {
        var path = ""
        for (index, rate) in rates.enumerated() {
            let start = Double(index) * Double(series.bucketSeconds)
            let x = min(1, start / seconds) * Self.width
            let y = Self.height - min(1, rate / top) * Self.height
            path += path.isEmpty ? "M" : "H\(DrawnNumber.text(x))V"
            path += path == "M" ? "0 \(DrawnNumber.text(y))" : DrawnNumber.text(y)
        }
        return path + "H600"
    }

    static func roundNumber(atLeast value: Double) -> Double {
        var unit = 1.0
        while unit * 10 <= value { unit *= 10 }
        return [1.0, 2, 5, 10].map { $0 * unit }.first { $0 >= value } ?? unit * 10
    }
}

/// Coordinates of a drawing: to a tenth, as no screen shows more.
enum DrawnNumber {
    /// - Parameter value: not negative, and small.
    static func text(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
