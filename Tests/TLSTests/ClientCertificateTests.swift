import Crypto
import Foundation
import TLS
import TestSupport
import Testing

/// Servers that ask clients for a certificate.
@Suite(.timeLimit(.minutes(5)))
struct ClientCertificateTests {
    private func server(asks: Bool) throws -> TLSContext {
        let pair = TestPKI.shared.server
        return try .server(
            certificatePEM: pair.certificatePEM, keyPEM: pair.keyPEM,
            asksForClientCertificate: asks)
    }

    private func client(_ identity: CertificatePair?) throws -> TLSContext {
        try .client(caFile: TestPKI.shared.caFile, identity: identity)
    }

    @Test func theServerSeesTheCertificateWhoeverHasSignedIt() throws {
        let identity = try CertificateAuthority.make(commonName: "a client", days: 2)
        let rig = try TLSRig(client: client(identity), server: server(asks: true))
        #expect(rig.handshake())
        // The body of a PEM file is the DER in base64 (RFC 7468).
        let lines = String(decoding: identity.certificatePEM, as: UTF8.self)
            .split(separator: "\n").filter { !$0.hasPrefix("-----") }
        let der = try #require(Data(base64Encoded: lines.joined()))
        #expect(rig.server.peerCertificate == Array(der))
    }

    @Test func aClientWithoutOneIsServedToo() throws {
        let rig = try TLSRig(client: client(nil), server: server(asks: true))
        #expect(rig.handshake())
        #expect(rig.server.peerCertificate == nil)
    }

    @Test func aServerThatDoesNotAskSeesNone() throws {
        let identity = try CertificateAuthority.make(commonName: "a client", days: 2)
        let rig = try TLSRig(client: client(identity), server: server(asks: false))
        #expect(rig.handshake())
        #expect(rig.server.peerCertificate == nil)
    }

    @Test func aKeyOfAnotherCertificateIsRefusedAtOnce() throws {
        let first = try CertificateAuthority.make(commonName: "a", days: 2)
        let second = try CertificateAuthority.make(commonName: "b", days: 2)
        let mixed = CertificatePair(
            certificatePEM: first.certificatePEM, keyPEM: second.keyPEM)
        let error = #expect(throws: TLSError.self) { try client(mixed) }
        #expect(error?.text.contains("does not fit the certificate") == true)
    }
}
