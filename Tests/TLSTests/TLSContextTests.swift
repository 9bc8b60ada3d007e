import Crypto
import TLS
import TestSupport
import Testing

struct TLSContextTests {
    @Test func aMissingCAFileIsNamedWithTheCause() {
        let error = #expect(throws: TLSError.self) {
            try TLSContext.client(caFile: "/nowhere/ca.pem")
        }
        #expect(error?.kind == .setup)
        #expect(error?.text.contains("/nowhere/ca.pem: No such file or directory") == true)
        #expect(error?.text.contains("--ca-file") == true)
    }

    @Test(arguments: ["", "no certificate at all"])
    func aCAFileWithoutCertificateIsRefused(content: String) {
        let folder = TemporaryDirectory()
        let path = folder.write(content, to: "ca.pem")
        let error = #expect(throws: TLSError.self) { try TLSContext.client(caFile: path) }
        #expect(error?.text.contains("holds no certificate") == true)
    }

    @Test func aKeyOfAnotherCertificateIsRefused() throws {
        let error = #expect(throws: TLSError.self) {
            try TLSContext.server(
                certificatePEM: TestPKI.shared.server.certificatePEM,
                keyPEM: TestPKI.shared.authority.keyPEM)
        }
        #expect(error?.text.contains("does not fit") == true)
    }

    @Test func bytesThatAreNoCertificateOrKeyAreRefused() throws {
        let pki = TestPKI.shared
        #expect(throws: TLSError.self) {
            try TLSContext.server(certificatePEM: [], keyPEM: pki.server.keyPEM)
        }
        #expect(throws: TLSError.self) {
            try TLSContext.server(
                certificatePEM: pki.server.certificatePEM, keyPEM: Array("key".utf8))
        }
    }

    @Test func anEmptyServerNameIsRefused() throws {
        let sockets = try SocketPair()
        let context = try TLSContext.client(caFile: TestPKI.shared.caFile)
        #expect(throws: TLSError.self) {
            try TLSStream(
                context: context, descriptor: sockets.client, role: .client(serverName: ""))
        }
    }
}
