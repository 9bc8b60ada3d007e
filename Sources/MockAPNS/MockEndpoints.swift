internal import JSON

/// The local APNs' own pages below `/mock/`, beside the provider API on the same port.
///
/// *Thread:* any. These pages are for people and tests: they may allocate.
struct MockEndpoints: Sendable {
    let statistics: @Sendable () -> MockStatistics
    let acceptedRequests: AcceptedRequests
    let registry: RegistryEndpoints

    /// Whether the path is one of these pages', known or not.
    static func owns(path: UnsafeRawBufferPointer) -> Bool {
        path.starts(with: "/mock/") || path.equals("/mock")
    }

    /// The status and the JSON to answer.
    ///
    /// - Parameter bodyBytes: the body's true size, of which `body` may hold only the beginning.
    func answer(
        method: UnsafeRawBufferPointer, path: UnsafeRawBufferPointer,
        body: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        bodyBytes: Int = 0
    ) -> (status: UInt16, json: [UInt8]) {
        if let answer = registry.answer(
            method: method, path: path, body: body, bodyBytes: bodyBytes)
        {
            return answer
        }
        let isStatistics = path.equals("/mock/stats")
        guard isStatistics || path.equals("/mock/requests") else {
            return (404, Self.error("no such page: there are " + Self.pages))
        }
        guard method.equals("GET") else { return (405, Self.error("use GET")) }
        if isStatistics { return (200, statistics().json()) }
        guard acceptedRequests.isOn else {
            return (404, Self.error("this local APNs was not started to keep requests"))
        }
        return (200, acceptedRequests.json())
    }

    /// What there is to see.
    private static let pages =
        "/mock/stats, /mock/requests, /mock/registry, /mock/teams, /mock/keys, /mock/apps and "
        + "/mock/tokens"

    private static func error(_ text: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("error")
        writer.string(text)
        writer.endObject()
        return writer.bytes
    }
}
