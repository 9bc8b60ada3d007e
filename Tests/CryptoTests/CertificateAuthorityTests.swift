import Crypto
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct CertificateAuthorityTests {
    private let folder = TemporaryDirectory()

    private func written(names: [String], days: Int = 10) throws -> (
        authority: String, leaf: String
    ) {
        let authority = try CertificateAuthority.make(
            commonName: "Peal local APNs authority (this machine only)", days: 30)
        let leaf = try CertificateAuthority.issue(from: authority, names: names, days: days)
        return (
            folder.write(authority.certificatePEM, to: "ca.pem"),
            folder.write(leaf.certificatePEM, to: "leaf.pem")
        )
    }

    @Test(arguments: [
        ("-verify_hostname", "localhost", true),
        ("-verify_hostname", "apns.example.test", true),
        ("-verify_hostname", "example.test", false),
        ("-verify_ip", "127.0.0.1", true),
        ("-verify_ip", "::1", true),
        ("-verify_ip", "127.0.0.2", false),
    ])
    func opensslAcceptsTheServerForItsNamesOnly(
        option: String, name: String, isAccepted: Bool
    ) throws {
        let files = try written(names: ["localhost", "127.0.0.1", "::1", "apns.example.test"])
        let answer = try Subprocess.openssl(
            "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", files.authority, option,
            name, files.leaf)
        #expect((answer.status == 0) == isAccepted, "\(answer.output)")
    }

    @Test func theAuthorityIsNoServerAndTheServerIsNoAuthority() throws {
        let files = try written(names: ["localhost"])
        let authority = try Subprocess.openssl("x509", "-in", files.authority, "-noout", "-text")
        #expect(authority.output.contains("CN = Peal local APNs authority (this machine only)"))
        #expect(authority.output.contains("Version: 3"))
        #expect(authority.output.contains("Basic Constraints: critical"))
        #expect(authority.output.contains("CA:TRUE, pathlen:0"))
        #expect(authority.output.contains("Key Usage: critical"))
        #expect(authority.output.contains("Certificate Sign, CRL Sign"))
        let leaf = try Subprocess.openssl("x509", "-in", files.leaf, "-noout", "-text")
        #expect(leaf.output.contains("CA:FALSE"))
        #expect(leaf.output.contains("TLS Web Server Authentication"))
        #expect(leaf.output.contains("ASN1 OID: prime256v1"))
        #expect(leaf.output.contains("DNS:localhost"))
    }

    @Test func aServerOfAnotherAuthorityIsNotTrusted() throws {
        let files = try written(names: ["localhost"])
        let stranger = try CertificateAuthority.make(commonName: "another", days: 1)
        let path = folder.write(stranger.certificatePEM, to: "stranger.pem")
        let answer = try Subprocess.openssl("verify", "-CAfile", path, files.leaf)
        #expect(answer.status != 0)
    }

    @Test func serialNumbersDiffer() throws {
        let authority = try CertificateAuthority.make(commonName: "test", days: 1)
        var serials: Set<String> = []
        for _ in 0..<8 {
            let leaf = try CertificateAuthority.issue(
                from: authority, names: ["localhost"], days: 1)
            let path = folder.write(leaf.certificatePEM, to: "leaf.pem")
            serials.insert(try Subprocess.openssl("x509", "-in", path, "-noout", "-serial").output)
        }
        #expect(serials.count == 8)
    }

    @Test func theKeyBelongsToTheCertificate() throws {
        let authority = try CertificateAuthority.make(commonName: "test", days: 1)
        let leaf = try CertificateAuthority.issue(from: authority, names: ["localhost"], days: 1)
        let path = folder.write(leaf.certificatePEM, to: "leaf.pem")
        let publicKey = try Subprocess.openssl("x509", "-in", path, "-noout", "-pubkey").output
        #expect(try SigningKey.p8(leaf.keyPEM).verifyingKey.pem() == Array(publicKey.utf8))
    }

    @Test func daysLeftAreCountedWhole() throws {
        let authority = try CertificateAuthority.make(commonName: "test", days: 398)
        // 398 days from now: 397 whole ones as soon as a second has passed.
        let left = try #require(
            CertificateAuthority.daysLeft(certificatePEM: authority.certificatePEM))
        #expect((397...398).contains(left))
        #expect(CertificateAuthority.daysLeft(certificatePEM: authority.keyPEM) == nil)
        #expect(CertificateAuthority.daysLeft(certificatePEM: []) == nil)
    }

    @Test func daysLeftOfAnExpiredCertificateAreNegative() throws {
        // `openssl ca -selfsign -startdate 20200101000000Z -enddate 20210101000000Z`
        let pem = """
            -----BEGIN CERTIFICATE-----
            MIIBAjCBqgIBATAKBggqhkjOPQQDAjAOMQwwCgYDVQQDDANvbGQwHhcNMjAwMTAx
            MDAwMDAwWhcNMjEwMTAxMDAwMDAwWjAOMQwwCgYDVQQDDANvbGQwWTATBgcqhkjO
            PQIBBggqhkjOPQMBBwNCAARbk8T4ZI0lXP6lK2vaehOJKdcCPxj3/R0mc5OO0tsB
            VknVrwTVuEdjNzcsLsvztxtzUb7PpgwXxEkMAH9OZg0/MAoGCCqGSM49BAMCA0cA
            MEQCIEuhIuyt/3lg9+0SCXpQiEpIr7rhGrxFtb00nuz1MsbEAiBePD7xlRgyvuZb
            lWa1D4Oxx4aZW1YRN3jr0fI2HYZvEw==
            -----END CERTIFICATE-----
            """
        let left = try #require(CertificateAuthority.daysLeft(certificatePEM: Array(pem.utf8)))
        let end = 1_609_459_200  // `date -u -d 2021-01-01 +%s`
        #expect(abs(left + (time(nil) - end) / 86_400) <= 1)
        #expect(left < 0)
    }

    /// OpenSSL's notation for names has separators; a name must not be able to add others.
    @Test(arguments: ["", "a,DNS:b", "a b", "dirName:x", "a\u{0}", "ünicode", "a/b", "a;b"])
    func refusesNamesThatAreNone(name: String) throws {
        let authority = try CertificateAuthority.make(commonName: "test", days: 1)
        #expect(throws: CryptoError.self) {
            try CertificateAuthority.issue(from: authority, names: [name], days: 1)
        }
    }

    @Test func refusesNoNamesNoDaysAndAForeignKey() throws {
        let authority = try CertificateAuthority.make(commonName: "test", days: 1)
        let other = try CertificateAuthority.make(commonName: "test", days: 1)
        let mixed = CertificatePair(
            certificatePEM: authority.certificatePEM, keyPEM: other.keyPEM)
        #expect(throws: CryptoError.self) {
            try CertificateAuthority.issue(from: authority, names: [], days: 1)
        }
        #expect(throws: CryptoError.self) {
            try CertificateAuthority.make(commonName: "test", days: 0)
        }
        let error = #expect(throws: CryptoError.self) {
            try CertificateAuthority.issue(from: mixed, names: ["localhost"], days: 1)
        }
        #expect(error?.description.contains("do not belong together") == true)
    }
}
