import Foundation
import TestSupport
import Testing

/// Keys and certificates as people have them, through the program, to a local APNs in a process of
/// its own; lessons B56, B58, B60, B62 and B63.
@Suite(.timeLimit(.minutes(5))) struct CredentialTests {
    private let peal = PealProgram()
    private static let passphrase = "correct-horse-battery"

    /// Runs Peal with variables of the environment beside its own.
    private func run(
        _ arguments: [String], _ variables: [String: String] = [:]
    ) throws -> Subprocess.Result {
        try Subprocess.run(
            [PealProgram.binary] + arguments, in: peal.folder.path,
            environment: peal.environment.merging(variables) { $1 })
    }

    private var secret: [String: String] { ["P12_PASSPHRASE": Self.passphrase] }

    /// A campaign of three rows for `push.p12`, beside its folder.
    private func campaign(_ changes: [String: String] = [:]) throws -> String {
        let rows = (1...3).map { String(repeating: "0\($0)", count: 32) }.joined(separator: "\n")
        return try peal.campaign(
            recipients: "token\n\(rows)\n".utf8,
            changes: [
                "credentials": "{ identity: '../push.p12', passphraseEnv: 'P12_PASSPHRASE' }",
                "environment": "'production'", "payload": "{ aps: { alert: 'Hello' } }",
            ].merging(changes) { $1 })
    }

    private func send(_ campaign: String, to mock: MockProgram) throws -> Subprocess.Result {
        try run(["send", campaign, "--server", mock.url, "--ca-file", mock.caFile], secret)
    }

    /// Nothing that a run leaves behind, and nothing on the screen, holds the passphrase.
    private func expectNoPassphrase(_ result: Subprocess.Result) throws {
        #expect(!result.allText.contains(Self.passphrase))
        let found = try Subprocess.run([
            "grep", "-r", "-l", Self.passphrase, peal.folder.path,
        ])
        #expect(found.output.isEmpty, "\(found.output)")
    }

    // MARK: Certificates

    @Test func aCertificateFromKeychainAccessSendsWithoutProviderTokens() throws {
        let certificate = try TestCertificate(in: peal.folder)
        try certificate.exportP12(
            "push.p12", passphrase: Self.passphrase, TestCertificate.keychainCiphers)
        // A server that knows a key refuses every token but that key's: here none comes.
        _ = try peal.run("auth", PealProgram.sample("hello"))
        let key = peal.folder.path + "/state/peal/development/AuthKey_PEALDEV001.p8"
        let mock = try MockProgram(peal, "--key", key)

        let result = try send(try campaign(), to: mock)

        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": 3])
        #expect(try mock.stats().accepted == 3)
        try expectNoPassphrase(result)
    }

    @Test func aCertificateInPEMSendsToTheLocalAPNsInTheSameProcess() throws {
        let certificate = try TestCertificate(in: peal.folder, key: .ec)
        peal.folder.write(certificate.certificatePEM + certificate.keyPEM, to: "push.p12")
        let campaign = try campaign(["credentials": "{ identity: '../push.p12' }"])
        let result = try peal.run("send", campaign, "--mock")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": 3])
    }

    @Test func anotherAppsCertificateIsRefusedBeforeAnythingIsSent() throws {
        let certificate = try TestCertificate(in: peal.folder)
        try certificate.exportP12("push.p12", passphrase: Self.passphrase)
        let mock = try MockProgram(peal)
        let result = try send(try campaign(["topic": "'com.example.other'"]), to: mock)
        #expect(result.status == 2)
        #expect(result.errors.contains("topics \"com.example.app\", \"com.example.app.voip\""))
        #expect(result.errors.contains("correct topic"))
        #expect(try mock.stats().accepted == 0)
    }

    @Test func anExpiredCertificateIsRefusedAndDescribed() throws {
        let certificate = try TestCertificate(in: peal.folder, days: -400 ... -35)
        let file = try certificate.exportP12("push.p12", passphrase: Self.passphrase)
        let campaign = try campaign()
        for command in ["send", "check"] {
            let result = try run([command, campaign], secret)
            #expect(result.status == 2)
            #expect(result.errors.contains("push.p12: the certificate expired on 20"))
            #expect(result.errors.contains("make a new one on Apple's page"))
        }
        let auth = try run(["auth", file, "--passphrase-env", "P12_PASSPHRASE"], secret)
        #expect(auth.status == 2)
        #expect(auth.errors.contains("Days left:   0"))
        #expect(auth.errors.contains("the certificate expired on 20"))
    }

    /// Only the server can know that a certificate is no push certificate, or was made for the
    /// other service; it says so with GOAWAY.
    @Test(arguments: [
        ([String](), [Int](), "/CN=somebody", "BadCertificate"),
        (["com.example.app"], [1], "/UID=com.example.app", "BadCertificateEnvironment"),
    ])
    func whatTheServerSaysOfTheCertificateIsShown(
        topics: [String], marks: [Int], subject: String, reason: String
    ) throws {
        let certificate = try TestCertificate(
            in: peal.folder, subject: subject, topics: topics, marks: marks)
        try certificate.exportP12("push.p12", passphrase: Self.passphrase)
        let mock = try MockProgram(peal)  // production, as it is without a registry
        let result = try send(try campaign(["environment": "'sandbox'"]), to: mock)
        #expect(result.status == 3, "\(result.errors)")
        #expect(result.errors.contains("GOAWAY"))
        #expect(result.errors.contains(": \(reason)"))
        #expect(result.errors.contains("peal auth says what it is for"))
        #expect(try mock.stats().accepted == 0)
    }

    @Test func theEndOfACertificateIsAnnouncedByEveryCommand() throws {
        let certificate = try TestCertificate(in: peal.folder, days: -1...20)
        try certificate.exportP12("push.p12", passphrase: Self.passphrase)
        let campaign = try campaign()
        for arguments in [
            ["check", campaign], ["check", campaign, "--json"],
            ["send", campaign, "--mock", "--quiet"], ["auth", campaign],
        ] {
            let result = try run(arguments, secret)
            #expect(result.status == 0, "\(arguments): \(result.errors)")
            // 20 days from when openssl made it: now some moments less.
            #expect(
                result.errors.contains("expires in 19 days")
                    || result.errors.contains("expires in 20 days"), "\(result.errors)")
            #expect(!result.output.contains("expires in"))
        }
    }

    @Test func authDescribesACertificate() throws {
        let certificate = try TestCertificate(in: peal.folder)
        let above = try TestCertificate(in: peal.folder, name: "above", subject: "/CN=Above")
        // The content decides, never the file's name (B58).
        let file = try certificate.exportP12(
            "identity.txt", passphrase: Self.passphrase, ["-certfile", above.certificateFile])
        let result = try run(["auth", file, "--passphrase-env", "P12_PASSPHRASE"], secret)
        #expect(result.status == 0, "\(result.errors)")
        for line in [
            "identity.txt (PKCS#12)", "Apple Push Services: com.example.app", "Issuer: ",
            "Chain:       CN=Above", "Topics:      com.example.app, com.example.app.voip",
            "Environment: sandbox and production", "RSA, 2048 bits", "Days left:   36",
            "a signature verifies",
        ] {
            #expect(result.errors.contains(line), "\(line) is not in \(result.errors)")
        }
        try expectNoPassphrase(result)
    }

    @Test func withoutTheLegacyProviderTheCommandThatConvertsIsShown() throws {
        let certificate = try TestCertificate(in: peal.folder)
        let file = try certificate.exportP12(
            "my push.p12", passphrase: Self.passphrase, TestCertificate.keychainCiphers)
        let result = try run(
            ["auth", file, "--passphrase-env", "P12_PASSPHRASE"],
            secret.merging(["OPENSSL_MODULES": peal.folder.path]) { $1 })
        #expect(result.status == 2)
        #expect(
            result.errors.contains("`openssl pkcs12 -legacy -in '\(file)' -out push.pem`"),
            "\(result.errors)")
        #expect(result.errors.contains("legacy.so"))
    }

    @Test func passphrasesThatAreMissingOrWrongAreToldApart() throws {
        let certificate = try TestCertificate(in: peal.folder)
        try certificate.exportP12("push.p12", passphrase: Self.passphrase)
        let campaign = try campaign()
        let missing = try run(["send", campaign, "--mock"])
        #expect(missing.status == 2)
        #expect(missing.errors.contains("the environment variable P12_PASSPHRASE is not set"))
        let wrong = try run(["send", campaign, "--mock"], ["P12_PASSPHRASE": "sesame"])
        #expect(wrong.status == 2)
        #expect(wrong.errors.contains("the passphrase does not open the p12 file"))
        #expect(!wrong.errors.contains("sesame"))
        let none = try self.campaign(["credentials": "{ identity: '../push.p12' }"])
        let unnamed = try run(["send", none, "--mock"], secret)
        #expect(unnamed.errors.contains("credentials.passphraseEnv"))
    }

    // MARK: Keys

    /// B56: the key in a variable, its line ends written as \n, encrypted besides.
    @Test func aKeyInAnEnvironmentVariableSends() throws {
        let path = peal.folder.path
        try TestCertificate.openssl([
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
            path + "/plain.p8",
        ])
        try TestCertificate.openssl([
            "pkcs8", "-topk8", "-in", path + "/plain.p8", "-passout", "pass:" + Self.passphrase,
            "-out", path + "/locked.p8",
        ])
        let mock = try MockProgram(peal, "--key", path + "/plain.p8")
        let campaign = try campaign([
            "credentials":
                "{ keyEnv: 'APNS_KEY', keyID: 'ABC123DEFG', teamID: 'DEF123GHIJ', "
                + "passphraseEnv: 'P12_PASSPHRASE' }"
        ])
        let key = String(decoding: try #require(peal.folder.read("locked.p8")), as: UTF8.self)
            .replacing("\n", with: "\\n")
        let variables = secret.merging(["APNS_KEY": key]) { $1 }
        let result = try run(
            ["send", campaign, "--server", mock.url, "--ca-file", mock.caFile], variables)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try mock.stats().accepted == 3)
        try expectNoPassphrase(result)

        let auth = try run(["auth", campaign], variables)
        #expect(auth.errors.contains("the environment variable APNS_KEY"), "\(auth.errors)")
        let unset = try run(["auth", campaign], secret)
        #expect(unset.status == 2)
        #expect(unset.errors.contains("APNS_KEY is not set"))
    }

    // MARK: The server's certificate

    /// B63: a server whose authority this machine does not know.
    @Test func anUntrustedServerSaysWhatToDo() throws {
        let mock = try MockProgram(peal)
        let result = try peal.run("send", PealProgram.sample("hello"), "--server", mock.url)
        #expect(result.status == 3)
        #expect(result.errors.contains("is not trusted"))
        #expect(result.errors.contains("--ca-file"))
        #expect(result.errors.contains("ca-certificates"))
    }
}
