internal import JSON

/// One measured quantity: its samples, of which the median counts.
struct Figure {
    let unit: String
    let samples: [Double]

    init(_ samples: [Double], _ unit: String) {
        precondition(!samples.isEmpty)
        self.samples = samples
        self.unit = unit
    }

    var median: Double {
        let sorted = samples.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
    var lowest: Double { samples.min()! }
    var highest: Double { samples.max()! }
}

/// What one case gave: named figures, and what is to be said about them.
struct CaseResult {
    let layer: String
    let name: String
    /// Who was measured, where a case has several: "peal", "h2load", …
    var subject = ""
    var figures: [(name: String, figure: Figure)] = []
    /// What held the rate down, or another remark.
    var note = ""

    var identity: String { "\(layer)/\(name)/\(subject)" }

    subscript(name: String) -> Figure? { figures.first { $0.name == name }?.figure }
}

extension CaseResult {
    func write(to json: inout JSONWriter) {
        json.beginObject()
        for (key, text) in [
            ("layer", layer), ("case", name), ("subject", subject), ("note", note),
        ] {
            json.key(key)
            json.string(text)
        }
        json.key("figures")
        json.beginObject()
        for (name, figure) in figures {
            json.key(name)
            json.beginObject()
            json.key("unit")
            json.string(figure.unit)
            json.key("median")
            json.number(figure.median)
            json.key("samples")
            json.beginArray()
            for sample in figure.samples { json.number(sample) }
            json.endArray()
            json.endObject()
        }
        json.endObject()
        json.endObject()
    }

    init?(_ node: JSONNode) {
        guard let layer = node["layer"]?.asString, let name = node["case"]?.asString,
            let subject = node["subject"]?.asString, let note = node["note"]?.asString,
            let members = node["figures"]?.members
        else { return nil }
        self.init(layer: layer, name: name, subject: subject, note: note)
        for member in members {
            guard let unit = member.value["unit"]?.asString,
                let samples = member.value["samples"]?.elements?.compactMap({ $0.asDouble }),
                !samples.isEmpty
            else { return nil }
            figures.append((member.key, Figure(samples, unit)))
        }
    }
}
