internal import JSON

/// What is wrong with a registry's text, with its place and what to do.
struct RegistryError: Error, CustomStringConvertible {
    let description: String

    init(_ position: JSONPosition, _ text: String) {
        description = "\(position.line):\(position.column): \(text)"
    }
}

/// An object of a registry: its keys are all known, and each reading says what is wrong with a
/// value.
struct RegistryObject {
    let node: JSONNode

    /// - Parameter what: for messages, such as "a key".
    init(_ node: JSONNode, _ what: String, known: [String]) throws(RegistryError) {
        self.node = node
        guard let members = node.members else {
            throw RegistryError(
                node.position, "\(what) is an object { … }, and not \(node.kindName)")
        }
        for member in members where !known.contains(member.key) {
            throw RegistryError(
                member.keyPosition,
                "\"\(member.key)\" is not known for \(what): "
                    + Suggestion.remedy(for: member.key, among: known, noun: "key"))
        }
    }

    /// Fails at a value, or at the object where it has none.
    func error(_ key: String, _ text: String) -> RegistryError {
        RegistryError(node[key]?.position ?? node.position, "\"\(key)\" \(text)")
    }

    func string(_ key: String) throws(RegistryError) -> String? {
        guard let value = node[key] else { return nil }
        guard let text = value.asString, !text.isEmpty else {
            throw error(key, "is to be text in quotes, and not empty")
        }
        return text
    }

    func required(_ key: String) throws(RegistryError) -> String {
        guard let text = try string(key) else { throw error(key, "is missing; add it") }
        return text
    }

    func truth(_ key: String) throws(RegistryError) -> Bool? {
        guard let value = node[key] else { return nil }
        guard let truth = value.asBool else { throw error(key, "is to be true or false") }
        return truth
    }

    func number(_ key: String, _ range: ClosedRange<Int>) throws(RegistryError) -> Int? {
        guard let value = node[key] else { return nil }
        guard let number = value.asInt, range.contains(number) else {
            throw error(
                key, "is to be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: String, _: Choice.Type
    ) throws(RegistryError) -> Choice? {
        guard let text = try string(key) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        throw error(
            key,
            "is unknown: \"\(text)\"; " + Suggestion.remedy(for: text, among: names, noun: "value"))
    }

    func strings(_ key: String) throws(RegistryError) -> [String]? {
        guard let value = node[key] else { return nil }
        guard let elements = value.elements else {
            throw error(key, "is to be an array of texts [ \"…\" ]")
        }
        var texts: [String] = []
        for element in elements {
            guard let text = element.asString, !text.isEmpty else {
                throw RegistryError(element.position, "\"\(key)\" holds texts in quotes")
            }
            texts.append(text)
        }
        return texts
    }

    /// The objects in an array, or the single one that stands in its place.
    func nodes(_ key: String) -> [JSONNode] {
        node[key].map { $0.elements ?? [$0] } ?? []
    }
}
