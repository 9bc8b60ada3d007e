import Crypto
import Glibc
import TLS
import TestSupport
import Testing

extension TestPKI {
    func serverContext() throws -> TLSContext {
        try TLSContext.server(
            certificatePEM: server.certificatePEM, keyPEM: server.keyPEM)
    }

    /// A certificate for localhost from our CA that ended in 2020, made by OpenSSL's own program.
    func expiredCertificate() throws -> CertificatePair {
        let work = TemporaryDirectory()
        work.write("", to: "index.txt")
        work.write("01", to: "serial")
        work.write(
            """
            [ca]
            default_ca = d
            [d]
            database = \(work.path)/index.txt
            serial = \(work.path)/serial
            new_certs_dir = \(work.path)
            default_md = sha256
            policy = p
            x509_extensions = x
            [p]
            commonName = supplied
            [x]
            subjectAltName = DNS:localhost
            """, to: "ca.conf")
        try Subprocess.openssl(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", "/CN=localhost", "-keyout", work.path + "/key.pem", "-out",
            work.path + "/request.pem")
        try Subprocess.openssl(
            "ca", "-batch", "-config", work.path + "/ca.conf", "-cert", folder.path + "/ca.pem",
            "-keyfile", folder.path + "/ca.key", "-in", work.path + "/request.pem", "-out",
            work.path + "/cert.pem", "-notext", "-startdate", "20190101000000Z", "-enddate",
            "20200101000000Z")
        return CertificatePair(
            certificatePEM: try #require(work.read("cert.pem")),
            keyPEM: try #require(work.read("key.pem")))
    }
}

/// Two connected non-blocking sockets, closed with the value.
final class SocketPair {
    let client: Int32
    private(set) var server: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(
            SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        client = ends[0]
        server = ends[1]
    }

    deinit {
        close(client)
        closeServer()
    }

    /// The other end hears of it at once, also while a program that another test is just starting
    /// still holds a copy of the descriptor.
    func closeServer() {
        guard server >= 0 else { return }
        shutdown(server, Int32(SHUT_RDWR))
        close(server)
        server = -1
    }
}

/// A client and a server stream over a socket pair, moved on in turns until neither can.
final class TLSRig {
    let sockets: SocketPair
    let client: TLSStream
    let server: TLSStream
    private(set) var clientError: TLSError?
    private(set) var serverError: TLSError?

    init(client: TLSContext, server: TLSContext, name: String = "localhost") throws {
        sockets = try SocketPair()
        self.client = try TLSStream(
            context: client, descriptor: sockets.client, role: .client(serverName: name))
        self.server = try TLSStream(
            context: server, descriptor: sockets.server, role: .server)
    }

    /// Trust in the test CA on one side, its server certificate on the other.
    convenience init(name: String = "localhost") throws {
        try self.init(
            client: .client(caFile: TestPKI.shared.caFile),
            server: TestPKI.shared.serverContext(), name: name)
    }

    /// True when both sides are through.
    func handshake() -> Bool {
        var clientDone = false
        var serverDone = false
        // A TLS handshake is a handful of flights; each round moves both sides as far as they go.
        for _ in 0..<20 where !(clientDone && serverDone) {
            do throws(TLSError) {
                if !clientDone, clientError == nil { clientDone = try client.handshake() == .done }
            } catch { clientError = error }
            do throws(TLSError) {
                if !serverDone, serverError == nil { serverDone = try server.handshake() == .done }
            } catch { serverError = error }
        }
        return clientDone && serverDone
    }
}

extension TLSStream {
    /// Reads up to 16 KiB.
    func read() throws(TLSError) -> (TLSResult, [UInt8]) {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        var result = TLSResult.end
        var failure: TLSError?
        bytes.withUnsafeMutableBytes { buffer in
            do throws(TLSError) { result = try read(into: buffer) } catch { failure = error }
        }
        if let failure { throw failure }
        if case .bytes(let count) = result { return (result, Array(bytes[..<count])) }
        return (result, [])
    }

    func write(_ bytes: [UInt8]) throws(TLSError) -> TLSResult {
        var result = TLSResult.end
        var failure: TLSError?
        bytes.withUnsafeBytes { buffer in
            do throws(TLSError) { result = try write(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
        return result
    }
}
