/// Finds what a person probably meant to write.
package enum Suggestion {
    /// `did you mean "X"?` for the nearest of `names`, or a list of them when none is near.
    package static func remedy(for written: String, among names: [String], noun: String) -> String {
        if let near = nearest(to: written, among: names) { return "did you mean \"\(near)\"?" }
        if names.isEmpty { return "there is no \(noun) that could stand here" }
        return "known \(noun)s: \(names.joined(separator: ", "))"
    }

    /// The name that differs least, if it differs in no more than a third of its letters, or the
    /// only one that begins so; case, "-", "_" and blanks do not count.
    package static func nearest(to written: String, among names: [String]) -> String? {
        let target = folded(written)
        var best: (name: String, distance: Int)?
        for name in names {
            let candidate = folded(name)
            let distance = editDistance(target, candidate)
            guard distance <= max(1, max(target.count, candidate.count) / 3) else { continue }
            if distance < best?.distance ?? Int.max { best = (name, distance) }
        }
        if let best { return best.name }
        let begun = names.filter { !target.isEmpty && folded($0).starts(with: target) }
        return begun.count == 1 ? begun[0] : nil
    }

    /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
    package static func editDistance(_ first: [Character], _ second: [Character]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...second.count)
        for i in 0..<first.count {
            var current = [i + 1]
            for j in 0..<second.count {
                let replaced = previous[j] + (first[i] == second[j] ? 0 : 1)
                var distance = min(previous[j + 1] + 1, current[j] + 1, replaced)
                if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
                    distance = min(distance, beforePrevious[j - 1] + 1)
                }
                current.append(distance)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[second.count]
    }

    /// The first 64 letters are enough to tell what was meant, and bound the work.
    private static func folded(_ text: String) -> [Character] {
        Array(text.lowercased().filter { $0 != "-" && $0 != "_" && $0 != " " }.prefix(64))
    }
}
