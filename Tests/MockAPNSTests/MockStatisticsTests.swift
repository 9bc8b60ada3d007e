import Crypto
import JSON
import Testing

@testable import MockAPNS

/// What is counted, and how it is shown.
struct MockStatisticsTests {
    private static let nowSeconds: Int64 = 1_772_000_000
    private let counters = MockCounters()
    private let accepted = AcceptedRequests(capacity: 3)
    private let gateway: Gateway
    private let good: SampleRequest

    init() {
        gateway = Gateway(keys: [], counters: counters, acceptedRequests: accepted)
        let header = Base64URL.encode(#"{"alg":"ES256","kid":"ABC123DEFG"}"#.utf8)
        let claims = Base64URL.encode(#"{"iss":"DEF123GHIJ","iat":1772000000}"#.utf8)
        let signature = Base64URL.encode([UInt8](repeating: 1, count: 64))
        var good = SampleRequest()
        good.set("authorization", "bearer \(header).\(claims).\(signature)")
        self.good = good
    }

    private func send(_ token: String, body: String? = nil) -> UInt16 {
        var request = good
        request.path = "/3/device/" + token
        if let body { request.body = Array(body.utf8) }
        return gateway.answerText(request, wallSeconds: Self.nowSeconds).status
    }

    private func statistics(_ workers: [MockCounters]) throws -> JSONNode {
        try JSONDocument.parse(MockStatistics(workers: workers).json(), dialect: .strict)
    }

    /// The two hashes were computed by a Python program: for each byte, exclusive or, then times
    /// 0x100000001b3 modulo 2^64, beginning with 0xcbf29ce484222325.
    @Test("the digest is the sum of FNV-1a over the tokens in lower case, of accepted requests")
    func digest() throws {
        #expect(send(SampleRequest.token) == 200)
        #expect(
            try statistics([counters])["tokens"]?["digest"]?.asString == "4dc5f7b47fd899a5")
        #expect(send(String(repeating: "AB", count: 16)) == 200)
        #expect(
            try statistics([counters])["tokens"]?["digest"]?.asString == "f22e884e9eff06ea")
        #expect(send("xyz") == 400)
        let tokens = try statistics([counters])["tokens"]
        #expect(tokens?["digest"]?.asString == "f22e884e9eff06ea")
        #expect(tokens?["count"]?.asInt == 2)
    }

    @Test("a digest is written with its leading zeros")
    func digestText() throws {
        #expect(try statistics([])["tokens"]?["digest"]?.asString == "0000000000000000")
    }

    @Test("requests, reasons and connections of all workers are summed")
    func sums() throws {
        let other = MockCounters()
        other.add(to: .requests)
        other.add(to: .badDeviceToken)
        other.add(3, to: .connectionsOpened)
        other.add(to: .connectionsClosed)
        counters.add(to: .connectionsOpened)
        #expect(send(SampleRequest.token) == 200)
        #expect(send("xyz") == 400)
        #expect(send(SampleRequest.token, body: "") == 400)
        let statistics = try statistics([counters, other])
        #expect(statistics["requests"]?.asInt == 4)
        #expect(statistics["accepted"]?.asInt == 1)
        #expect(statistics["reasons"]?.members?.map(\.key) == ["BadDeviceToken", "PayloadEmpty"])
        #expect(statistics["reasons"]?["BadDeviceToken"]?.asInt == 2)
        #expect(statistics["connections"]?.asInt == 4)
        #expect(statistics["connectionsOpen"]?.asInt == 3)
    }

    @Test("the latest accepted requests are kept, oldest first, without their provider tokens")
    func acceptedRequests() throws {
        for number in 0..<5 {
            #expect(send(SampleRequest.token, body: #"{"n":\#(number)}"#) == 200)
        }
        #expect(send(SampleRequest.token, body: "no JSON") == 400)
        let kept = try #require(
            try JSONDocument.parse(accepted.json(), dialect: .strict).elements)
        #expect(
            kept.map { $0["body"]?.asString } == [#"{"n":2}"#, #"{"n":3}"#, #"{"n":4}"#])
        #expect(kept[0]["token"]?.asString == SampleRequest.token)
        #expect(
            kept[0]["headers"]?.members?.map(\.key) == ["apns-push-type", "apns-topic"])
    }

    private func page(_ method: String, _ path: String) -> UInt16 {
        let endpoints = MockEndpoints(
            statistics: { MockStatistics(workers: []) },
            acceptedRequests: AcceptedRequests(capacity: 0),
            registry: RegistryEndpoints(registry: MockRegistry(), clock: .system))
        return Array(method.utf8).withUnsafeBytes { method in
            Array(path.utf8).withUnsafeBytes { path in
                endpoints.answer(method: method, path: path).status
            }
        }
    }

    @Test("only the pages that there are can be got, and only with GET")
    func pages() {
        #expect(page("GET", "/mock/stats") == 200)
        #expect(page("POST", "/mock/stats") == 405)
        #expect(page("GET", "/mock/statistics") == 404)
        #expect(page("GET", "/mock/") == 404)
        #expect(page("GET", "/mock/requests") == 404)  // Nothing is kept unless asked for.
    }
}
