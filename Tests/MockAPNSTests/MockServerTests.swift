import APNS
import Crypto
import Glibc
import JSON
import TestSupport
import Testing

@testable import MockAPNS

/// The local APNs over real sockets, seen by clients that this project did not write.
@Suite(.timeLimit(.minutes(5)))
struct MockServerTests {
    private let temporary = TemporaryDirectory()
    private let key: SigningKey
    private let authorization: String

    init() throws {
        key = try SigningKey.generate()
        let token = try ProviderToken.make(
            key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ", issuedAt: wallClockSeconds())
        authorization = "authorization: bearer \(token.text)"
    }

    private func options() -> MockOptions {
        var options = MockOptions(
            listen: ("127.0.0.1", 0), stateDirectory: temporary.path + "/mock")
        options.keys = [MockKey(keyID: "ABC123DEFG", key: key.verifyingKey)]
        return options
    }

    private func statistics(_ server: MockServer) throws -> JSONNode {
        try JSONDocument.parse(server.statsJSON(), dialect: .strict)
    }

    /// Sends one push with curl, which verifies the server against `ca.pem`; extra arguments last.
    private func curl(
        _ server: MockServer, token: String = SampleRequest.token, body: String = "{}",
        sendsProviderToken: Bool = true, _ more: String...
    ) throws -> (status: Int32, headers: [Substring], body: String) {
        var arguments = [
            "curl", "--silent", "--show-error", "--http2", "--cacert", server.caFile, "--include",
            "--data-binary", "@-", "--header", "apns-topic: com.example.app",
            "--header", "apns-push-type: alert", "https://\(server.address)/3/device/\(token)",
        ]
        if sendsProviderToken { arguments += ["--header", authorization] }
        let result = try Subprocess.run(arguments + more, input: Array(body.utf8))
        let parts = result.output.split(separator: "\r\n\r\n", maxSplits: 1)
        return (
            result.status, parts.first?.split(separator: "\r\n") ?? [],
            parts.count > 1 ? String(parts[1]) : ""
        )
    }

    private func get(_ server: MockServer, _ path: String) throws -> JSONNode {
        let result = try Subprocess.run([
            "curl", "--silent", "--cacert", server.caFile, "https://\(server.address)\(path)",
        ])
        return try JSONDocument.parse(Array(result.output.utf8), dialect: .strict)
    }

    @Test("curl: a good push is answered 200 with its own id and an empty body")
    func accepted() throws {
        let server = try MockServer.start(options())
        defer { server.stop() }
        let id = "123e4567-e89b-12d3-a456-426655440000"
        let answer = try curl(server, "--header", "apns-id: \(id)")
        #expect(answer.headers.first == "HTTP/2 200 ")
        #expect(answer.headers.contains("apns-id: \(id)"))
        #expect(!answer.headers.contains { $0.hasPrefix("content-type") })
        #expect(answer.body == "")
    }

    @Test("curl: refusals have Apple's status, a JSON reason, and an id")
    func refused() throws {
        let server = try MockServer.start(options())
        defer { server.stop() }
        let long = "{\"a\":\"" + String(repeating: "x", count: 20_000) + "\"}"
        let answers = [
            ("400", "BadDeviceToken", try curl(server, token: "abc")),
            ("403", "MissingProviderToken", try curl(server, sendsProviderToken: false)),
            ("413", "PayloadTooLarge", try curl(server, body: long)),
            ("405", "MethodNotAllowed", try curl(server, "--request", "PUT")),
        ]
        for (status, reason, answer) in answers {
            #expect(answer.headers.first == "HTTP/2 \(status) ")
            #expect(answer.headers.contains("content-type: application/json"))
            #expect(answer.headers.contains { $0.hasPrefix("apns-id: ") && $0.count == 45 })
            #expect(answer.body == "{\"reason\":\"\(reason)\"}")
        }
        let reasons = try get(server, "/mock/stats")["reasons"]?.members
        #expect(Set(reasons?.map(\.key) ?? []) == Set(answers.map(\.1)))
    }

    @Test("a key that the server was not given is refused over the wire")
    func unknownKey() throws {
        var options = options()
        options.keys = [
            MockKey(keyID: "ABC123DEFG", key: try SigningKey.generate().verifyingKey)
        ]
        let server = try MockServer.start(options)
        defer { server.stop() }
        #expect(try curl(server).body == #"{"reason":"InvalidProviderToken"}"#)
    }

    @Test("curl reads the statistics, and the bodies that arrived where they are kept")
    func pages() throws {
        var options = options()
        options.recordsBodies = 5
        let server = try MockServer.start(options)
        defer { server.stop() }
        for number in 1...5 {
            let answer = try curl(server, body: "{\"aps\":{\"badge\":\(number)}}")
            #expect(answer.headers.first == "HTTP/2 200 ")
        }
        #expect(
            try get(server, "/mock/requests").elements?.map { $0["body"]?.asString }
                == (1...5).map { "{\"aps\":{\"badge\":\($0)}}" })
        let statistics = try get(server, "/mock/stats")
        #expect(statistics["accepted"]?.asInt == 5)
        #expect(statistics["requests"]?.asInt == 5)
        #expect(statistics["connections"]?.asInt == 7)  // One each for five pushes and two pages.
        #expect(statistics["connectionsOpen"]?.asInt == 1)
    }

    @Test("curl: TLS 1.2 and 1.3 both work", arguments: ["1.2", "1.3"])
    func tlsVersions(version: String) throws {
        let server = try MockServer.start(options())
        defer { server.stop() }
        let answer = try curl(server, "--tlsv\(version)", "--tls-max", version)
        #expect(answer.headers.first == "HTTP/2 200 ")
    }

    @Test("curl: a client that offers only HTTP/1.1 fails in the handshake")
    func onlyHTTP1() throws {
        let server = try MockServer.start(options())
        defer { server.stop() }
        #expect(try curl(server, "--http1.1").status == 35)  // curl(1): SSL connect error.
        #expect(try get(server, "/mock/stats")["handshakesFailed"]?.asInt == 1)
    }

    /// What a client of HTTP/2 begins with: its preface and an empty SETTINGS (RFC 9113 section
    /// 3.4).
    private let preface =
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

    /// A client without ALPN, which sends its standard input and prints what comes back until the
    /// server closes.
    private func bareClient(_ server: MockServer) -> [String] {
        [
            "openssl", "s_client", "-quiet", "-verify_return_error", "-CAfile", server.caFile,
            "-connect", "\(server.address)",
        ]
    }

    @Test("openssl: a client without ALPN is served, also when its GOAWAY comes right behind")
    func withoutALPN() throws {
        let server = try MockServer.start(options())
        defer { server.stop() }
        // RFC 7541: GET and https by index, then authority and path as literals without indexing.
        var block: [UInt8] = [0x82, 0x87]
        for (index, text) in [(0x01, "localhost"), (0x04, "/mock/stats")] as [(UInt8, String)] {
            block += [index, UInt8(text.utf8.count)] + Array(text.utf8)
        }
        let request = [0, 0, UInt8(block.count), 1, 0x05, 0, 0, 0, 1] + block
        // Its last stream is the client's own: lesson B09.
        let goAway: [UInt8] = [0, 0, 8, 7, 0, 0, 0, 0, 0] + [0, 0, 0, 1] + [0, 0, 0, 0]
        let output = try Subprocess.run(bareClient(server), input: preface + request + goAway)
            .output
        #expect(Array(output.utf8.prefix(5)) == [0, 0, 30, 4, 0])  // SETTINGS with five entries.
        #expect(output.contains("\"accepted\":0"))
    }

    @Test("nghttp reads the real service's settings; with fast larger windows and all streams")
    func settings() throws {
        for (isFast, window, streams) in [(false, 65_535, 1), (true, 1_048_576, 1000)] {
            var options = options()
            options.fast = isFast
            let server = try MockServer.start(options)
            defer { server.stop() }
            let result = try Subprocess.run([
                "nghttp", "--verbose", "--no-verify-peer", "https://\(server.address)/mock/stats",
            ])
            #expect(result.output.contains("[SETTINGS_HEADER_TABLE_SIZE(0x01):4096]"))
            #expect(result.output.contains("[SETTINGS_MAX_CONCURRENT_STREAMS(0x03):\(streams)]"))
            #expect(result.output.contains("[SETTINGS_INITIAL_WINDOW_SIZE(0x04):\(window)]"))
            #expect(result.output.contains("[SETTINGS_MAX_FRAME_SIZE(0x05):16384]"))
            #expect(result.output.contains("[SETTINGS_MAX_HEADER_LIST_SIZE(0x06):8000]"))
            #expect(result.output.contains("\"accepted\":0"))
        }
    }

    @Test("h2load: thousands of pushes over several connections are all accepted and counted")
    func load() throws {
        var options = options()
        options.threads = 2
        options.fast = true
        let server = try MockServer.start(options)
        defer { server.stop() }
        let body = temporary.write(#"{"aps":{"alert":"Hello"}}"#, to: "body")
        let result = try Subprocess.run([
            "h2load", "--requests=5000", "--clients=4", "--threads=1",
            "--max-concurrent-streams=100", "--data=\(body)",
            "--header=apns-topic: com.example.app", "--header=\(authorization)",
            "https://\(server.address)/3/device/\(SampleRequest.token)",
        ])
        #expect(result.output.contains("5000 succeeded, 0 failed, 0 errored, 0 timeout"))
        #expect(result.output.contains("status codes: 5000 2xx, 0 3xx, 0 4xx, 0 5xx"))
        let statistics = try statistics(server)
        #expect(statistics["accepted"]?.asInt == 5000)
        // 5,000 times the token's hash, see the tests of the statistics.
        let digest = 0x4dc5_f7b4_7fd8_99a5 as UInt64 &* 5000
        #expect(statistics["tokens"]?["digest"]?.asString == TokenDigest.text(digest))
        let perWorker = server.shared.counters.map { $0.value(of: .connectionsOpened) }
        #expect(perWorker == [2, 2])  // Dealt out in turn.
    }

    @Test("after stop nobody listens, the counters stay, and a second stop does nothing")
    func stop() throws {
        let server = try MockServer.start(options())
        #expect(try curl(server).headers.first == "HTTP/2 200 ")
        server.stop()
        server.stop()
        #expect(try curl(server).status == 7)  // curl(1): failed to connect.
        #expect(try statistics(server)["accepted"]?.asInt == 1)
    }

    @Test("stop tells open clients so in a GOAWAY, in Apple's words")
    func goodbye() async throws {
        let server = try MockServer.start(options())
        let client = try BackgroundProcess(
            ["sh", "-c", "exec \"$@\" >&2", "sh"] + bareClient(server),
            inputFile: temporary.write(preface, to: "preface"))
        while server.shared.counters[0].value(of: .connectionsOpened) == 0 { await Task.yield() }
        server.stop()
        #expect(client.wait().errors.contains(#"{"reason":"Shutdown"}"#))
    }

    @Test("a port that is taken is named, with what to do")
    func portInUse() throws {
        let server = try MockServer.start(options())
        defer { server.stop() }
        var options = options()
        options.listen.port = server.port
        let error = #expect(throws: MockError.self) { try MockServer.start(options) }
        let text = try #require(error).description
        #expect(text.contains("cannot listen on 127.0.0.1:\(server.port)"))
        #expect(text.contains("--listen"))
    }

    @Test(
        "an address that is none, or that others can reach, is refused",
        arguments: ["0.0.0.0", "::", "10.0.0.1", "example.com", "", "[::1]"])
    func badAddress(host: String) {
        var options = options()
        options.listen.host = host
        #expect(throws: MockError.self) { try MockServer.start(options) }
    }

    @Test("localhost and ::1 are served too", arguments: ["localhost", "::1"])
    func otherLocalNames(host: String) throws {
        var options = options()
        options.listen.host = host
        let server = try MockServer.start(options)
        defer { server.stop() }
        #expect(try curl(server).headers.first == "HTTP/2 200 ")
    }

    @Test("a number of threads out of range is refused", arguments: [-1, 0, 65])
    func badThreads(threads: Int) {
        var options = options()
        options.threads = threads
        #expect(throws: MockError.self) { try MockServer.start(options) }
    }
}
