import Crypto
import Glibc
import TLS
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct HandshakeTests {
    @Test(arguments: ["localhost", "push.example.com", "push.example.com.", "127.0.0.1"])
    func aTrustedServerIsAcceptedByEachOfItsNames(name: String) throws {
        let rig = try TLSRig(name: name)
        #expect(rig.handshake())
        #expect(rig.clientError == nil)
        #expect(rig.client.negotiatedProtocol == "h2")
        #expect(rig.server.negotiatedProtocol == "h2")
        #expect(rig.client.summary == "TLSv1.3 TLS_AES_128_GCM_SHA256")
    }

    @Test(arguments: ["push.example.org", "example.com", "127.0.0.2"])
    func anotherNameIsRefusedByName(name: String) throws {
        let rig = try TLSRig(name: name)
        #expect(!rig.handshake())
        let error = try #require(rig.clientError)
        #expect(error.isVerification)
        #expect(error.text.contains("mismatch"))
        #expect(error.text.contains("certificate of \(name) is not trusted"))
        #expect(error.text.contains("another name"))
    }

    @Test func anUnknownAuthorityIsRefusedWithTheOptionThatHelps() throws {
        let other = try CertificateAuthority.make(commonName: "Another CA", days: 2)
        let folder = TemporaryDirectory()
        let caFile = folder.write(other.certificatePEM, to: "other.pem")
        let rig = try TLSRig(
            client: .client(caFile: caFile), server: TestPKI.shared.serverContext())
        #expect(!rig.handshake())
        let error = try #require(rig.clientError)
        #expect(error.isVerification)
        #expect(error.text.contains("unable to get local issuer certificate"))
        #expect(error.text.contains("--ca-file"))
        // The server is told by an alert (RFC 8446 section 6.2, unknown_ca).
        #expect(rig.serverError?.text.contains("unknown ca") == true)
    }

    @Test func theSystemsAuthoritiesDoNotIncludeOurs() throws {
        let rig = try TLSRig(
            client: .client(caFile: nil), server: TestPKI.shared.serverContext())
        #expect(!rig.handshake())
        #expect(rig.clientError?.isVerification == true)
    }

    @Test func aSelfSignedServerIsRefused() throws {
        let own = try CertificateAuthority.make(commonName: "localhost", days: 2)
        let rig = try TLSRig(
            client: .client(caFile: TestPKI.shared.caFile),
            server: .server(certificatePEM: own.certificatePEM, keyPEM: own.keyPEM))
        #expect(!rig.handshake())
        let error = try #require(rig.clientError)
        #expect(error.isVerification)
        #expect(error.text.contains("self-signed certificate"))
        #expect(error.text.contains("--ca-file"))
    }

    @Test func anExpiredCertificateIsRefusedAndTheClockNamed() throws {
        let expired = try TestPKI.shared.expiredCertificate()
        let rig = try TLSRig(
            client: .client(caFile: TestPKI.shared.caFile),
            server: .server(
                certificatePEM: expired.certificatePEM, keyPEM: expired.keyPEM))
        #expect(!rig.handshake())
        let error = try #require(rig.clientError)
        #expect(error.isVerification)
        #expect(error.text.contains("certificate has expired"))
        #expect(error.text.contains("clock"))
    }

    @Test func garbageFromTheServerIsNotTLS() throws {
        let sockets = try SocketPair()
        let stream = try TLSStream(
            context: .client(caFile: TestPKI.shared.caFile), descriptor: sockets.client,
            role: .client(serverName: "localhost"))
        #expect(try stream.handshake() == .wantsRead)
        send(sockets.server, "HTTP/1.1 400 Bad Request\r\n\r\n")
        let error = #expect(throws: TLSError.self) { try stream.handshake() }
        #expect(error?.kind == .violation)
        #expect(error?.text.contains("does not speak TLS on this port") == true)
        stream.shutdown()
    }

    @Test func plainHTTPToTheServerIsNamed() throws {
        let sockets = try SocketPair()
        let stream = try TLSStream(
            context: TestPKI.shared.serverContext(), descriptor: sockets.server, role: .server)
        send(sockets.client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let error = #expect(throws: TLSError.self) { try stream.handshake() }
        #expect(error?.text.contains("http request") == true)
    }

    @Test func aPeerThatClosesInTheHandshakeIsToldApart() throws {
        let sockets = try SocketPair()
        let stream = try TLSStream(
            context: .client(caFile: TestPKI.shared.caFile), descriptor: sockets.client,
            role: .client(serverName: "localhost"))
        #expect(try stream.handshake() == .wantsRead)
        var hello = [UInt8](repeating: 0, count: 4096)
        #expect(recv(sockets.server, &hello, hello.count, 0) > 0)
        sockets.closeServer()
        let error = #expect(throws: TLSError.self) { try stream.handshake() }
        #expect(error?.kind == .peerClosed)
    }

    /// A ClientHello of TLS 1.1, written after RFC 4346 section 7.4.1.2: one suite, no extensions.
    @Test func aTLS11ClientGetsTheAlertProtocolVersion() throws {
        let sockets = try SocketPair()
        let stream = try TLSStream(
            context: TestPKI.shared.serverContext(), descriptor: sockets.server, role: .server)
        let body: [UInt8] =
            [3, 2] + [UInt8](repeating: 7, count: 32) + [0] + [0, 2, 0xC0, 0x09] + [1, 0]
        let handshake: [UInt8] = [1, 0, 0, UInt8(body.count)] + body
        let record: [UInt8] = [22, 3, 1, 0, UInt8(handshake.count)] + handshake
        #expect(Glibc.send(sockets.client, record, record.count, 0) == record.count)
        let error = #expect(throws: TLSError.self) { try stream.handshake() }
        #expect(error?.text.contains("TLS 1.2 or newer") == true)
        var alert = [UInt8](repeating: 0, count: 16)
        #expect(recv(sockets.client, &alert, alert.count, 0) == 7)
        // Alert record, fatal, protocol_version (RFC 5246 section 7.2).
        #expect(alert[0] == 21 && alert[5] == 2 && alert[6] == 70)
    }

    private func send(_ descriptor: Int32, _ text: String) {
        let bytes = Array(text.utf8)
        #expect(Glibc.send(descriptor, bytes, bytes.count, 0) == bytes.count)
    }
}
