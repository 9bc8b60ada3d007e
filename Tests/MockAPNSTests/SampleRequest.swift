@testable import MockAPNS

/// A request of a test: a good one that a case then spoils.
struct SampleRequest {
    static let token = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"

    var method = "POST"
    var path = "/3/device/" + token
    /// Names and values in order; a name may come twice.
    var headers: [(name: String, value: String)] = [
        ("apns-topic", "com.example.app"), ("apns-push-type", "alert"),
    ]
    var body = Array(#"{"aps":{"alert":"Hello"}}"#.utf8)
    /// The size that the client sent, when less of it is kept.
    var bodyBytes: Int?

    /// Replaces the header, or adds it.
    mutating func set(_ name: String, _ value: String) {
        remove(name)
        headers.append((name, value))
    }

    mutating func remove(_ name: String) { headers.removeAll { $0.name == name } }

    /// Lends the request to `body` in the form in which the gateway gets it.
    func withView<Result>(_ use: (GatewayRequest) -> Result) -> Result {
        let texts = [method, path] + headers.map(\.value)
        let whole = texts.flatMap(\.utf8) + body
        return whole.withUnsafeBytes { bytes in
            var start = 0
            func take(_ count: Int) -> UnsafeRawBufferPointer {
                defer { start += count }
                return UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
            }
            let fields = texts.map { take($0.utf8.count) }
            let content = take(body.count)
            func header(_ name: String) -> GatewayRequest.Header {
                let places = headers.indices.filter { headers[$0].name == name }
                return .init(places.first.map { fields[$0 + 2] }, count: places.count)
            }
            return use(
                GatewayRequest(
                    method: fields[0], path: fields[1], authorization: header("authorization"),
                    messageID: header("apns-id"), pushType: header("apns-push-type"),
                    topic: header("apns-topic"), priority: header("apns-priority"),
                    expiration: header("apns-expiration"),
                    collapseID: header("apns-collapse-id"), body: content,
                    bodyBytes: bodyBytes ?? body.count))
        }
    }
}

extension Gateway {
    /// A gateway that knows these keys and nothing else.
    convenience init(
        keys: [MockKey], counters: MockCounters, acceptedRequests: AcceptedRequests
    ) {
        var registry = Registry()
        registry.keys = keys.map { RegistryKey(id: $0.keyID, key: $0.key) }
        self.init(
            registry: MockRegistry(registry), counters: counters,
            acceptedRequests: acceptedRequests)
    }

    /// The answer in values that outlive the call; on a connection of its own unless one is given.
    func answerText(
        _ sample: SampleRequest, on connection: GatewayConnection? = nil, wallSeconds: Int64
    ) -> (status: UInt16, messageID: String, body: String) {
        sample.withView { request in
            let connection = connection ?? makeConnection(limitMoves: true)
            let answer = answer(request, on: connection, wallSeconds: wallSeconds)
            return (
                answer.status, String(decoding: answer.messageID, as: UTF8.self),
                String(decoding: answer.body, as: UTF8.self)
            )
        }
    }
}
