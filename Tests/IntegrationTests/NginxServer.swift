import Crypto
import Foundation
import Glibc
import TestSupport
import Testing

/// nginx, which is not ours, answering 200 to everything over TLS and HTTP/2, and logging each
/// path.
struct NginxServer {
    let folder = TemporaryDirectory()
    let port: UInt16
    let caFile: String
    private let process: BackgroundProcess

    /// - Parameter keepaliveRequests: after so many requests nginx ends a connection with GOAWAY.
    init(keepaliveRequests: Int = 100_000_000, protocols: String = "ssl http2") throws {
        let authority = try CertificateAuthority.make(commonName: "nginx test", days: 2)
        let pair = try CertificateAuthority.issue(from: authority, names: ["127.0.0.1"], days: 2)
        caFile = folder.write(authority.certificatePEM, to: "ca.pem")
        folder.write(pair.certificatePEM, to: "server.pem")
        folder.write(pair.keyPEM, to: "server-key.pem")
        port = try Self.freePort()
        folder.write(
            """
            daemon off;
            master_process off;
            pid \(folder.path)/nginx.pid;
            error_log stderr notice;
            events { worker_connections 256; }
            http {
              log_format paths '$status $request_method $uri';
              access_log \(folder.path)/access.log paths;
              client_body_temp_path \(folder.path)/body;
              proxy_temp_path \(folder.path)/proxy;
              fastcgi_temp_path \(folder.path)/fastcgi;
              uwsgi_temp_path \(folder.path)/uwsgi;
              scgi_temp_path \(folder.path)/scgi;
              keepalive_requests \(keepaliveRequests);
              server {
                listen 127.0.0.1:\(port) \(protocols);
                ssl_certificate server.pem;
                ssl_certificate_key server-key.pem;
                location / { return 200; }
              }
            }
            """, to: "nginx.conf")
        process = try BackgroundProcess(
            ["nginx", "-p", folder.path, "-e", "stderr", "-c", folder.path + "/nginx.conf"],
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
        _ = try process.waitForErrorLine(containing: "getrlimit")
    }

    var url: String { "https://127.0.0.1:\(port)" }

    /// Stops nginx and returns the paths it logged with the status.
    func stopAndReadLog() throws -> [String] {
        process.signal(SIGQUIT)
        _ = process.wait()
        let log = try #require(folder.read("access.log"))
        return String(decoding: log, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// A port that nobody has; nginx must be told a number.
    static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        try #require(result == 0)
        return UInt16(bigEndian: address.sin_port)
    }
}
