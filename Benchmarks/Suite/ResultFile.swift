internal import JSON

/// The results of a run, kept in a file that is written after each case: a run that was stopped can
/// be continued.
final class ResultFile {
    let path: String
    private(set) var facts: [(key: String, value: String)] = []
    private(set) var results: [CaseResult] = []
    private(set) var skipped: [String] = []

    /// Begins an empty file, or goes on with the one that is there.
    init(path: String, continues: Bool, facts: [(key: String, value: String)]) throws(Failure) {
        self.path = path
        self.facts = facts
        if continues, fileExists(path) { try load() }
    }

    /// Opens a finished file.
    init(reading path: String) throws(Failure) {
        self.path = path
        try load()
    }

    func holds(_ layer: String, _ name: String) -> Bool {
        results.contains { $0.layer == layer && $0.name == name }
    }

    func add(_ added: [CaseResult]) throws(Failure) {
        for result in added {
            results.removeAll { $0.identity == result.identity }
            results.append(result)
        }
        try save()
    }

    func skip(_ text: String) throws(Failure) {
        say("SKIPPED: \(text)")
        if !skipped.contains(text) { skipped.append(text) }
        try save()
    }

    private func save() throws(Failure) {
        var json = JSONWriter(pretty: false)
        json.beginObject()
        json.key("facts")
        json.beginObject()
        for (key, value) in facts {
            json.key(key)
            json.string(value)
        }
        json.endObject()
        json.key("skipped")
        json.beginArray()
        for text in skipped { json.string(text) }
        json.endArray()
        json.key("results")
        json.beginArray()
        for result in results { result.write(to: &json) }
        json.endArray()
        json.endObject()
        try writeFile(path, json.bytes + [10])
    }

    private func load() throws(Failure) {
        let node: JSONNode
        do throws(JSONError) {
            node = try JSONDocument.parse(bytesOfFile(path), dialect: .strict)
        } catch {
            throw Failure("\(path) cannot be read: \(error)")
        }
        facts = (node["facts"]?.members ?? []).map { ($0.key, $0.value.asString ?? "") }
        skipped = (node["skipped"]?.elements ?? []).compactMap { $0.asString }
        results = (node["results"]?.elements ?? []).compactMap { CaseResult($0) }
    }
}
