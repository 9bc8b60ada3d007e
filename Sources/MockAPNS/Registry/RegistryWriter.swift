internal import JSON

/// Shows a registry as JSON, in the form in which it is read.
enum RegistryWriter {
    /// The whole of it; of many tokens the first 1,000 in order.
    static let tokensShownMax = 1_000

    static func all(_ registry: Registry) -> [UInt8] {
        var writer = JSONWriter(pretty: false)
        writer.beginObject()
        writer.key("environment")
        writer.string(registry.environment.rawValue)
        writer.key("unknownTokens")
        writer.string(registry.acceptsUnknownTokens ? "accept" : "refuse")
        writer.key("inferences")
        write(registry.inferences, to: &writer)
        for part in RegistryPart.allCases {
            writer.key(part.rawValue)
            write(part, of: registry, to: &writer)
        }
        writer.key("tokenCount")
        writer.number(registry.tokens.count)
        writer.endObject()
        return writer.bytes
    }

    static func part(_ part: RegistryPart, of registry: Registry) -> [UInt8] {
        var writer = JSONWriter(pretty: false)
        write(part, of: registry, to: &writer)
        return writer.bytes
    }

    private static func write(
        _ part: RegistryPart, of registry: Registry, to writer: inout JSONWriter
    ) {
        writer.beginArray()
        switch part {
        case .teams: for team in registry.teams { writer.string(team) }
        case .keys: for key in registry.keys { write(key, to: &writer) }
        case .apps:
            for (topic, app) in registry.apps.sorted {
                writer.beginObject()
                member("topic", String(decoding: topic, as: UTF8.self), to: &writer)
                member("team", app.team, to: &writer)
                writer.endObject()
            }
        case .tokens:
            for (text, token) in registry.tokens.sorted.prefix(tokensShownMax) {
                write(String(decoding: text, as: UTF8.self), token, to: &writer)
            }
        }
        writer.endArray()
    }

    /// A key without the key itself: ids and what it may do.
    private static func write(_ key: RegistryKey, to writer: inout JSONWriter) {
        writer.beginObject()
        member("id", key.id, to: &writer)
        member("team", key.team, to: &writer)
        member("environment", key.environment?.rawValue, to: &writer)
        if key.isTopicSpecific {
            writer.key("topics")
            writer.beginArray()
            for topic in key.topics { writer.string(topic) }
            writer.endArray()
        }
        member("related", key.related, to: &writer)
        if key.isRevoked {
            writer.key("revoked")
            writer.bool(true)
        }
        writer.endObject()
    }

    private static func write(
        _ text: String, _ token: RegistryToken, to writer: inout JSONWriter
    ) {
        writer.beginObject()
        member("token", text, to: &writer)
        member("topic", token.topic, to: &writer)
        member("environment", token.environment?.rawValue, to: &writer)
        for (key, sinceMs) in [
            ("unregisteredSince", token.unregisteredSinceMs),
            ("expiredSince", token.expiredSinceMs),
        ] {
            guard let sinceMs else { continue }
            writer.key(key)
            writer.number(sinceMs)
        }
        writer.endObject()
    }

    private static func write(_ inferences: GatewayInferences, to writer: inout JSONWriter) {
        writer.beginObject()
        for (name, field) in GatewayInferences.fields {
            writer.key(name)
            switch field {
            case .truth(let path): writer.bool(inferences[keyPath: path])
            case .number(let path, _): writer.number(inferences[keyPath: path])
            case .reason(let path): writer.string(inferences[keyPath: path].name)
            }
        }
        writer.endObject()
    }

    private static func member(_ key: String, _ value: String?, to writer: inout JSONWriter) {
        guard let value else { return }
        writer.key(key)
        writer.string(value)
    }
}
