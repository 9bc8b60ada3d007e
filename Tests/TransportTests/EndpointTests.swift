import Testing
import Transport

struct EndpointTests {
    @Test(arguments: [
        ("https://api.push.apple.com", "api.push.apple.com", 443, "api.push.apple.com"),
        ("https://api.push.apple.com:2197", "api.push.apple.com", 2197, "api.push.apple.com:2197"),
        ("HTTPS://localhost:2197/", "localhost", 2197, "localhost:2197"),
        ("https://127.0.0.1:65535", "127.0.0.1", 65535, "127.0.0.1:65535"),
        ("https://[::1]", "::1", 443, "[::1]"),
        ("https://[2001:db8::7]:8443", "2001:db8::7", 8443, "[2001:db8::7]:8443"),
    ])
    func readsAServerURL(url: String, host: String, port: Int, authority: String) throws {
        let endpoint = try Endpoint.parse(url: url)
        #expect(endpoint == Endpoint(host: host, port: UInt16(port)))
        #expect(endpoint.authority == authority)
        #expect(try Endpoint.parse(url: endpoint.description) == endpoint)
    }

    @Test(arguments: [
        "", "localhost:2197", "http://localhost", "https://", "https://:443", "https://host:",
        "https://host:0", "https://host:65536", "https://host:+1", "https://host:1/path",
        "https://ho st", "https://user@host", "https://::1", "https://[::1", "https://[::1]2197",
        "https://[127.0.0.1]", "https://[]", "https://host?query", "https://h\u{F6}st",
    ])
    func refusesAllElseAndSaysWhatToWrite(url: String) {
        let error = #expect(throws: EndpointError.self) { try Endpoint.parse(url: url) }
        #expect(error?.description.contains("write https://HOST or https://HOST:PORT") == true)
    }

    @Test(arguments: [
        ("localhost", true), ("LOCALHOST", true), ("127.0.0.1", true), ("::1", true),
        ("localhost.example.com", false), ("10.0.0.1", false), ("api.push.apple.com", false),
    ])
    func knowsLoopbackByNameAndNumber(host: String, isLoopback: Bool) {
        #expect(Endpoint(host: host, port: 1).isLoopback == isLoopback)
    }
}
