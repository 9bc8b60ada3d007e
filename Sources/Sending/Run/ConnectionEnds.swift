internal import Glibc
internal import JSON

/// Why the connections of a run ended, from `connections.ndjson`: those with the same cause
/// together.
package struct ConnectionEnds: Sendable {
    /// Connections that ended for one cause.
    package struct Group: Sendable {
        /// In words; what the server said is in it, and so untrusted.
        package var end: String
        package var connections: UInt64 = 0
        /// Requests that went out on them, and those that were answered.
        package var requests: UInt64 = 0
        package var answered: UInt64 = 0

        package init(end: String) { self.end = end }
    }

    /// A server that gives each connection a text of its own must not fill the memory.
    static let groupsMax = 1000
    /// Of a cause, so many characters are looked at.
    private static let endCharactersMax = 400

    /// The causes, the most frequent first.
    package private(set) var groups: [Group] = []
    /// The connections whose cause came after ``groupsMax`` others.
    package private(set) var others = Group(end: "")

    package init(_ groups: [Group] = []) { self.groups = groups }

    /// Reads the file; one that is not there tells of no connection, and a line that is torn of
    /// none either.
    init(file path: String) {
        guard let source = fopen(path, "re") else { return }
        defer { fclose(source) }
        var indexByEnd: [String: Int] = [:]
        var text: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(text) }
        while case let count = getline(&text, &capacity, source), count > 0, let text {
            let line = UnsafeRawBufferPointer(start: text, count: count)
            guard let node = try? JSONDocument.parse(line, dialect: .strict),
                let end = node["end"]?.asString
            else { continue }
            let key = String(end.prefix(Self.endCharactersMax))
            if let index = indexByEnd[key] {
                Self.count(node, in: &groups[index])
            } else if groups.count < Self.groupsMax {
                indexByEnd[key] = groups.count
                groups.append(Group(end: key))
                Self.count(node, in: &groups[groups.count - 1])
            } else {
                Self.count(node, in: &others)
            }
        }
        groups.sort { ($1.connections, $0.end) < ($0.connections, $1.end) }
    }

    private static func count(_ node: JSONNode, in group: inout Group) {
        group.connections += 1
        group.requests &+= UInt64(max(0, node["requests"]?.asInt ?? 0))
        group.answered &+= UInt64(max(0, node["answered"]?.asInt ?? 0))
    }
}
