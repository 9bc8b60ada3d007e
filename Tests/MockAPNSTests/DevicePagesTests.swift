import JSON
import Testing

@testable import MockAPNS

/// The pages of the devices, without a socket.
struct DevicePagesTests {
    private let registry = DeviceRegistry()

    private func answer(
        _ method: String, _ path: String, _ body: String = "", registry: DeviceRegistry?
    ) throws -> (status: UInt16, json: JSONNode)? {
        let pages = DevicePages(registry: registry)
        let answer = Array(method.utf8).withUnsafeBytes { method in
            Array(path.utf8).withUnsafeBytes { path in
                Array(body.utf8).withUnsafeBytes { body in
                    pages.answer(method: method, path: path, body: body, nowMs: 1_800_000_000_123)
                }
            }
        }
        guard case .json(let status, let json) = answer else { return nil }
        return (status, try JSONDocument.parse(json, dialect: .strict))
    }

    private func answer(
        _ method: String, _ path: String, _ body: String = ""
    ) throws -> (status: UInt16, json: JSONNode)? {
        try answer(method, path, body, registry: registry)
    }

    @Test("a device registers, is listed, listens, and is unregistered")
    func life() throws {
        let body = #"{"topic":"com.example.app","name":"anna"}"#
        let made = try #require(try answer("POST", "/mock/devices", body))
        #expect(made.status == 201)
        let token = try #require(made.json["token"]?.asString)
        #expect(token.utf8.count == 64)
        let again = #"{"topic":"com.example.app","name":"anna","token":"\#(token)"}"#
        #expect(try answer("POST", "/mock/devices", again)?.json["token"]?.asString == token)

        let list = try #require(try answer("GET", "/mock/devices")?.json["devices"]?.elements)
        #expect(list.count == 1)
        #expect(list[0]["name"]?.asString == "anna" && list[0]["token"]?.asString == token)
        #expect(list[0]["connected"]?.asBool == false && list[0]["unregistered"] == nil)

        #expect(try answer("GET", "/mock/devices/\(token)/notifications") == nil)  // It stays open.

        let gone = try #require(try answer("DELETE", "/mock/devices/\(token)"))
        #expect(gone.status == 200)
        #expect(gone.json["unregistered"]?.asInt == 1_800_000_000_123)
        let after = try answer("GET", "/mock/devices")?.json["devices"]?.elements
        #expect(after?.first?["unregistered"]?.asInt == 1_800_000_000_123)
    }

    @Test(
        "what is wrong is said",
        arguments: [
            ("POST", "/mock/devices", "", 400, "JSON object"),
            ("POST", "/mock/devices", "[]", 400, "JSON object"),
            ("POST", "/mock/devices", "{}", 400, "topic"),
            ("POST", "/mock/devices", #"{"topic":"a b"}"#, 400, "topic"),
            ("POST", "/mock/devices", #"{"topic":7}"#, 400, "topic"),
            ("POST", "/mock/devices", #"{"topic":"a","name":"\n"}"#, 400, "name"),
            ("POST", "/mock/devices", #"{"topic":"a","token":"xyz"}"#, 400, "64"),
            ("PUT", "/mock/devices", "", 405, "POST"),
            ("GET", "/mock/devices/xyz", "", 404, "64"),
            ("GET", "/mock/devices/\(SampleRequest.token)", "", 405, "DELETE"),
            ("DELETE", "/mock/devices/\(SampleRequest.token)", "", 404, "no device"),
            ("GET", "/mock/devices/\(SampleRequest.token)/more", "", 404, "notifications"),
            ("POST", "/mock/devices/\(SampleRequest.token)/notifications", "", 405, "GET"),
        ])
    func wrong(
        method: String, path: String, body: String, status: UInt16, words: String
    ) throws {
        let answer = try #require(try answer(method, path, body))
        #expect(answer.status == status)
        #expect(answer.json["error"]?.asString?.contains(words) == true)
    }

    @Test("a token of another app is refused")
    func otherTopic() throws {
        let body = #"{"topic":"a","token":"\#(SampleRequest.token)"}"#
        #expect(try answer("POST", "/mock/devices", body)?.status == 201)
        let other = body.replacing("\"a\"", with: "\"b\"")
        #expect(try answer("POST", "/mock/devices", other)?.status == 409)
    }

    @Test("with --fast there are no devices, and that is said")
    func fast() throws {
        let refused = try #require(
            try answer("POST", "/mock/devices", #"{"topic":"a"}"#, registry: nil))
        #expect(refused.status == 404)
        #expect(refused.json["error"]?.asString?.contains("--fast") == true)
    }
}
