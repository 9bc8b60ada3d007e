internal import APNS
internal import Crypto
internal import JSON

/// Reads what a file or a request says of teams, keys, apps and tokens into a registry: what is
/// there under the same name is replaced, everything else stays.
struct RegistryReader {
    /// Reads the key file that an entry names; nil: a key may not be in a file.
    let readKeyFile: ((String) throws(MockError) -> [UInt8])?
    /// What "now" is, in milliseconds since 1970.
    let nowMs: Int64

    static let keys = [
        "environment", "unknownTokens", "inferences", "teams", "keys", "apps", "tokens",
    ]

    /// What becomes of device tokens that are not listed.
    private enum UnknownTokens: String, CaseIterable {
        case accept
        case refuse
    }

    /// Reads an object with any of `keys`.
    func merge(_ node: JSONNode, into registry: inout Registry) throws(RegistryError) {
        let object = try RegistryObject(node, "a registry", known: Self.keys)
        if let environment = try object.choice("environment", PushEnvironment.self) {
            registry.environment = environment
        }
        if let unknown = try object.choice("unknownTokens", UnknownTokens.self) {
            registry.acceptsUnknownTokens = unknown == .accept
        }
        if let inferences = node["inferences"] {
            try read(inferences, into: &registry.inferences)
        }
        for team in try object.strings("teams") ?? [] where !registry.teams.contains(team) {
            registry.teams.append(try id(team, at: object.node["teams"]?.position ?? node.position))
        }
        for node in object.nodes("keys") { try addKey(node, to: &registry) }
        for node in object.nodes("apps") { try addApp(node, to: &registry) }
        for node in object.nodes("tokens") { try addToken(node, to: &registry) }
        try checkLimits(registry, at: node.position)
    }

    private func checkLimits(
        _ registry: Registry, at position: JSONPosition
    ) throws(RegistryError) {
        for (count, most, what) in [
            (registry.teams.count, Registry.entriesMax, "teams"),
            (registry.keys.count, Registry.entriesMax, "keys"),
            (registry.apps.count, Registry.entriesMax, "apps"),
            (registry.tokens.count, Registry.tokensMax, "tokens"),
        ] where count > most {
            throw RegistryError(position, "these are \(count) \(what); at most \(most) are kept")
        }
    }

    private func read(
        _ node: JSONNode, into inferences: inout GatewayInferences
    ) throws(RegistryError) {
        let fields = GatewayInferences.fields
        let object = try RegistryObject(node, "the inferences", known: fields.map(\.name))
        for (name, field) in fields where node[name] != nil {
            switch field {
            case .truth(let path):
                if let truth = try object.truth(name) { inferences[keyPath: path] = truth }
            case .number(let path, let range):
                if let number = try object.number(name, range) {
                    inferences[keyPath: path] = number
                }
            case .reason(let path):
                let text = try object.required(name)
                guard let reason = GatewayReason.named(text) else {
                    let names = GatewayReason.allCases.map(\.name)
                    throw object.error(
                        name,
                        "is no reason of APNs: \"\(text)\"; "
                            + Suggestion.remedy(for: text, among: names, noun: "value"))
                }
                inferences[keyPath: path] = reason
            }
        }
    }

    private func addKey(_ node: JSONNode, to registry: inout Registry) throws(RegistryError) {
        let object = try RegistryObject(
            node, "a key",
            known: [
                "id", "team", "file", "publicKey", "environment", "topics", "related", "revoked",
            ])
        let id = try id(object.required("id"), at: node["id"]?.position ?? node.position)
        var key = RegistryKey(id: id, key: try verifyingKey(object))
        if let team = try object.string("team") {
            key.team = try self.id(team, at: node["team"]?.position ?? node.position)
        }
        key.environment = try object.choice("environment", PushEnvironment.self)
        key.topics = try object.strings("topics") ?? []
        if key.isTopicSpecific, key.environment == nil {
            throw object.error("environment", "is missing: a key with topics is for one of the two")
        }
        key.related = try object.string("related")
        key.isRevoked = try object.truth("revoked") ?? false
        registry.keys.removeAll { $0.id == id }
        registry.keys.append(key)
    }

    private func verifyingKey(_ object: RegistryObject) throws(RegistryError) -> VerifyingKey {
        var pem: [UInt8]
        let source: String
        if let text = try object.string("publicKey") {
            pem = Array(text.utf8)
            source = "publicKey"
        } else if let file = try object.string("file") {
            source = "file"
            guard let readKeyFile else {
                throw object.error(
                    "file", "is for a registry's own file; send the PEM text as publicKey")
            }
            do { pem = try readKeyFile(file) } catch { throw object.error("file", "\(error)") }
        } else {
            throw object.error("publicKey", "is missing; add it, or file with a p8 or PEM file")
        }
        do {
            return try VerifyingKey.pem(pem)
        } catch {
            throw object.error(source, "is no key: \(error)")
        }
    }

    private func addApp(_ node: JSONNode, to registry: inout Registry) throws(RegistryError) {
        let object = try RegistryObject(node, "an app", known: ["topic", "team"])
        let topic = try object.required("topic")
        var app = RegistryApp()
        if let team = try object.string("team") {
            app.team = try id(team, at: node["team"]?.position ?? node.position)
        }
        registry.apps.set(Array(topic.utf8), to: app)
    }

    private func addToken(_ node: JSONNode, to registry: inout Registry) throws(RegistryError) {
        let object = try RegistryObject(
            node, "a device token",
            known: ["token", "topic", "environment", "unregisteredSince", "expiredSince"])
        let text = try object.required("token")
        guard let bytes = Self.tokenBytes(text) else {
            throw object.error(
                "token",
                "is no device token: write \(DeviceToken.hexCharactersMin) to "
                    + "\(DeviceToken.hexCharactersMax) hexadecimal digits, an even number of them")
        }
        var token = RegistryToken()
        token.topic = try object.string("topic")
        token.environment = try object.choice("environment", PushEnvironment.self)
        token.unregisteredSinceMs = try time("unregisteredSince", of: object)
        token.expiredSinceMs = try time("expiredSince", of: object)
        registry.tokens.set(bytes, to: token)
    }

    /// A device token in lower case; nil when it is none.
    static func tokenBytes(_ text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: DeviceToken.hexCharactersMax)
        let count = Array(text.utf8).withUnsafeBytes { text in
            bytes.withUnsafeMutableBytes { GatewayJudge.lowerCase(text, into: $0) }
        }
        return count.map { Array(bytes[..<$0]) }
    }

    /// Milliseconds since 1970, or "now".
    private func time(_ key: String, of object: RegistryObject) throws(RegistryError) -> Int64? {
        guard let value = object.node[key] else { return nil }
        if value.asString == "now" { return nowMs }
        guard let number = value.asInt, number >= 0 else {
            throw object.error(key, "is to be milliseconds since 1970, or \"now\"")
        }
        return Int64(number)
    }

    private func id(_ text: String, at position: JSONPosition) throws(RegistryError) -> String {
        guard text.utf8.count == APNSLimits.idCharacters else {
            throw RegistryError(
                position,
                "\"\(text)\" is no id: keys and teams have \(APNSLimits.idCharacters) characters")
        }
        return text
    }
}
