import JSON
import TestSupport
import Testing

@testable import MockAPNS

/// The registry: its file, its pages, and who sees a change when.
@Suite(.timeLimit(.minutes(5)))
struct RegistryTests {
    private let token = String(repeating: "ab", count: 32)

    /// The error that this file causes, without the file's name.
    private func fault(_ text: String) throws -> String {
        let folder = TemporaryDirectory()
        let file = folder.write(text, to: "registry.json5")
        let error = #expect(throws: MockError.self) {
            _ = try RegistryFile.registry(file: file, keys: [], clock: .system)
        }
        let message = try #require(error).description
        let start = "the registry \(file):"
        #expect(message.hasPrefix(start))
        return String(message.dropFirst(start.count))
    }

    @Test(
        "a fault in the file is told with its place and what to do",
        arguments: [
            (
                "{\n  keyz: [],\n}",
                "2:3: \"keyz\" is not known for a registry: did you mean \"keys\"?"
            ),
            (
                "{ environment: 'prodction' }",
                "1:16: \"environment\" is unknown: \"prodction\"; did you mean"
            ),
            ("{ apps: [{ team: 'DEF123GHIJ' }] }", "1:10: \"topic\" is missing; add it"),
            ("{ apps: [{ topic: 5 }] }", "1:19: \"topic\" is to be text in quotes"),
            ("{ tokens: [{ token: 'xyz' }] }", "1:21: \"token\" is no device token"),
            (
                "{ tokens: { token: 'abab', since: 5 } }",
                "1:28: \"since\" is not known for a device"
            ),
            ("{ keys: [{ id: 'short', publicKey: 'x' }] }", "1:16: \"short\" is no id"),
            ("{ keys: [{ id: 'ABC123DEFG' }] }", "1:10: \"publicKey\" is missing"),
            ("{ keys: [{ id: 'ABC123DEFG', publicKey: 'x' }] }", "1:41: \"publicKey\" is no key"),
            ("{ keys: [{ id: 'ABC123DEFG', file: 'none' }] }", "1:36: \"file\" cannot read "),
            ("{ inferences: { streamsMax: 0 } }", "1:29: \"streamsMax\" is to be a whole number"),
            (
                "{ inferences: { topicMismatchReason: 'BadTopics' } }",
                "1:38: \"topicMismatchReason\" is no reason of APNs: \"BadTopics\"; did you mean \"BadTopic\"?"
            ),
            ("[]", "1:1: a registry is an object { … }, and not an array"),
            ("{ apps: [ }", "1:11: "),
        ])
    func faults(text: String, message: String) throws {
        let fault = try fault(text)
        #expect(fault.hasPrefix(message), "\(fault)")
    }

    @Test("a registry in the state folder is used unless another one is named")
    func ownFile() throws {
        let folder = TemporaryDirectory()
        folder.write("{ environment: 'sandbox' }", to: "registry.json5")
        var options = MockOptions(listen: ("127.0.0.1", 0), stateDirectory: folder.path)
        func environment() throws -> PushEnvironment {
            let server = try MockServer.start(options)
            defer { server.stop() }
            return server.shared.registry.snapshot.registry.environment
        }
        #expect(try environment() == .sandbox)
        options.registryFile = folder.write("{}", to: "other.json5")
        #expect(try environment() == .production)
    }

    @Test("a file that is not there is named")
    func noFile() {
        let error = #expect(throws: MockError.self) {
            _ = try RegistryFile.registry(file: "/no/such", keys: [], clock: .system)
        }
        #expect(error?.description.contains("cannot read /no/such: No such file") == true)
    }

    @Test("every inference can be written, and is shown as it was written")
    func inferences() throws {
        var registry = Registry()
        let text = GatewayInferences.fields.map { name, field in
            switch field {
            case .truth: "\(name): true"
            case .number: "\(name): 77"
            case .reason: "\(name): \"Shutdown\""
            }
        }.joined(separator: ", ")
        let node = try JSONDocument.parse(
            Array("{ inferences: { \(text) } }".utf8), dialect: .json5)
        try RegistryReader(readKeyFile: nil, nowMs: 0).merge(node, into: &registry)
        let shown = try JSONDocument.parse(RegistryWriter.all(registry), dialect: .strict)
        for (name, field) in GatewayInferences.fields {
            let value = try #require(shown["inferences"]?[name])
            switch field {
            case .truth: #expect(value.asBool == true)
            case .number: #expect(value.asInt == 77)
            case .reason: #expect(value.asString == "Shutdown")
            }
        }
        // And no point is without a name.
        #expect(
            shown["inferences"]?.members?.count
                == Mirror(reflecting: registry.inferences).children.count)
    }

    // MARK: Pages

    private func ask(
        _ client: GatewayClient, _ method: String, _ path: String, _ body: String = ""
    ) throws -> (status: String, body: String) {
        let request = SampleRequest(
            method: method, path: path, headers: [], body: Array(body.utf8))
        let answer = try client.exchange(request)
        return (answer.status, answer.body)
    }

    @Test("a change is seen by open connections of every thread from the next request on")
    func changes() throws {
        let rig = try GatewayRig(threads: 2)
        let clients = try (0..<4).map { _ in try rig.client() }
        var request = try rig.good()
        request.path = "/3/device/" + token
        func expect(_ status: String, _ place: SourceLocation = #_sourceLocation) throws {
            for client in clients {
                let answer = try client.exchange(request)
                #expect(answer.status == status, sourceLocation: place)
            }
        }
        try expect("200")
        let now = rig.clock.now * 1000
        let dead = "{ token: \"\(token.uppercased())\", unregisteredSince: \"now\" }"
        #expect(try ask(clients[0], "POST", "/mock/tokens", dead) == ("200", "{}"))
        try expect("410")
        #expect(
            try ask(clients[3], "GET", "/mock/tokens").body
                == #"[{"token":"\#(token)","unregisteredSince":\#(now)}]"#)
        #expect(try ask(clients[3], "DELETE", "/mock/tokens/\(token)") == ("200", "{}"))
        #expect(try ask(clients[3], "DELETE", "/mock/tokens/\(token)").status == "404")
        try expect("200")
        #expect(
            try ask(clients[1], "POST", "/mock/registry", "{ unknownTokens: 'refuse' }").status
                == "200")
        try expect("400")
        #expect(
            try ask(clients[1], "POST", "/mock/tokens", "[{ token: \"\(token)\" }]").status == "200"
        )
        try expect("200")
        #expect(
            try ask(clients[2], "POST", "/mock/apps", "{ topic: 'com.example.other' }").status
                == "200")
        try expect("400")
        #expect(try ask(clients[2], "DELETE", "/mock/apps").status == "200")
        try expect("200")
        #expect(try ask(clients[2], "POST", "/mock/teams", "['OTHERTEAM0']").status == "200")
        try expect("403")
    }

    @Test("a key can be added and taken away over HTTP; a new one makes signatures count")
    func keys() throws {
        let rig = try GatewayRig(registry: "{}", keyIDs: ["OTHERKEY00"])
        let client = try rig.client()
        let request = try rig.good()
        #expect(try client.exchange(request).status == "200")
        func entry(_ id: String) -> String {
            let pem = String(decoding: rig.temporary.read("\(id).pem") ?? [], as: UTF8.self)
            return "{ id: \"\(id)\", publicKey: \"\(pem.replacing("\n", with: "\\n"))\" }"
        }
        #expect(try ask(client, "POST", "/mock/keys", entry("OTHERKEY00")) == ("200", "{}"))
        #expect(try client.exchange(request).body == #"{"reason":"InvalidProviderToken"}"#)
        #expect(try ask(client, "POST", "/mock/keys", entry(GatewayRig.keyID)) == ("200", "{}"))
        #expect(try client.exchange(request).status == "200")
        #expect(
            try ask(client, "GET", "/mock/keys").body
                == #"[{"id":"OTHERKEY00"},{"id":"ABC123DEFG"}]"#)
        #expect(try ask(client, "DELETE", "/mock/keys/ABC123DEFG").status == "200")
        #expect(try client.exchange(request).status == "403")
    }

    @Test("a bad change is refused as a whole, with its place")
    func badChanges() throws {
        let rig = try GatewayRig()
        let client = try rig.client()
        let half = "[{ token: \"\(token)\" }, { token: \"x\" }]"
        let answer = try ask(client, "POST", "/mock/tokens", half)
        #expect(answer.status == "400")
        #expect(answer.body.contains("1:\(half.utf8.count - 5): "))
        #expect(try ask(client, "GET", "/mock/tokens").body == "[]")
        let file = "{ id: \"ABC123DEFG\", file: \"/etc/hostname\" }"
        #expect(try ask(client, "POST", "/mock/keys", file).body.contains("publicKey"))
        let long = "[" + String(repeating: " ", count: 9000) + "]"
        #expect(try ask(client, "POST", "/mock/tokens", long).status == "413")
        #expect(try ask(client, "PUT", "/mock/tokens").status == "405")
        #expect(try ask(client, "GET", "/mock/tokens/a/b").status == "404")
        #expect(try ask(client, "DELETE", "/mock/registry").status == "405")
    }

    @Test("a table finds, replaces and forgets as a dictionary does")
    func byteTable() {
        var random = SeededGenerator()
        var table = ByteTable<Int>()
        var expected: [[UInt8]: Int] = [:]
        for step in 0..<5_000 {
            let key = [
                UInt8.random(in: 0...40, using: &random), UInt8.random(in: 0...9, using: &random),
            ]
            if Bool.random(using: &random) {
                table.set(key, to: step)
                expected[key] = step
            } else {
                #expect(table.remove(key) == (expected.removeValue(forKey: key) != nil))
            }
        }
        #expect(table.count == expected.count)
        #expect(table.sorted.allSatisfy { expected[$0.key] == $0.value })
        #expect(expected.allSatisfy { table.value(for: $0.key) == $0.value })
    }
}
