import Crypto
import Foundation
import TestSupport
import Testing

/// Reading of .p8 files; lessons B56, B58 and B62: a file of another kind is told by its content.
@Suite(.timeLimit(.minutes(5))) struct KeyFileTests {
    private let folder = TemporaryDirectory()

    /// A PKCS#8 P-256 key, the form of Apple's .p8, made by openssl.
    private func opensslKey(_ curve: String = "P-256") throws -> [UInt8] {
        let path = folder.path + "/made.p8"
        try Subprocess.openssl(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-out", path)
        return try #require(folder.read("made.p8"))
    }

    private func message(of file: [UInt8], _ passphrase: Passphrase? = nil) -> String {
        do {
            _ = try SigningKey.p8(file, passphrase: passphrase)
            return "no error"
        } catch {
            return error.description
        }
    }

    @Test func readsAKeyOfOpensslAndKeepsIt() throws {
        let file = try opensslKey()
        let key = try SigningKey.p8(file)
        #expect(key.p8PEM() == file)
        let path = folder.path + "/made.p8"
        let publicPEM = try Subprocess.openssl("pkey", "-in", path, "-pubout").output
        #expect(key.verifyingKey.pem() == Array(publicPEM.utf8))
    }

    @Test func opensslReadsAKeyOfOurs() throws {
        let key = try SigningKey.generate()
        let path = folder.write(key.p8PEM(), to: "ours.p8")
        let answer = try Subprocess.openssl("pkey", "-in", path, "-noout", "-text", "-check")
        #expect(answer.status == 0)
        #expect(answer.allText.contains("Key is valid"))
        #expect(answer.allText.contains("NIST CURVE: P-256"))
        #expect(String(decoding: key.p8PEM(), as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-"))
    }

    @Test func acceptsByteOrderMarkCRLFSpacesAndTextAround() throws {
        let file = try opensslKey()
        let text = String(decoding: file, as: UTF8.self)
        let variants = [
            "\u{FEFF}" + text,
            text.replacing("\n", with: "\r\n"),
            "\u{FEFF}" + text.replacing("\n", with: "\r\n"),
            text.replacing("\n", with: "\n\n"),
            text.replacing("\n", with: " \t\n  "),
            "Key of the shop\n" + text + "the end\n",
            String(text.dropLast()),
        ]
        for variant in variants {
            #expect(try SigningKey.p8(Array(variant.utf8)).p8PEM() == file)
        }
    }

    @Test func aVerifyingKeyComesFromAPublicKeyOrFromAPrivateKey() throws {
        let key = try SigningKey.generate()
        let signature = try key.signES256([1, 2, 3])
        for file in [key.p8PEM(), key.verifyingKey.pem()] {
            let verifying = try VerifyingKey.pem(file)
            #expect(verifying.verifyES256(message: [1, 2, 3], signature: signature))
        }
    }

    @Test func saysThatTheFileIsEmpty() {
        #expect(message(of: []).hasPrefix("the key file is empty"))
        #expect(message(of: Array("\u{FEFF}\r\n \n".utf8)).hasPrefix("the key file is empty"))
    }

    @Test(arguments: ["hello", "{\"type\":\"service_account\"}", "\0\u{1}"])
    func saysThatItIsNoPEM(text: String) {
        #expect(message(of: Array(text.utf8)).hasPrefix("this is no PEM file"))
        #expect(message(of: Array(text.utf8)).contains("AuthKey_"))
    }

    @Test func saysThatItIsACertificate() throws {
        let pair = try CertificateAuthority.make(commonName: "test", days: 1)
        #expect(message(of: pair.certificatePEM).hasPrefix("this is a certificate"))
    }

    @Test func saysThatItIsAnRSAKeyInBothForms() throws {
        let path = folder.path + "/rsa"
        try Subprocess.openssl("genpkey", "-algorithm", "RSA", "-out", path)
        #expect(try message(of: #require(folder.read("rsa"))).hasPrefix("this is an RSA key"))
        try Subprocess.openssl("rsa", "-in", path, "-traditional", "-out", path + "1")
        #expect(try message(of: #require(folder.read("rsa1"))).hasPrefix("this is an RSA key"))
    }

    @Test(arguments: ["P-384", "P-521", "secp256k1"])
    func namesAnotherCurve(curve: String) throws {
        let text = try message(of: opensslKey(curve))
        #expect(text.contains("on the curve \(curve),"))
        #expect(text.contains("P-256"))
    }

    @Test func saysThatAnEd25519KeyIsOfAnotherKind() throws {
        try Subprocess.openssl("genpkey", "-algorithm", "ED25519", "-out", folder.path + "/ed")
        #expect(try message(of: #require(folder.read("ed"))).contains("not of the kind EC"))
    }

    /// B62: all forms of a key that openssl writes.
    @Test func readsASEC1KeyAsPeopleMakeIt() throws {
        let path = folder.path + "/sec1"
        // With a block EC PARAMETERS in front.
        try Subprocess.openssl("ecparam", "-genkey", "-name", "prime256v1", "-out", path)
        let key = try SigningKey.p8(#require(folder.read("sec1")))
        let publicPEM = try Subprocess.openssl("ec", "-in", path, "-pubout").output
        #expect(key.verifyingKey.pem() == Array(publicPEM.utf8))
        try Subprocess.openssl("ec", "-in", path, "-outform", "DER", "-out", path + ".der")
        let der = try #require(folder.read("sec1.der"))
        #expect(try SigningKey.p8(der).p8PEM() == key.p8PEM())
    }

    /// Keys encrypted by openssl: PKCS#8 and the old form with DEK-Info.
    private func encryptedKeys() throws -> (plain: [UInt8], encrypted: [[UInt8]]) {
        let plain = try opensslKey()
        let path = folder.write(plain, to: "plain")
        try Subprocess.openssl(
            "pkcs8", "-topk8", "-in", path, "-passout", "pass:secret", "-out", path + "2")
        try Subprocess.openssl(
            "ec", "-in", path, "-aes128", "-passout", "pass:secret", "-out", path + "3")
        try Subprocess.openssl(
            "pkcs8", "-topk8", "-in", path, "-passout", "pass:secret", "-outform", "DER", "-out",
            path + "4")
        return (plain, try (2...4).map { try #require(folder.read("plain\($0)")) })
    }

    @Test func readsEncryptedKeysWithTheirPassphrase() throws {
        let (plain, encrypted) = try encryptedKeys()
        for file in encrypted {
            #expect(try SigningKey.p8(file, passphrase: Passphrase("secret")).p8PEM() == plain)
        }
        // A passphrase that is not needed does no harm.
        #expect(try SigningKey.p8(plain, passphrase: Passphrase("secret")).p8PEM() == plain)
    }

    @Test func saysThatAKeyIsEncryptedOrItsPassphraseIsWrong() throws {
        for file in try encryptedKeys().encrypted {
            let text = message(of: file)
            #expect(text.hasPrefix("the key is encrypted") && text.contains("passphraseEnv"))
            let wrong = message(of: file, Passphrase("sesame"))
            #expect(wrong.hasPrefix("the passphrase does not open the key"), "\(wrong)")
            #expect(!wrong.contains("sesame"))
        }
        #expect("\(Passphrase("sesame"))" == "Passphrase")
    }

    /// B56: what becomes of a key in environment variables, secret stores and shells.
    @Test func readsAKeyThatWentThroughAnEnvironmentVariable() throws {
        let file = try opensslKey()
        let text = String(decoding: file, as: UTF8.self)
        let lines = text.split(separator: "\n")
        let body = lines.dropFirst().dropLast()
        let whole = Data(file).base64EncodedString()
        let variants = [
            text.replacing("\n", with: "\\n"),
            text.replacing("\n", with: "\\r\\n"),
            text.replacing("\n", with: "\\\\n"),
            "\"" + text.replacing("\n", with: "\\n") + "\"",
            text.replacing("\n", with: "\\\n"),
            text.replacing("\n", with: ""),
            text.replacing("\n", with: " "),
            body.joined(), body.joined(separator: "\n"), body.joined(separator: "\\n"),
            "'" + body.joined() + "'\n", "\u{FEFF}" + body.joined(separator: "\r\n"),
            (body + lines.suffix(1)).joined(separator: "\n"),
            whole, Data(file).base64EncodedString(options: .lineLength76Characters),
        ]
        for variant in variants {
            #expect(try SigningKey.p8(Array(variant.utf8)).p8PEM() == file, "\(variant)")
        }
        let der = try #require(Data(base64Encoded: body.joined()))
        #expect(try SigningKey.p8(Array(der)).p8PEM() == file)
    }

    /// B58: base64 is read where PEM is expected, and said to be nothing when it holds nothing.
    @Test(arguments: ["MIGTAgEAMBMGByqGSM49", "aGVsbG8gd29ybGQh"])
    func saysThatBase64HoldsNoKey(text: String) {
        #expect(message(of: Array(text.utf8)).hasPrefix("this is base64 text or DER without a key"))
    }

    @Test func saysThatItIsAP12File() throws {
        let certificate = try TestCertificate(in: folder)
        let path = try certificate.exportP12("key.p8", passphrase: "secret")
        #expect(path.hasSuffix("key.p8"))
        #expect(try message(of: #require(folder.read("key.p8"))).hasPrefix("this is a p12 file"))
    }

    @Test func saysThatItIsAPublicKey() throws {
        let key = try SigningKey.generate()
        #expect(message(of: key.verifyingKey.pem()).hasPrefix("this is a public key"))
    }

    /// Cut anywhere, a key file is refused and nothing crashes.
    @Test func aFileCutAnywhereIsRefusedWithAReason() throws {
        let file = try opensslKey()
        for length in 0..<(file.count - "\n".utf8.count) {
            #expect(message(of: Array(file[..<length])) != "no error")
        }
        let halfway = message(of: Array(file[..<(file.count / 2)]))
        #expect(halfway.contains("-----END PRIVATE KEY----- is missing"))
    }

    @Test func aBodyThatLostCharactersIsRefusedAsDamaged() throws {
        let lines = String(decoding: try opensslKey(), as: UTF8.self).split(separator: "\n")
        let cut = [lines[0], lines[1].dropLast(7), lines.last ?? ""].joined(separator: "\n")
        #expect(message(of: Array(cut.utf8)).contains("damaged or cut off"))
        let whole = [lines[0], lines[1], lines.last ?? ""].joined(separator: "\n")
        #expect(message(of: Array(whole.utf8)).contains("damaged"))
    }

    @Test func noMessageHoldsThePrivateKey() throws {
        let lines = String(decoding: try opensslKey(), as: UTF8.self).split(separator: "\n")
        let text = message(of: Array(([lines[0]] + lines[1...2]).joined(separator: "\n").utf8))
        #expect(!text.contains(lines[1].prefix(20)))
    }

    @Test func randomBytesInABlockAreRefused() {
        var random = SeededGenerator(seed: testSeed)
        for _ in 0..<500 {
            let length = Int.random(in: 0...200, using: &random)
            let der = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = Base64URL.encode(der)
                .replacing("-", with: "+").replacing("_", with: "/")
            let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
            for label in ["PRIVATE KEY", "PUBLIC KEY"] {
                let file = "-----BEGIN \(label)-----\n\(padded)\n-----END \(label)-----\n"
                #expect(throws: CryptoError.self) { try VerifyingKey.pem(Array(file.utf8)) }
            }
        }
    }
}
