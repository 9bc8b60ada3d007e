internal import JSON

/// An object of the manifest whose keys are all known; every reading of a value says where it
/// stands when it is wrong.
struct ManifestObject {
    let file: String
    /// Where the object stands, such as "pacing"; empty for the whole manifest.
    let path: String
    let node: JSONNode

    /// Refuses what is no object, and keys that are neither `known` nor `unsupported` (those with
    /// a message of their own).
    init(
        _ node: JSONNode, path: String, file: String, known: [String], unsupported: [String] = []
    ) throws(CampaignError) {
        self.file = file
        self.path = path
        self.node = node
        guard let members = node.members else {
            throw error(
                at: node.position, "\(Self.display(path)) is \(node.kindName)",
                "write an object { … }")
        }
        for member in members where !known.contains(member.key) {
            let name = "\"\(Self.joined(path, member.key))\""
            if unsupported.contains(member.key) {
                throw error(at: member.keyPosition, "\(name) is not yet supported", "remove it")
            }
            throw error(
                at: member.keyPosition, "\(name) is no key of a campaign",
                Suggestion.remedy(for: member.key, among: known, noun: "key"))
        }
    }

    // MARK: Values

    func has(_ key: String) -> Bool { node[key] != nil }

    func string(_ key: String) throws(CampaignError) -> String? {
        guard let value = node[key] else { return nil }
        guard let text = value.asString else { throw wrongKind(key, value, "a string in quotes") }
        return text
    }

    func nonEmptyString(_ key: String) throws(CampaignError) -> String? {
        guard let text = try string(key) else { return nil }
        if text.isEmpty {
            throw error(key, "\(name(key)) is empty", "write its value, or remove it")
        }
        return text
    }

    func required(_ key: String, example: String) throws(CampaignError) -> String {
        guard let text = try nonEmptyString(key) else { throw missing(key, example: example) }
        return text
    }

    func bool(_ key: String) throws(CampaignError) -> Bool? {
        guard let value = node[key] else { return nil }
        guard let truth = value.asBool else { throw wrongKind(key, value, "true or false") }
        return truth
    }

    func integer(_ key: String, in range: ClosedRange<Int>) throws(CampaignError) -> Int? {
        guard let value = node[key] else { return nil }
        let form = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let number = value.asInt, range ~= number else { throw wrongKind(key, value, form) }
        return number
    }

    func rate(_ key: String) throws(CampaignError) -> Double? {
        guard let value = node[key] else { return nil }
        guard let number = value.asDouble, 0...10_000_000 ~= number else {
            throw wrongKind(
                key, value, "notifications per second, from 0 (unlimited) to 10000000")
        }
        return number
    }

    /// Milliseconds.
    func duration(_ key: String, in range: ClosedRange<Int64>) throws(CampaignError) -> Int64? {
        guard let text = try string(key) else { return nil }
        guard let duration = ManifestDuration.milliseconds(text) else {
            throw error(key, "\(name(key)) is no duration: \"\(text)\"", ManifestDuration.form)
        }
        guard range ~= duration else {
            throw error(
                key, "\(name(key)) is out of range: \"\(text)\"",
                "write \(range.lowerBound) ms to \(range.upperBound / 1000) s")
        }
        return duration
    }

    /// One of the words of an enumeration.
    func choice<Choice: RawRepresentable<String>>(
        _ key: String, of words: [Choice]
    ) throws(CampaignError) -> Choice? {
        guard let text = try string(key) else { return nil }
        if let choice = words.first(where: { $0.rawValue == text }) { return choice }
        let names = words.map(\.rawValue)
        throw error(
            key, "\(name(key)) is unknown: \"\(text)\"",
            Suggestion.remedy(for: text, among: names, noun: "value"))
    }

    // MARK: Errors

    func error(_ key: String, _ message: String, _ remedy: String) -> CampaignError {
        error(at: node[key]?.position ?? node.position, message, remedy)
    }

    func error(
        at position: JSONPosition, _ message: String, _ remedy: String
    ) -> CampaignError {
        CampaignError(
            file: file, line: position.line, column: position.column, message: message,
            remedy: remedy)
    }

    func missing(_ key: String, example: String) -> CampaignError {
        error(at: node.position, "\(name(key)) is missing", "add \(key): \(example)")
    }

    func wrongKind(_ key: String, _ value: JSONNode, _ form: String) -> CampaignError {
        let written =
            switch value.value {
            case .string(let text): "\"\(text)\""
            case .number(let text): text
            case .bool(let truth): truth ? "true" : "false"
            default: value.kindName
            }
        return error(at: value.position, "\(name(key)) is \(written)", "write \(form)")
    }

    /// The key in quotes, with the objects around it.
    func name(_ key: String) -> String { "\"\(Self.joined(path, key))\"" }

    private static func joined(_ path: String, _ key: String) -> String {
        path.isEmpty ? key : "\(path).\(key)"
    }

    private static func display(_ path: String) -> String {
        path.isEmpty ? "the campaign" : "\"\(path)\""
    }
}
