import Crypto
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ES256Tests {
    /// RFC 7515 appendix A.3: key, signing input and signature.
    private let exampleInput = Array(
        ("eyJhbGciOiJFUzI1NiJ9."
            + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
            + "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ").utf8)
    private let exampleSignature = Base64URL.decode(
        ("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSA"
            + "pmWQxfKTUJqPP3-Kg6NU1Q").utf8)

    private func exampleKey() throws -> VerifyingKey {
        let x = try #require(
            Base64URL.decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU".utf8))
        let y = try #require(
            Base64URL.decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0".utf8))
        // RFC 5480: SubjectPublicKeyInfo of id-ecPublicKey on secp256r1, an uncompressed point.
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
            0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
        let body = Base64URL.encode(head + x + y)
            .replacing("-", with: "+").replacing("_", with: "/")
        // 91 bytes: 122 characters, so two of padding.
        return try VerifyingKey.pem(
            Array("-----BEGIN PUBLIC KEY-----\n\(body)==\n-----END PUBLIC KEY-----\n".utf8))
    }

    @Test func acceptsTheSignatureOfRFC7515() throws {
        let key = try exampleKey()
        let signature = try #require(exampleSignature)
        #expect(key.verifyES256(message: exampleInput, signature: signature))
    }

    @Test func refusesEverySingleChangedBitOfTheSignature() throws {
        let key = try exampleKey()
        let signature = try #require(exampleSignature)
        for bit in 0..<512 {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.verifyES256(message: exampleInput, signature: changed))
        }
    }

    @Test func refusesAnotherMessageAnotherLengthAndDER() throws {
        let key = try exampleKey()
        let signature = try #require(exampleSignature)
        #expect(!key.verifyES256(message: exampleInput + [0], signature: signature))
        #expect(!key.verifyES256(message: exampleInput, signature: []))
        #expect(!key.verifyES256(message: exampleInput, signature: signature + [0]))
        #expect(!key.verifyES256(message: exampleInput, signature: signature.dropLast()))
        #expect(
            !key.verifyES256(
                message: exampleInput, signature: DERSignature.encode(fixedSize: signature)))
        #expect(
            !key.verifyES256(
                message: exampleInput, signature: [UInt8](repeating: 0, count: 64)))
    }

    @Test func opensslAcceptsOurSignatures() throws {
        let folder = TemporaryDirectory()
        let key = try SigningKey.generate()
        let publicKey = folder.write(key.verifyingKey.pem(), to: "public.pem")
        for number in 0..<10 {
            let message = folder.write("message \(number)", to: "message")
            let signature = try key.signES256(Array("message \(number)".utf8))
            #expect(signature.count == 64)
            let der = folder.write(
                DERSignature.encode(fixedSize: signature), to: "signature")
            let answer = try Subprocess.openssl(
                "dgst", "-sha256", "-verify", publicKey, "-signature", der, message)
            #expect(answer.output.contains("Verified OK"))
        }
    }

    @Test func weAcceptSignaturesOfOpenssl() throws {
        let folder = TemporaryDirectory()
        let keyPath = folder.path + "/key.p8"
        try Subprocess.openssl(
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", keyPath)
        let key = try VerifyingKey.pem(#require(folder.read("key.p8")))
        let message = folder.write("from openssl", to: "message")
        for _ in 0..<10 {
            try Subprocess.openssl(
                "dgst", "-sha256", "-sign", keyPath, "-out", folder.path + "/der", message)
            let der = try #require(folder.read("der"))
            let signature = try #require(DERSignature.decode(der))
            #expect(key.verifyES256(message: Array("from openssl".utf8), signature: signature))
        }
    }

    /// r or s begins with a zero byte in 1 of 128 signatures: the fixed size must keep it.
    @Test func signaturesAlwaysHave64Bytes() throws {
        let key = try SigningKey.generate()
        let verifying = key.verifyingKey
        var leadingZeros = 0
        for number in 0..<1500 {
            let message = Array("message \(number)".utf8)
            let signature = try key.signES256(message)
            #expect(signature.count == 64)
            #expect(verifying.verifyES256(message: message, signature: signature))
            if signature[0] == 0 || signature[32] == 0 { leadingZeros += 1 }
        }
        // None in 1500 has a chance of (127/128)^1500, less than 1 in 100,000.
        #expect(leadingZeros > 0)
    }

    @Test func oneKeySignsOnManyThreadsAtOnce() async throws {
        let key = try SigningKey.generate()
        let verifying = key.verifyingKey
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let message = Array("message \(number)".utf8)
                    return try (0..<50).allSatisfy { _ in
                        verifying.verifyES256(
                            message: message, signature: try key.signES256(message))
                    }
                }
            }
            for try await isGood in group { #expect(isGood) }
        }
    }
}
