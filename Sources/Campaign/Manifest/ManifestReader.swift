internal import APNS
internal import JSON

/// Turns a manifest into a campaign.
struct ManifestReader {
    static let keys = [
        "name", "topic", "pushType", "priority", "expiration", "collapseID", "apnsID",
        "environment", "credentials", "recipients", "columns", "suppress", "duplicates", "payload",
        "payloads", "pacing", "retry", "timeouts", "stopWhen",
    ]
    static let unsupportedKeys = ["variants", "holdOut"]

    let source: ManifestFile
    let root: ManifestObject

    static func campaign(from source: ManifestFile) throws(CampaignError) -> Campaign {
        let node: JSONNode
        do throws(JSONError) {
            node = try JSONDocument.parse(source.bytes, dialect: .json5)
        } catch {
            throw CampaignError(
                file: source.path, line: error.line, column: error.column,
                message: error.message, remedy: "")
        }
        let root = try ManifestObject(
            node, path: "", file: source.path, known: keys, unsupported: unsupportedKeys)
        return try ManifestReader(source: source, root: root).campaign()
    }

    private func campaign() throws(CampaignError) -> Campaign {
        let pushType = try pushType()
        let credentials = try credentials()
        return Campaign(
            name: try name(), topic: try topic(for: pushType), pushType: pushType,
            priority: try priority(for: pushType), expiration: try expiration(),
            collapseID: try collapseID(), usesAPNSID: try root.bool("apnsID") ?? true,
            environment: try environment(for: credentials), credentials: credentials,
            recipients: try recipients(), columns: try columns(), suppress: try suppress(),
            skipsDuplicates: try skipsDuplicates(), payloads: try payloads(for: pushType),
            pacing: try pacing(), retry: try retry(), timeouts: try timeouts(),
            stopWhen: try stopWhen(),
            manifestPath: source.path, manifestBytes: source.bytes)
    }

    // MARK: What is sent

    private func name() throws(CampaignError) -> String {
        let name = try root.required("name", example: "\"spring-sale\"")
        guard name.utf8.allSatisfy(Self.isNameByte), name.utf8.first != UInt8(ascii: "."),
            name.utf8.count <= 100
        else {
            throw root.error(
                "name", "\"name\" cannot name a folder: \"\(name)\"",
                "use letters, digits, \".\", \"_\" and \"-\", at most 100, no \".\" in front")
        }
        return name
    }

    private func pushType() throws(CampaignError) -> PushType {
        guard let name = try root.string("pushType") else { return .alert }
        guard let type = PushType.named(name) else {
            throw root.error(
                "pushType", "\"pushType\" is unknown: \"\(name)\"",
                Suggestion.remedy(for: name, among: PushType.all.map(\.name), noun: "push type"))
        }
        return type
    }

    private func topic(for pushType: PushType) throws(CampaignError) -> String {
        let example = "\"com.example.app\(pushType.topicSuffix)\""
        let topic = try root.required("topic", example: example)
        guard topic.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), topic.utf8.count <= 255 else {
            throw root.error(
                "topic", "\"topic\" holds characters that no topic has: \"\(topic)\"",
                "write the app's bundle id, such as \(example)")
        }
        if pushType == .mdm { return topic }
        // The longest suffix first: ".voip" is no part of ".voip-ptt", but that may change.
        let suffixes = PushType.all.map(\.topicSuffix).sorted { $0.utf8.count > $1.utf8.count }
        let present = suffixes.first { !$0.isEmpty && topic.hasSuffix($0) } ?? ""
        if present != pushType.topicSuffix || topic.utf8.count == present.utf8.count {
            let bundleID = topic.dropLast(present.count)
            throw root.error(
                "topic", "\"topic\" does not fit pushType \"\(pushType.name)\": \"\(topic)\"",
                "write \"\(bundleID.isEmpty ? "com.example.app" : bundleID)\(pushType.topicSuffix)\""
            )
        }
        return topic
    }

    private func priority(for pushType: PushType) throws(CampaignError) -> Int? {
        guard let value = root.node["priority"] else {
            return pushType == .background ? 5 : nil
        }
        guard let priority = value.asInt, [10, 5, 1].contains(priority) else {
            throw root.wrongKind("priority", value, "10, 5 or 1")
        }
        guard pushType.allowedPriorities.contains(priority) else {
            let allowed = pushType.allowedPriorities.map(String.init).joined(separator: " or ")
            throw root.error(
                "priority", "pushType \"\(pushType.name)\" may not have priority \(priority)",
                "write \(allowed)")
        }
        return priority
    }

    private func expiration() throws(CampaignError) -> Expiration? {
        guard let value = root.node["expiration"] else { return nil }
        if value.asInt == 0 { return .zero }
        let form = "\"4h\" or another duration, an instant as \"2026-03-14T21:00:00+02:00\", or 0"
        guard let text = value.asString else { throw root.wrongKind("expiration", value, form) }
        if let duration = ManifestDuration.milliseconds(text) {
            return .after(seconds: (duration + 999) / 1000)
        }
        guard let instant = ManifestInstant.unixSeconds(text), instant > 0 else {
            throw root.wrongKind("expiration", value, form)
        }
        return .at(unixSeconds: instant)
    }

    private func collapseID() throws(CampaignError) -> Template? {
        guard let node = root.node["collapseID"] else { return nil }
        guard try root.nonEmptyString("collapseID") != nil else { return nil }
        let template = try TemplateCompiler.header(node, file: source.path)
        if template.bytesMin > APNSLimits.collapseIDBytesMax {
            throw root.error(
                "collapseID",
                "\"collapseID\" has \(template.bytesMin) bytes"
                    + (template.isFixed ? "" : " without its placeholders")
                    + ", APNs takes \(APNSLimits.collapseIDBytesMax)",
                "shorten it; characters outside ASCII count two to four bytes")
        }
        return template
    }

    // MARK: From where, to whom

    private func recipients() throws(CampaignError) -> String {
        let name = try root.required("recipients", example: "\"recipients.csv\"")
        if name == "-" { return name }
        for suffix in [".gz", ".zst"] where name.lowercased().hasSuffix(suffix) {
            throw root.error(
                "recipients", "compressed recipients are not yet supported: \"\(name)\"",
                "unpack the file, or pipe it into --recipients -")
        }
        guard RecipientFormat(fileName: name) != nil else {
            throw root.error(
                "recipients", "\"recipients\" has an unknown format: \"\(name)\"",
                "name a .csv, .ndjson or .jsonl file, or \"-\" for standard input")
        }
        return source.resolve(name)
    }

    private func environment(
        for credentials: CampaignCredentials
    ) throws(CampaignError) -> CampaignEnvironment {
        let words: [CampaignEnvironment] = [.production, .sandbox]
        if let environment = try root.choice("environment", of: words) { return environment }
        // Peal's own key is of no use with Apple, so there the choice does not matter.
        if credentials == .development { return .sandbox }
        throw root.missing(
            "environment", example: "\"production\" (or \"sandbox\"), the one the tokens are from")
    }

    private func skipsDuplicates() throws(CampaignError) -> Bool {
        enum Duplicates: String {
            case skip
            case send
        }
        return try root.choice("duplicates", of: [Duplicates.skip, .send]) ?? .skip == .skip
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
