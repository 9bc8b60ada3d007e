import Crypto
import Foundation
import Glibc
import TestSupport
import Testing

/// Peal's own HTTP/2 framing against servers that share no code with it: haproxy, Node, h2o, whose
/// HPACK decoders, windows and limits are their own. Nothing is lost, and nothing comes twice.
@Suite(.timeLimit(.minutes(5))) struct OtherServersTests {
    private static let rows = 10_000
    private let peal = PealProgram()

    @Test(
        .enabled(
            if: OtherServer.isInstalled("haproxy"),
            "haproxy is not installed: its HTTP/2 server is not tried"))
    func haproxyAcceptsEveryRow() throws {
        _ = try send(to: OtherServer.haproxy())
    }

    @Test(
        .enabled(
            if: OtherServer.isInstalled("node"),
            "node is not installed: its HTTP/2 server is not tried"))
    func nodeReadsEachTokenExactlyOnce() throws {
        let (server, file) = try send(to: OtherServer.node())
        let log = try server.stopAndReadLog()
        #expect(log.allSatisfy { $0.hasSuffix(" true") })
        #expect(try log.map { String($0.dropLast(5)) }.sorted() == lines(of: file))
    }

    @Test(
        .enabled(
            if: OtherServer.isInstalled("h2o"),
            "h2o is not installed: its HTTP/2 server is not tried"))
    func h2oReadsEachTokenExactlyOnce() throws {
        let (server, file) = try send(to: OtherServer.h2o())
        #expect(try server.stopAndReadLog().sorted() == lines(of: file))
    }

    /// Sends a campaign, all of which must be accepted; returns the recipients' file too.
    private func send(to server: OtherServer) throws -> (OtherServer, file: String) {
        let file = try Tools.makeRecipients(Self.rows, format: "csv", in: peal.folder)
        let result = try peal.run(
            "send", PealProgram.sample("spring-sale"), "--recipients", file, "--rate", "0",
            "--pacing", "unlimited", "--server", server.url, "--ca-file", server.caFile)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": Self.rows])
        return (server, file)
    }

    /// What a server's log must hold, sorted.
    private func lines(of file: String) throws -> [String] {
        try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").dropFirst()
            .map { "200 POST /3/device/" + $0.prefix(64).lowercased() }.sorted()
    }
}

/// A server that is not ours, answering 200 to everything over TLS and HTTP/2.
struct OtherServer {
    let folder = TemporaryDirectory()
    let port: UInt16
    let caFile: String
    private let process: BackgroundProcess
    private static let path = ["PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]

    static func isInstalled(_ program: String) -> Bool {
        ["/usr/local/bin", "/usr/sbin", "/usr/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    /// - Parameter command: starts the server, which is told its folder and its port.
    private init(_ command: (TemporaryDirectory, UInt16) -> [String]) throws {
        let authority = try CertificateAuthority.make(commonName: "server test", days: 2)
        let pair = try CertificateAuthority.issue(from: authority, names: ["127.0.0.1"], days: 2)
        caFile = folder.write(authority.certificatePEM, to: "ca.pem")
        folder.write(pair.certificatePEM, to: "server.pem")
        folder.write(pair.keyPEM, to: "server-key.pem")
        folder.write(pair.certificatePEM + pair.keyPEM, to: "both.pem")
        port = try NginxServer.freePort()
        process = try BackgroundProcess(
            command(folder, port), in: folder.path, environment: Self.path)
        // Not every server says when it listens.
        let ready = try Subprocess.run([
            "curl", "--silent", "--insecure", "--output", folder.path + "/ready", "--retry", "50",
            "--retry-connrefused", "--retry-delay", "1", "--request", "POST", "--data", "{}",
            "https://127.0.0.1:\(port)/ready",
        ])
        try #require(ready.status == 0, "the server does not come up: \(ready.errors)")
    }

    var url: String { "https://127.0.0.1:\(port)" }

    /// Stops the server and returns what it logged of Peal's requests, a line each.
    func stopAndReadLog() throws -> [String] {
        process.signal(SIGTERM)
        _ = process.wait()
        let log = try #require(folder.read("access.log"))
        return String(decoding: log, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { !$0.contains("/ready") }
    }

    static func haproxy() throws -> OtherServer {
        try OtherServer { folder, port in
            // Without `http-buffer-request` it resets many requests before it answers.
            folder.write(
                """
                global
                    nbthread 1
                    maxconn 100
                defaults
                    mode http
                    timeout client 60s
                    timeout server 60s
                    timeout connect 5s
                    option http-buffer-request
                frontend test
                    bind 127.0.0.1:\(port) ssl crt \(folder.path)/both.pem alpn h2
                    http-request return status 200

                """, to: "haproxy.cfg")
            return ["haproxy", "-db", "-f", folder.path + "/haproxy.cfg"]
        }
    }

    static func node() throws -> OtherServer {
        try OtherServer { folder, port in
            [
                "node", PealProgram.root + "/Tests/IntegrationTests/clients/node_server.mjs",
                String(port), folder.path + "/server.pem", folder.path + "/server-key.pem",
                folder.path + "/access.log",
            ]
        }
    }

    static func h2o() throws -> OtherServer {
        try OtherServer { folder, port in
            folder.write(
                """
                listen:
                  host: 127.0.0.1
                  port: \(port)
                  ssl:
                    certificate-file: \(folder.path)/server.pem
                    key-file: \(folder.path)/server-key.pem
                    ocsp-update-interval: 0
                num-threads: 1
                access-log:
                  path: \(folder.path)/access.log
                  format: "%s %m %U"
                hosts:
                  default:
                    paths:
                      /:
                        mruby.handler: |
                          Proc.new { |env| [200, {}, []] }

                """, to: "h2o.conf")
            return ["h2o", "-c", folder.path + "/h2o.conf"]
        }
    }
}
