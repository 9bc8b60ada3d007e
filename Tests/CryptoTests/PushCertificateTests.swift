import Crypto
import TestSupport
import Testing

/// Providers' certificates as OpenSSL's own program makes them.
struct PushCertificateTests {
    private let folder = TemporaryDirectory()

    /// A certificate in DER for one day, with these lines in its section of extensions.
    private func certificate(
        subject: String, _ extensions: String, _ sections: String = ""
    ) throws -> [UInt8] {
        let configuration = folder.write(
            "[req]\ndistinguished_name=n\n[n]\n[x]\n\(extensions)\n\(sections)\n", to: "c.cnf")
        let made = try Subprocess.openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "1", "-subj", subject, "-config", configuration, "-extensions", "x",
            "-outform", "DER", "-out", folder.path + "/c.der", "-keyout", folder.path + "/k.pem")
        try #require(made.status == 0, "\(made.allText)")
        return try #require(folder.read("c.der"))
    }

    private let topics = """
        [topics]
        a=UTF8:com.example.app
        b=SEQUENCE:kinds
        c=UTF8:com.example.app.voip
        d=SEQUENCE:kinds
        [kinds]
        a=UTF8:app
        """

    @Test("topics, marks, user id and validity are read")
    func everything() throws {
        let der = try certificate(
            subject: "/UID=com.example.app/CN=Apple Push Services: com.example.app",
            """
            1.2.840.113635.100.6.3.6=ASN1:SEQUENCE:topics
            1.2.840.113635.100.6.3.2=ASN1:NULL
            """, topics)
        let certificate = try PushCertificate.parse(der: der)
        #expect(certificate.userID == "com.example.app")
        #expect(certificate.topics == ["com.example.app", "com.example.app.voip"])
        #expect(certificate.isForProduction && !certificate.isForSandbox)
        let valid = certificate.validSeconds
        #expect(valid.upperBound - valid.lowerBound == 86_400)
        // What OpenSSL's program says of it, in seconds since 1970.
        let text = try Subprocess.openssl(
            "x509", "-inform", "DER", "-in", folder.path + "/c.der", "-noout", "-checkend", "86500")
        #expect(text.allText.contains("will expire"))
    }

    @Test("a certificate of another kind has neither topics nor marks")
    func plain() throws {
        let certificate = try PushCertificate.parse(
            der: try certificate(subject: "/CN=somebody", ""))
        #expect(certificate.userID == nil && certificate.topics.isEmpty)
        #expect(!certificate.isForProduction && !certificate.isForSandbox)
    }

    @Test("an extension that is no sequence of texts gives no topics")
    func oddExtensions() throws {
        for value in ["ASN1:UTF8:com.example.app", "DER:3080", "DER:300504", "DER:30840fffffff"] {
            let der = try certificate(subject: "/CN=x", "1.2.840.113635.100.6.3.6=\(value)")
            #expect(try PushCertificate.parse(der: der).topics.isEmpty)
        }
    }

    @Test("damaged bytes are refused or read, and nothing else happens")
    func damaged() throws {
        let der = try certificate(
            subject: "/UID=com.example.app", "1.2.840.113635.100.6.3.6=ASN1:SEQUENCE:topics",
            topics)
        var random = SeededGenerator()
        for _ in 0..<2_000 {
            var spoiled = der
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<spoiled.count, using: &random)
                spoiled[index] = UInt8.random(in: 0...255, using: &random)
            }
            let read = try? PushCertificate.parse(der: spoiled)
            #expect((read?.topics.count ?? 0) <= 64)
        }
        for count in 0..<der.count {
            #expect(throws: CryptoError.self) {
                try PushCertificate.parse(der: Array(der[..<count]))
            }
        }
    }
}
