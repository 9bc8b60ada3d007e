/// Tables for people, on standard output or in Markdown.
struct Table {
    let columns: [String]
    private(set) var rows: [[String]] = []

    init(_ columns: [String]) { self.columns = columns }

    mutating func add(_ row: [String]) {
        precondition(row.count == columns.count)
        rows.append(row)
    }

    /// Columns one under the other; all but the first to the right.
    var text: String {
        let widths = columns.indices.map { index in
            ([columns] + rows).map { $0[index].count }.max()!
        }
        return ([columns] + rows).map { row in
            row.indices.map { index in
                let blanks = String(repeating: " ", count: widths[index] - row[index].count)
                return index == 0 ? row[index] + blanks : blanks + row[index]
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    var markdown: String {
        let rule = columns.indices.map { $0 == 0 ? "---" : "---:" }
        return ([columns, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
            .joined(separator: "\n")
    }
}

extension Table {
    /// The results of one layer: a column for each figure that one of them has.
    init(of results: [CaseResult]) {
        var names: [(name: String, unit: String)] = []
        for (name, figure) in results.flatMap(\.figures)
        where !names.contains(where: { $0.name == name }) {
            names.append((name, figure.unit))
        }
        let hasSubjects = results.contains { !$0.subject.isEmpty }
        let hasNotes = results.contains { !$0.note.isEmpty }
        self.init(
            ["case"] + (hasSubjects ? ["who"] : []) + names.map { "\($0.name), \($0.unit)" }
                + (hasNotes ? ["note"] : []))
        for result in results {
            let figures = names.map { name, _ in
                result[name].map { figure in
                    figure.samples.count > 1 && figure.highest > figure.lowest
                        ? "\(NumberText.short(figure.median)) (\(NumberText.short(figure.lowest))–\(NumberText.short(figure.highest)))"
                        : NumberText.short(figure.median)
                } ?? ""
            }
            add(
                [result.name] + (hasSubjects ? [result.subject] : []) + figures
                    + (hasNotes ? [result.note] : []))
        }
    }
}
