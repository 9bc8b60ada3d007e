import Campaign
import Crypto
import Foundation
import TestSupport
import Testing

@testable import peal

/// What is said of a certificate before anything is sent; time is passed in.
@Suite(.timeLimit(.minutes(5))) struct CertificateCheckTests {
    private let folder = TemporaryDirectory()
    private static let daySeconds: Int64 = 86_400

    private func check(
        topics: [String] = ["com.example.app", "com.example.app.voip"], marks: [Int] = [1, 2],
        subject: String = "/UID=com.example.app/CN=x", daysBeforeItsEnd: Int64 = 100
    ) throws -> CertificateCheck {
        let made = try TestCertificate(
            in: folder, subject: subject, topics: topics, marks: marks, key: .ec)
        let identity = try PushIdentity.read(
            made.certificatePEM + made.keyPEM, passphrase: nil)
        let end = identity.certificate.validSeconds.upperBound
        return CertificateCheck(
            file: "push.p12", certificate: identity.certificate,
            nowSeconds: end - daysBeforeItsEnd * Self.daySeconds)
    }

    private func refusal(_ body: () throws(CommandFailure) -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            #expect(error.status == .refused)
            return error.description
        }
    }

    @Test(arguments: [(31, false), (30, true), (1, true), (0, true)])
    func warnsFromThirtyDaysBeforeTheEnd(days: Int64, warns: Bool) throws {
        let check = try check(daysBeforeItsEnd: days)
        #expect(refusal(check.requireValid) == nil)
        #expect(check.daysLeft == days)
        #expect((check.warning != nil) == warns)
        if let warning = check.warning {
            #expect(warning.contains("push.p12") && warning.contains("make a new one"))
        }
    }

    @Test func refusesACertificateAfterAndBeforeItsTime() throws {
        let expired = try check(daysBeforeItsEnd: -1)
        #expect(expired.daysLeft == -1 && expired.warning == nil)
        let text = try #require(refusal(expired.requireValid))
        #expect(text.contains("expired on 20") && text.contains("make a new one on Apple's page"))
        let early = try #require(refusal(check(daysBeforeItsEnd: 400).requireValid))
        #expect(early.contains("valid only from") && early.contains("clock"))
    }

    @Test func refusesATopicThatTheCertificateDoesNotHave() throws {
        let check = try check()
        for topic in ["com.example.app", "com.example.app.voip"] {
            #expect(
                refusal { () throws(CommandFailure) in
                    try check.requireFit(topic: topic, environment: .production)
                } == nil)
        }
        let text = try #require(
            refusal { () throws(CommandFailure) in
                try check.requireFit(topic: "com.example.other", environment: .production)
            })
        #expect(text.contains("\"com.example.app\", \"com.example.app.voip\""))
        #expect(text.contains("the campaign's topic is \"com.example.other\""))
    }

    @Test func withoutTheExtensionTheBundleIDIsTheTopic() throws {
        let check = try check(topics: [])
        #expect(
            refusal { () throws(CommandFailure) in
                try check.requireFit(topic: "com.example.app", environment: .sandbox)
            } == nil)
        #expect(
            refusal { () throws(CommandFailure) in
                try check.requireFit(topic: "com.example.app.voip", environment: .sandbox)
            } != nil)
        let silent = try self.check(topics: [], subject: "/CN=x")
        #expect(
            refusal { () throws(CommandFailure) in
                try silent.requireFit(topic: "any", environment: .sandbox)
            } == nil)
    }

    @Test(arguments: [([1], "sandbox"), ([2], "production"), ([1, 2], nil), ([], nil)])
    func refusesTheOtherEnvironment(marks: [Int], alone: String?) throws {
        let check = try check(marks: marks)
        let production = refusal { () throws(CommandFailure) in
            try check.requireFit(topic: "com.example.app", environment: .production)
        }
        let sandbox = refusal { () throws(CommandFailure) in
            try check.requireFit(topic: "com.example.app", environment: .sandbox)
        }
        #expect((production == nil) == (alone != "sandbox"))
        #expect((sandbox == nil) == (alone != "production"))
        if let alone, let text = production ?? sandbox {
            #expect(text.contains("for the \(alone) environment alone"))
        }
    }

    @Test func timesAreShownInUTC() {
        // RFC 3339's own example of Unix time's billionth second.
        #expect(UTCText.of(1_000_000_000) == "2001-09-09 01:46 UTC")
        #expect(UTCText.printable("a\u{1B}[2J\u{202E}b") == "a\u{FFFD}[2J\u{FFFD}b")
    }

    /// A name in other than capitals may be the secret itself.
    @Test func aVariableThatIsNotSetIsNamedOnlyWhenItLooksLikeAName() throws {
        let plain = try #require(throws: CommandFailure.self) {
            try SecretVariable.value(of: "PEAL_TEST_NOT_SET", namedBy: "passphraseEnv")
        }
        #expect(plain.description.contains("PEAL_TEST_NOT_SET is not set"))
        let secret = try #require(throws: CommandFailure.self) {
            try SecretVariable.value(of: "hunter2", namedBy: "passphraseEnv")
        }
        #expect(!secret.description.contains("hunter2"))
        #expect(secret.description.contains("passphraseEnv takes the variable's name"))
    }
}
