internal import CNghttp2

/// The header list of a session's requests, laid out once: a request only points at its own values.
///
/// Names and values stand in memory that outlives every request, or, for a request's own values, is
/// borrowed while the request is serialised; so nghttp2 copies nothing.
final class RequestFields {
    /// The longest path of a request after the prefix.
    static let pathBytesMax = 1_024

    private typealias Text = UnsafeMutableBufferPointer<UInt8>

    private let list: UnsafeMutablePointer<nghttp2_nv>  // owned
    private let perRequestNames: [Text]
    private var texts: [Text]  // owned: every text but the authorization's value
    private let path: UnsafeMutablePointer<UInt8>  // owned: the prefix and room for the rest
    private let prefixBytes: Int
    private let fixedCount: Int
    private let fixedBytes: Int
    private static let pathIndex = 3
    private let authorizationName: Text
    private var authorization: Text?  // owned

    init(_ template: RequestTemplate) {
        let prefix = Array(template.pathPrefix.utf8)
        path = .allocate(capacity: prefix.count + Self.pathBytesMax)
        path.initialize(repeating: 0, count: prefix.count + Self.pathBytesMax)
        for (index, byte) in prefix.enumerated() { path[index] = byte }
        prefixBytes = prefix.count

        let fixed =
            [
                (":method", "POST"), (":scheme", template.scheme),
                (":authority", template.authority), (":path", ""),
            ] + template.headers.map { ($0.0.lowercased(), $0.1) }
        fixedCount = fixed.count
        list = .allocate(capacity: fixed.count + 1 + template.perRequestHeaders.count)
        var kept: [Text] = []
        for (index, field) in fixed.enumerated() {
            let name = Self.text(field.0)
            let value = Self.text(field.1)
            kept += [name, value]
            let mayIndex = index != Self.pathIndex
            list[index] = Self.field(name, UnsafeRawBufferPointer(value), mayIndex: mayIndex)
        }
        perRequestNames = template.perRequestHeaders.map { Self.text($0.lowercased()) }
        authorizationName = Self.text("authorization")
        texts = kept + perRequestNames + [authorizationName]
        fixedBytes = kept.reduce(0) { $0 + $1.count } + kept.count / 2 * Self.overheadBytes
        authorization = template.authorization.map(Self.text)
    }

    deinit {
        list.deallocate()
        path.deallocate()
        for text in texts { text.deallocate() }
        authorization?.deallocate()
    }

    /// Takes a new value for `authorization`, from the next request on.
    func replaceAuthorization(_ value: String) {
        authorization?.deallocate()
        authorization = Self.text(value)
    }

    /// Points the list at one request's path and values, and calls `body` with it.
    ///
    /// *Ownership*: everything is valid while `body` runs.
    func withList<Result>(
        path end: UnsafeRawBufferPointer, values: UnsafeBufferPointer<UnsafeRawBufferPointer>,
        _ body: (UnsafePointer<nghttp2_nv>, Int) -> Result
    ) -> Result {
        precondition(end.count <= Self.pathBytesMax, "the path is too long")
        precondition(values.count == perRequestNames.count, "one value for each named header")
        if let source = end.baseAddress, !end.isEmpty {
            UnsafeMutableRawPointer(path + prefixBytes)
                .copyMemory(from: source, byteCount: end.count)
        }
        list[Self.pathIndex].value = path
        list[Self.pathIndex].valuelen = prefixBytes + end.count
        var count = fixedCount
        if let authorization {
            let value = UnsafeRawBufferPointer(authorization)
            list[count] = Self.field(authorizationName, value, mayIndex: false)
            count += 1
        }
        for index in 0..<values.count where !values[index].isEmpty {
            list[count] = Self.field(perRequestNames[index], values[index], mayIndex: false)
            count += 1
        }
        return body(list, count)
    }

    /// The most bytes that the header block of such a request can take.
    func blockBytesMax(valueBytes: Int) -> Int {
        fixedBytes + prefixBytes + Self.pathBytesMax + (authorization?.count ?? 0)
            + authorizationName.count + valueBytes
            + perRequestNames.reduce(Self.overheadBytes) { $0 + $1.count + Self.overheadBytes }
    }

    /// A literal field's prefix and two lengths (RFC 7541, section 6.2), and what a table size
    /// update at the front of a block takes, generously.
    private static let overheadBytes = 16

    /// Memory of its own for a text, at least one byte so that it has an address.
    private static func text(_ string: String) -> Text {
        let bytes = Array(string.utf8)
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, bytes.count))
        memory.initialize(to: 0)
        memory.update(from: bytes, count: bytes.count)
        return Text(start: memory, count: bytes.count)
    }

    private static func field(
        _ name: Text, _ value: UnsafeRawBufferPointer, mayIndex: Bool
    ) -> nghttp2_nv {
        var flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
        if !mayIndex { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
        // nghttp2 takes mutable pointers and, with the flags above, only reads through them.
        let bytes = UnsafeMutableRawPointer(mutating: value.baseAddress)
        return nghttp2_nv(
            name: name.baseAddress, value: bytes?.assumingMemoryBound(to: UInt8.self),
            namelen: name.count, valuelen: value.count, flags: UInt8(flags))
    }
}
