import Crypto
import Foundation
import TestSupport
import Testing

/// Certificates with their keys, in every form that openssl writes; lessons B58, B60 and B62.
@Suite(.timeLimit(.minutes(5))) struct PushIdentityTests {
    private let folder = TemporaryDirectory()

    private func read(_ name: String, _ passphrase: String? = nil) throws -> PushIdentity {
        try PushIdentity.read(
            #require(folder.read(name)), passphrase: passphrase.map { Passphrase($0) })
    }

    private func message(of file: [UInt8], _ passphrase: String? = nil) -> String {
        do {
            _ = try PushIdentity.read(file, passphrase: passphrase.map { Passphrase($0) })
            return "no error"
        } catch {
            return error.description
        }
    }

    private func message(of name: String, _ passphrase: String? = nil) throws -> String {
        message(of: try #require(folder.read(name)), passphrase)
    }

    /// The pair is the one of the files: the certificate to the byte, the key by its public half.
    private func expectPair(
        _ identity: PushIdentity, of certificate: TestCertificate,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(
            identity.pair.certificatePEM.starts(with: certificate.certificatePEM),
            sourceLocation: sourceLocation)
        let key = folder.write(identity.pair.keyPEM, to: "read.key")
        let ours = try Subprocess.openssl("pkey", "-in", key, "-pubout").output
        let theirs = try Subprocess.openssl("pkey", "-in", certificate.keyFile, "-pubout").output
        #expect(ours == theirs && !ours.isEmpty, sourceLocation: sourceLocation)
        try identity.verifySignature()
    }

    // MARK: p12

    @Test(arguments: [TestCertificate.Key.rsa, .ec])
    func readsAP12OfTodaysOpenssl(key: TestCertificate.Key) throws {
        let certificate = try TestCertificate(in: folder, key: key)
        try certificate.exportP12("push.p12", passphrase: "secret")
        let identity = try read("push.p12", "secret")
        try expectPair(identity, of: certificate)
        #expect(identity.form == "PKCS#12")
        #expect(identity.keyText == (key == .rsa ? "RSA, 2048 bits" : "EC, P-256"))
        #expect(identity.certificate.topics == ["com.example.app", "com.example.app.voip"])
        #expect(identity.certificate.subject.contains("Apple Push Services: com.example.app"))
    }

    /// B60: OpenSSL 3 reads 40-bit RC2 with its provider "legacy" only.
    @Test func readsAP12AsKeychainAccessWritesIt() throws {
        let certificate = try TestCertificate(in: folder)
        try certificate.exportP12(
            "push.p12", passphrase: "secret", TestCertificate.keychainCiphers)
        let plain = try Subprocess.openssl(
            "pkcs12", "-in", folder.path + "/push.p12", "-passin", "pass:secret", "-nodes")
        #expect(plain.allText.contains("RC2-40-CBC"), "openssl alone does not read it")
        try expectPair(try read("push.p12", "secret"), of: certificate)
        #expect(try message(of: "push.p12", "wrong").contains("does not open the p12 file"))
    }

    @Test func readsAP12WithAnEmptyPassphraseAndWithoutAny() throws {
        let certificate = try TestCertificate(in: folder)
        let forms: [[String]] = [
            [], TestCertificate.keychainCiphers, ["-nomac"],
            ["-certpbe", "NONE", "-keypbe", "NONE", "-nomac"],
        ]
        for options in forms {
            try certificate.exportP12("push.p12", passphrase: nil, options)
            for passphrase in [nil, ""] {
                try expectPair(try read("push.p12", passphrase), of: certificate)
            }
        }
    }

    @Test func readsAP12ThatIsBase64Text() throws {
        let certificate = try TestCertificate(in: folder)
        try certificate.exportP12("push.p12", passphrase: "пароль")
        let text = Data(try #require(folder.read("push.p12"))).base64EncodedString()
        folder.write(text + "\n", to: "push.txt")
        try expectPair(try read("push.txt", "пароль"), of: certificate)
    }

    @Test func passesTheChainOn() throws {
        let certificate = try TestCertificate(in: folder)
        let above = try TestCertificate(in: folder, name: "above", subject: "/CN=Above")
        try certificate.exportP12(
            "push.p12", passphrase: "x", ["-certfile", above.certificateFile])
        folder.write(
            above.certificatePEM + certificate.keyPEM + certificate.certificatePEM, to: "push.pem")
        for identity in [try read("push.p12", "x"), try read("push.pem")] {
            try expectPair(identity, of: certificate)
            #expect(
                identity.pair.certificatePEM == certificate.certificatePEM + above.certificatePEM)
            #expect(identity.chain == ["CN=Above"])
        }
    }

    @Test func tellsAWrongPassphraseFromDamage() throws {
        let certificate = try TestCertificate(in: folder)
        try certificate.exportP12("push.p12", passphrase: "secret")
        #expect(try message(of: "push.p12").hasPrefix("the p12 file has a passphrase"))
        #expect(try message(of: "push.p12").contains("credentials.passphraseEnv"))
        #expect(try message(of: "push.p12", "").hasPrefix("the passphrase is empty"))
        let wrong = try message(of: "push.p12", "sesame")
        #expect(wrong.hasPrefix("the passphrase does not open the p12 file"))
        #expect(!wrong.contains("sesame"))

        let file = try #require(folder.read("push.p12"))
        #expect(message(of: Array(file[..<(file.count / 2)]), "secret").contains("damaged"))
        // A byte in the middle of the encrypted certificate: the key still opens.
        var spoiled = file
        spoiled[file.count / 4] ^= 0xFF
        #expect(
            message(of: spoiled, "secret").hasPrefix(
                "the passphrase is right, and the p12 file is damaged"))
    }

    @Test func aP12WithoutItsKeySaysHowToExportBoth() throws {
        let certificate = try TestCertificate(in: folder)
        try certificate.exportP12("push.p12", passphrase: "x", ["-nokeys"])
        let text = try message(of: "push.p12", "x")
        #expect(text.contains("no private key") && text.contains("My Certificates"))
    }

    @Test func aP12WithTheKeyOfAnotherCertificateIsRefused() throws {
        let certificate = try TestCertificate(in: folder)
        let other = try TestCertificate(in: folder, name: "other")
        // openssl refuses to write such a file, so the certificate goes in beside the key.
        folder.write(other.certificatePEM + certificate.keyPEM, to: "mixed.pem")
        let text = try message(of: "mixed.pem")
        #expect(text.hasPrefix("the key does not belong to the certificate"))
        #expect(text.contains("Apple Push Services"))
    }

    @Test func spoiledFilesAreRefusedOrReadAndNothingElseHappens() throws {
        let certificate = try TestCertificate(in: folder, key: .ec)
        try certificate.exportP12(
            "push.p12", passphrase: "x", TestCertificate.keychainCiphers)
        let file = try #require(folder.read("push.p12"))
        var random = SeededGenerator(seed: testSeed)
        for _ in 0..<200 {
            var spoiled = file
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                spoiled[Int.random(in: 0..<file.count, using: &random)] =
                    UInt8.random(in: 0...255, using: &random)
            }
            _ = message(of: spoiled, "x")
        }
        for count in stride(from: 0, to: file.count, by: 17) {
            #expect(message(of: Array(file[..<count]), "x") != "no error")
        }
    }

    // MARK: PEM

    @Test func readsPEMInAnyOrderAndEveryFormOfTheKey() throws {
        let certificate = try TestCertificate(in: folder)
        let path = folder.path
        let conversions: [(name: String, arguments: [String])] = [
            ("pkcs8", ["pkey", "-in", certificate.keyFile]),
            ("pkcs1", ["rsa", "-traditional", "-in", certificate.keyFile]),
            ("encrypted", ["pkey", "-aes256", "-passout", "pass:s", "-in", certificate.keyFile]),
            (
                "old",
                [
                    "rsa", "-traditional", "-aes128", "-passout", "pass:s", "-in",
                    certificate.keyFile,
                ]
            ),
        ]
        for (name, arguments) in conversions {
            try TestCertificate.openssl(arguments + ["-out", "\(path)/\(name)"])
            let key = try #require(folder.read(name))
            let passphrase = name == "encrypted" || name == "old" ? "s" : nil
            for whole in [key + certificate.certificatePEM, certificate.certificatePEM + key] {
                folder.write(whole, to: "whole.pem")
                try expectPair(try read("whole.pem", passphrase), of: certificate)
            }
        }
        #expect(try message(of: "whole.pem").hasPrefix("the key is encrypted"))
        #expect(try message(of: "whole.pem", "t").contains("does not open the key"))
    }

    @Test func readsPEMWithASEC1Key() throws {
        let certificate = try TestCertificate(in: folder, key: .ec)
        try Subprocess.openssl("ec", "-in", certificate.keyFile, "-out", folder.path + "/sec1")
        let key = try #require(folder.read("sec1"))
        #expect(String(decoding: key, as: UTF8.self).contains("BEGIN EC PRIVATE KEY"))
        folder.write(certificate.certificatePEM + key, to: "whole.pem")
        try expectPair(try read("whole.pem"), of: certificate)
    }

    /// What `openssl pkcs12 -legacy -in THIS_FILE -out push.pem` of the message makes can be read.
    @Test func readsWhatTheCommandOfTheMessageMakes() throws {
        let certificate = try TestCertificate(in: folder)
        let p12 = try certificate.exportP12(
            "push.p12", passphrase: "secret", TestCertificate.keychainCiphers)
        try TestCertificate.openssl([
            "pkcs12", "-legacy", "-in", p12, "-out", folder.path + "/push.pem", "-passin",
            "pass:secret", "-passout", "pass:other",
        ])
        try expectPair(try read("push.pem", "other"), of: certificate)
    }

    // MARK: Other files

    @Test func otherFilesAreCalledWhatTheyAre() throws {
        let certificate = try TestCertificate(in: folder)
        #expect(message(of: []).hasPrefix("the file is empty"))
        #expect(message(of: Array("hello".utf8)).hasPrefix("this is neither a p12 file nor PEM"))
        #expect(
            message(of: certificate.certificatePEM).contains("certificate and no private key"))
        try Subprocess.openssl(
            "x509", "-in", certificate.certificateFile, "-outform", "DER", "-out",
            folder.path + "/push.cer")
        #expect(try message(of: "push.cer").contains("certificate and no private key"))
        #expect(message(of: certificate.keyPEM).contains("a p8 key goes into credentials"))
        let cut = Array(certificate.certificatePEM.dropLast(40))
        #expect(message(of: cut).contains("-----END CERTIFICATE----- is missing"))
    }

    @Test func nothingPrintsTheKey() throws {
        let certificate = try TestCertificate(in: folder, key: .ec)
        folder.write(certificate.certificatePEM + certificate.keyPEM, to: "whole.pem")
        let identity = try read("whole.pem")
        #expect("\(identity)" == "PushIdentity" && "\(identity.pair)" == "CertificatePair")
    }
}
