import Foundation
import TestSupport
import Testing

/// The local APNs as clients see it that its authors did not write: it limits streams as Apple
/// does, and verifies the signature of their provider tokens.
@Suite(.timeLimit(.minutes(5))) struct ForeignClientTests {
    private static let rows = 200
    private static let keyID = "ABC123DEFG"
    private static let nodeIsInstalled =
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .contains { FileManager.default.isExecutableFile(atPath: $0 + "/node") }

    private let peal = PealProgram()
    private let keyFile: String
    private let mock: MockProgram
    /// A recipients file, for the digest, and its tokens alone, one on a line.
    private let recipients: String
    private let tokens: String

    init() throws {
        keyFile = peal.folder.path + "/AuthKey_\(Self.keyID).p8"
        let made = try Subprocess.openssl(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", keyFile)
        try #require(made.status == 0, "\(made.errors)")
        mock = try MockProgram(peal, "--key", keyFile)
        recipients = try Tools.makeRecipients(Self.rows, format: "csv", in: peal.folder)
        let lines = try String(contentsOfFile: recipients, encoding: .utf8).split(separator: "\n")
        let list = lines.dropFirst().map { $0.prefix(64) + "\n" }.joined()
        tokens = peal.folder.write(list, to: "tokens")
    }

    /// `tools/test` makes it, when it reaches PyPI.
    private static let python =
        ProcessInfo.processInfo.environment["PEAL_TEST_PYTHON"]
        ?? PealProgram.root + "/.build/test-python/bin/python"

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: python),
            "aioapns is not installed: Python's client is not tried"))
    func aioapnsSendsManyAtOnceAndReadsTheReasonOfABadToken() throws {
        let url = try #require(URL(string: mock.url))
        let (host, port) = try (#require(url.host), #require(url.port))

        let answer = try run([Self.python, Self.script("aioapns_send.py"), host, String(port)])

        #expect(answer["statuses"] as? [String: Int] == ["200": Self.rows])
        #expect(answer["bad"] as? [String] == ["400", "BadDeviceToken"])
        try expectEachTokenOnce(reasons: ["BadDeviceToken": 1])
    }

    @Test(.enabled(if: nodeIsInstalled, "node is not installed: its HTTP/2 client is not tried"))
    func nodeSendsManyAtOnceOverOneSession() throws {
        let answer = try run(["node", Self.script("node_send.mjs"), mock.url])

        #expect(answer["statuses"] as? [String: Int] == ["200": Self.rows])
        try expectEachTokenOnce(reasons: [:])
    }

    private static func script(_ name: String) -> String {
        PealProgram.root + "/Tests/IntegrationTests/clients/" + name
    }

    /// Runs a client, with the arguments that all have in common added, and reads what it prints.
    private func run(_ client: [String]) throws -> [String: Any] {
        // A client that waits for an answer that never comes must not hold up the tests.
        let result = try Subprocess.run(
            ["timeout", "60"] + client
                + [mock.caFile, keyFile, Self.keyID, "DEF123GHIJ", "com.example.app", tokens])
        try #require(result.status == 0, "\(result.allText)")
        return try #require(
            try JSONSerialization.jsonObject(with: Data(result.outputBytes)) as? [String: Any])
    }

    private func expectEachTokenOnce(reasons: [String: Int]) throws {
        let stats = try mock.stats()
        #expect(stats.accepted == Self.rows)
        #expect(stats.tokenCount == Self.rows)
        #expect(try stats.digest == Tools.tokenDigest(recipients))
        #expect(stats.reasons == reasons)
    }
}
