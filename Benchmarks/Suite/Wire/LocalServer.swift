internal import Glibc
internal import JSON

/// What a server has counted since it was started.
struct ServerCount {
    /// Requests that it answered.
    var requests: Int
    /// The sum of the hashes of the accepted tokens, where the server tells it.
    var digest: UInt64?
}

/// A server on this machine that answers every notification with 200.
protocol LocalServer: AnyObject {
    var name: String { get }
    var url: String { get }
    var caFile: String { get }
    var process: ChildProcess { get }
    /// Asks the server; the question itself is not counted.
    func count() throws -> ServerCount
    /// Where aioapns finds it: it needs `apns-id` echoed.
    var echoURL: String { get }
}

extension LocalServer {
    var echoURL: String { url }
    var port: String { String(url.split(separator: ":").last!) }
}

/// The local APNs in a process of its own.
final class MockAPNs: LocalServer {
    let name: String
    let url: String
    let caFile: String
    let process: ChildProcess
    let state: String
    private let work: WorkFolder

    init(
        _ options: Options, _ work: WorkFolder, name: String = "local APNs",
        arguments: [String] = ["--fast"], cores: String? = serverCores
    ) throws {
        self.name = name
        self.work = work
        state = work.makeFolder("mock")
        process = try ChildProcess(
            [options.peal, "mock", "--listen", "127.0.0.1:0", "--state", state] + arguments,
            cores: cores, logs: work.newLogs("mock"))
        var line: Substring?
        for _ in 0..<2000 where line == nil {
            line = textFile(process.errorPath).split(separator: "\n").first {
                contains(String($0), "listening on https://")
            }
            guard process.isRunning else { break }
            if line == nil { usleep(5_000) }
        }
        // "peal mock: listening on https://127.0.0.1:40000, CA /path/ca.pem"
        guard let words = line?.split(separator: " "), words.count >= 6 else {
            throw Failure("the local APNs does not start: \(textFile(process.errorPath))")
        }
        url = String(words[4].dropLast())
        caFile = words[6...].joined(separator: " ")
    }

    func count() throws -> ServerCount {
        let text = try outputOf(
            ["curl", "-sS", "--http2", "--cacert", caFile, url + "/mock/stats"],
            logs: work.newLogs("stats"))
        let node = try JSONDocument.parse(Array(text.utf8), dialect: .strict)
        guard let accepted = node["accepted"]?.asInt,
            let digest = node["tokens"]?["digest"]?.asString.flatMap({ UInt64($0, radix: 16) })
        else { throw Failure("the local APNs' statistics are not understood: \(text)") }
        return ServerCount(requests: accepted, digest: digest)
    }
}

/// haproxy with a fixed 200; a second port sends `apns-id` back.
final class HAProxy: LocalServer {
    let name = "haproxy"
    let url: String
    let echoURL: String
    let caFile: String
    let process: ChildProcess
    private let work: WorkFolder
    private let statsURL: String

    /// Serves with the local APNs' certificate, so that both do the same TLS.
    init(_ work: WorkFolder, like mock: MockAPNs) throws {
        self.work = work
        caFile = mock.caFile
        let ports = try (0..<3).map { _ in try freePort() }
        url = "https://127.0.0.1:\(ports[0])"
        echoURL = "https://127.0.0.1:\(ports[1])"
        statsURL = "http://127.0.0.1:\(ports[2])/stats;csv"
        let folder = work.makeFolder("haproxy")
        let pem = folder + "/server.pem"
        try writeFile(
            pem,
            bytesOfFile(mock.state + "/server.pem") + bytesOfFile(mock.state + "/server-key.pem"))
        try writeFile(
            folder + "/haproxy.cfg",
            """
            global
                nbthread 1
                maxconn 1000
                tune.h2.max-concurrent-streams 1000
            defaults
                mode http
                timeout client 60s
                timeout server 60s
                timeout connect 5s
                option http-buffer-request
            frontend speed
                bind 127.0.0.1:\(ports[0]) ssl crt \(pem) alpn h2
                http-request return status 200
            frontend echo
                bind 127.0.0.1:\(ports[1]) ssl crt \(pem) alpn h2
                http-request return status 200 hdr apns-id %[req.hdr(apns-id)]
            frontend statistics
                bind 127.0.0.1:\(ports[2])
                stats enable
                stats uri /stats

            """)
        process = try ChildProcess(
            ["haproxy", "-db", "-f", folder + "/haproxy.cfg"].inSbin, cores: serverCores,
            logs: work.newLogs("haproxy"))
        try waitUntilItAnswers()
    }

    func count() throws -> ServerCount {
        let text = try outputOf(["curl", "-sS", statsURL], logs: work.newLogs("stats"))
        let lines = text.split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        guard let column = lines.first?.firstIndex(of: "hrsp_2xx") else {
            throw Failure("haproxy's statistics are not understood: \(text)")
        }
        let rows = lines.filter { $0.count > column && ($0[0] == "speed" || $0[0] == "echo") }
        return ServerCount(requests: rows.reduce(0) { $0 + (Int($1[column]) ?? 0) })
    }
}

/// nginx with a fixed 200, which it sends before it has read the body.
final class Nginx: LocalServer {
    let name = "nginx"
    let url: String
    let caFile: String
    let process: ChildProcess
    private let work: WorkFolder
    private let statsURL: String
    private var questions = 0

    init(_ work: WorkFolder, like mock: MockAPNs) throws {
        self.work = work
        caFile = mock.caFile
        let ports = try (0..<2).map { _ in try freePort() }
        url = "https://127.0.0.1:\(ports[0])"
        statsURL = "http://127.0.0.1:\(ports[1])/"
        let folder = work.makeFolder("nginx")
        let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder)/\($0);"
        }
        try writeFile(
            folder + "/nginx.conf",
            """
            daemon off; master_process off; worker_processes 1; pid \(folder)/pid;
            error_log stderr error;
            events { worker_connections 1024; }
            http {
              access_log off; keepalive_requests 1000000000; http2_max_concurrent_streams 1000;
              \(scratch.joined(separator: " "))
              server {
                listen 127.0.0.1:\(ports[0]) ssl http2;
                ssl_certificate \(mock.state)/server.pem;
                ssl_certificate_key \(mock.state)/server-key.pem;
                location / { return 200; }
              }
              server { listen 127.0.0.1:\(ports[1]); location / { stub_status; } }
            }
            """)
        process = try ChildProcess(
            ["nginx", "-p", folder, "-e", "stderr", "-c", folder + "/nginx.conf"].inSbin,
            cores: serverCores, logs: work.newLogs("nginx"))
        try waitUntilItAnswers()
    }

    func count() throws -> ServerCount {
        let text = try outputOf(["curl", "-sS", statsURL], logs: work.newLogs("stats"))
        questions += 1
        // "server accepts handled requests\n 5 5 12 \n": the question itself is among them.
        let lines = text.split(separator: "\n")
        guard lines.count > 2, let total = lines[2].split(separator: " ").last.flatMap({ Int($0) })
        else { throw Failure("nginx' statistics are not understood: \(text)") }
        return ServerCount(requests: total - questions)
    }
}

extension [String] {
    /// With the program's path, for servers that are not in a user's PATH.
    fileprivate var inSbin: [String] { [findProgram(self[0]) ?? self[0]] + dropFirst() }
}

extension LocalServer {
    fileprivate func waitUntilItAnswers() throws {
        for _ in 0..<400 {
            if (try? count()) != nil { return }
            guard process.isRunning else { break }
            usleep(10_000)
        }
        throw Failure("\(name) does not start: \(textFile(process.errorPath))")
    }
}

/// A port that nobody has.
func freePort() throws(Failure) -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
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
    guard result == 0 else { throw Failure("there is no free port") }
    return UInt16(bigEndian: address.sin_port)
}

/// Client and server have a core each where the machine has two.
let coreCount = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
let clientCores = "0"
let serverCores = coreCount > 1 ? "1" : "0"
