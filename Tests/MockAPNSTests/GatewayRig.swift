import APNS
import Crypto
import Synchronization
import TestSupport

@testable import MockAPNS

/// A local APNs with a registry and a clock that the test moves, and the keys to talk to it.
final class GatewayRig {
    /// Seconds since 1970; starts at the machine's time, because certificates are made by it.
    final class Clock: Sendable {
        private let seconds = Atomic<Int64>(wallClockSeconds())
        var now: Int64 { seconds.load(ordering: .acquiring) }
        /// Not behind the machine's time, by which a new certificate begins to be valid.
        func catchUp() { seconds.max(wallClockSeconds(), ordering: .acquiringAndReleasing) }
        func move(by amount: Int64) { seconds.add(amount, ordering: .acquiringAndReleasing) }
    }

    static let team = "DEF123GHIJ"
    static let keyID = "ABC123DEFG"

    let clock = Clock()
    let temporary = TemporaryDirectory()
    let server: MockServer
    private let keys: [String: SigningKey]

    /// - Parameters:
    ///   - keyIDs: keys to make; their public halves are files `KEYID.pem` beside the registry.
    ///   - registry: a JSON5 registry; `KEY` in it is an entry of the key that every test has.
    init(
        registry: String = "{ keys: [KEY] }", keyIDs: [String] = [], fast: Bool = false,
        threads: Int = 1
    ) throws {
        var keys: [String: SigningKey] = [:]
        for id in [Self.keyID] + keyIDs {
            let key = try SigningKey.generate()
            keys[id] = key
            temporary.write(key.verifyingKey.pem(), to: "\(id).pem")
        }
        self.keys = keys
        let clock = clock
        var options = MockOptions(
            listen: ("127.0.0.1", 0), stateDirectory: temporary.path + "/mock")
        options.registryFile = temporary.write(
            registry.replacing(
                "KEY,", with: "{ id: \"\(Self.keyID)\", file: \"\(Self.keyID).pem\" },"
            ).replacing("KEY]", with: "{ id: \"\(Self.keyID)\", file: \"\(Self.keyID).pem\" }]"),
            to: "registry.json5")
        options.clock = MockClock { clock.now }
        options.fast = fast
        options.threads = threads
        server = try MockServer.start(options)
    }

    deinit { server.stop() }

    func client(identity: CertificatePair? = nil) throws -> GatewayClient {
        try GatewayClient(server, identity: identity)
    }

    /// The value of `authorization` with a fresh token.
    func authorization(
        keyID: String = keyID, team: String = team, ageSeconds: Int64 = 0
    ) throws -> String {
        let token = try ProviderToken.make(
            key: keys[keyID]!, keyID: keyID, teamID: team, issuedAt: clock.now - ageSeconds)
        return "bearer \(token.text)"
    }

    /// A request that nothing is wrong with.
    func good(authorization: String? = nil) throws -> SampleRequest {
        var sample = SampleRequest()
        sample.set("authorization", try authorization ?? self.authorization())
        return sample
    }

    /// A provider certificate for a week, made by OpenSSL's program.
    ///
    /// - Parameters:
    ///   - topics: the extension with the topics; none without any.
    ///   - marks: the last arcs of the environment marks, 1 the sandbox and 2 production.
    func certificate(
        userID: String?, topics: [String] = [], marks: [Int] = []
    ) throws -> CertificatePair {
        var lines = ["[req]", "distinguished_name=name", "[name]", "[marked]"]
        lines += marks.map { "1.2.840.113635.100.6.3.\($0)=ASN1:NULL" }
        if !topics.isEmpty {
            lines.append("1.2.840.113635.100.6.3.6=ASN1:SEQUENCE:topics")
            lines.append("[topics]")
            for (index, topic) in topics.enumerated() {
                lines += ["t\(index)=UTF8:\(topic)", "k\(index)=SEQUENCE:kinds"]
            }
            lines += ["[kinds]", "kind=UTF8:app"]
        }
        let configuration = temporary.write(
            lines.joined(separator: "\n") + "\n", to: "certificate.cnf")
        let subject = (userID.map { "/UID=\($0)" } ?? "") + "/CN=Apple Push Services"
        let paths = (temporary.path + "/client.pem", temporary.path + "/client-key.pem")
        let result = try Subprocess.run([
            "openssl",
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "7", "-subj", subject, "-config", configuration, "-extensions", "marked",
            "-out", paths.0, "-keyout", paths.1,
        ])
        guard result.status == 0 else {
            throw GatewayClient.Failure(description: result.errors)
        }
        clock.catchUp()
        return CertificatePair(
            certificatePEM: temporary.read("client.pem") ?? [],
            keyPEM: temporary.read("client-key.pem") ?? [])
    }
}
