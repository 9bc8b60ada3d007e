package import Crypto

/// A certificate authority and a server's certificate, made once for all tests of a run.
package struct TestPKI: Sendable {
    package static let shared = try! TestPKI()

    /// Holds ca.pem, ca.key, server.pem and server.key.
    package let folder = TemporaryDirectory()
    package let authority: CertificatePair
    package let server: CertificatePair
    package let caFile: String

    private init() throws {
        authority = try CertificateAuthority.make(commonName: "Peal test CA", days: 2)
        server = try CertificateAuthority.issue(
            from: authority, names: ["localhost", "push.example.com", "127.0.0.1", "::1"], days: 2)
        caFile = folder.write(authority.certificatePEM, to: "ca.pem")
        folder.write(authority.keyPEM, to: "ca.key")
        folder.write(server.certificatePEM, to: "server.pem")
        folder.write(server.keyPEM, to: "server.key")
    }
}
