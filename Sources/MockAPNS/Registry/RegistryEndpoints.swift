internal import JSON

/// The lists of a registry, which have pages of their own.
enum RegistryPart: String, CaseIterable, Sendable {
    case teams
    case keys
    case apps
    case tokens
}

/// The registry's pages: `/mock/registry` is all of it, `/mock/teams`, `/mock/keys`, `/mock/apps`
/// and `/mock/tokens` are its lists.
///
///     GET    /mock/registry           what there is
///     POST   /mock/registry  {…}      the form of the file: replaces what has the same name
///     GET    /mock/tokens             the list
///     POST   /mock/tokens    {…}|[…]  adds or replaces
///     DELETE /mock/tokens/TOKEN       takes one away
///     DELETE /mock/tokens             takes all away
///
/// *Thread:* any. *Limits:* a body of 8 KiB, what is kept of a request.
struct RegistryEndpoints: Sendable {
    let registry: MockRegistry
    let clock: MockClock

    /// The status and the JSON to answer; nil when the page is not one of these.
    ///
    /// - Parameter bodyBytes: the body's true size, of which `body` may hold only the beginning.
    func answer(
        method: UnsafeRawBufferPointer, path: UnsafeRawBufferPointer,
        body: UnsafeRawBufferPointer, bodyBytes: Int
    ) -> (status: UInt16, json: [UInt8])? {
        let words = String(decoding: path, as: UTF8.self)
            .split(separator: "/", omittingEmptySubsequences: false).dropFirst(2)  // "", "mock"
        guard let page = words.first, words.count <= 2 else { return nil }
        let name = words.count == 2 ? words.last.map(String.init) : nil
        let part = RegistryPart(rawValue: String(page))
        guard part != nil || (page == "registry" && name == nil) else { return nil }
        if method.equals("GET"), name == nil {
            let present = registry.snapshot.registry
            return (
                200,
                part.map { RegistryWriter.part($0, of: present) } ?? RegistryWriter.all(present)
            )
        }
        if method.equals("POST"), name == nil {
            guard bodyBytes <= body.count else {
                return (413, Self.error("the body is larger than 8 KiB; send it in parts"))
            }
            return add(body, to: part)
        }
        if method.equals("DELETE"), let part { return remove(name, from: part) }
        return (405, Self.error("use GET, POST or DELETE, the last with a list's page"))
    }

    private func add(
        _ body: UnsafeRawBufferPointer, to part: RegistryPart?
    ) -> (status: UInt16, json: [UInt8]) {
        let reader = RegistryReader(readKeyFile: nil, nowMs: clock.wallSeconds() * 1000)
        do {
            var node = try JSONDocument.parse(body, dialect: .json5)
            if let part {
                let position = node.position
                let member = JSONMember(key: part.rawValue, keyPosition: position, value: node)
                node = JSONNode(position: position, value: .object([member]))
            }
            try registry.change { (registry) throws(RegistryError) in
                try reader.merge(node, into: &registry)
            }
            return (200, Array("{}".utf8))
        } catch {
            return (400, Self.error("\(error)"))
        }
    }

    /// Takes the entry called `name` away, all of them without a name.
    private func remove(
        _ name: String?, from part: RegistryPart
    ) -> (status: UInt16, json: [UInt8]) {
        let isFound = registry.change { registry in
            switch part {
            case .teams: return Self.remove(&registry.teams) { name == nil || $0 == name }
            case .keys: return Self.remove(&registry.keys) { name == nil || $0.id == name }
            case .apps:
                if let name { return registry.apps.remove(Array(name.utf8)) }
                registry.apps = ByteTable()
            case .tokens:
                if let name {
                    guard let token = RegistryReader.tokenBytes(name) else { return false }
                    return registry.tokens.remove(token)
                }
                registry.tokens = ByteTable()
            }
            return true
        }
        return isFound || name == nil
            ? (200, Array("{}".utf8))
            : (404, Self.error("there is no such entry in \(part.rawValue)"))
    }

    private static func remove<Entry>(
        _ entries: inout [Entry], where isMeant: (Entry) -> Bool
    ) -> Bool {
        let before = entries.count
        entries.removeAll(where: isMeant)
        return entries.count < before
    }

    private static func error(_ text: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("error")
        writer.string(text)
        writer.endObject()
        return writer.bytes
    }
}
