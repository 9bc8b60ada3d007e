import Foundation
import TestSupport
import Testing

/// Peal against a server that its authors did not write.
@Suite(.timeLimit(.minutes(5))) struct ForeignServerTests {
    private let peal = PealProgram()

    /// nginx answers before the body is read and resets the stream with NO_ERROR, and lets 128
    /// streams be open.
    @Test func nginxLogsEachTokenExactlyOnce() throws {
        let rows = 20_000
        let file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
        let nginx = try NginxServer()

        let result = try send(file, to: nginx)

        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": rows])
        let log = try nginx.stopAndReadLog()
        let tokens = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
            .dropFirst().map { "200 POST /3/device/" + $0.prefix(64).lowercased() }
        #expect(log.sorted() == tokens.sorted())
    }

    /// B03, B44: a server that ends each connection after 1,000 requests is normal maintenance.
    @Test func connectionsThatNginxEndsAreReplacedWithoutLosingARow() throws {
        let rows = 10_000
        let file = try Tools.makeRecipients(rows, format: "csv", in: peal.folder)
        let nginx = try NginxServer(keepaliveRequests: 1_000)

        let result = try send(file, to: nginx)

        #expect(result.status == 0, "\(result.errors)")
        #expect(try peal.summary().counted == ["accepted": rows])
        let log = try nginx.stopAndReadLog()
        #expect(Set(log).count == rows)
    }

    @Test func aServerWithoutHTTP2IsNamedAsSuch() throws {
        let nginx = try NginxServer(protocols: "ssl")
        let result = try peal.run(
            "send", PealProgram.sample("hello"), "--server", nginx.url, "--ca-file", nginx.caFile)
        #expect(result.status == 3)
        #expect(result.errors.contains("HTTP/2"))
        #expect(try peal.summary().counted == [:])
    }

    @Test func aCertificateThatNobodyTrustsIsRefusedWithTheRemedy() throws {
        let nginx = try NginxServer()
        let result = try peal.run("send", PealProgram.sample("hello"), "--server", nginx.url)
        #expect(result.status == 3)
        #expect(result.errors.contains("not trusted"))
        #expect(result.errors.contains("--ca-file"))
        #expect(try nginx.stopAndReadLog().isEmpty)
    }

    @Test func aCertificateForAnotherHostIsRefused() throws {
        let nginx = try NginxServer()
        let result = try peal.run(
            "send", PealProgram.sample("hello"), "--server", "https://localhost:\(nginx.port)",
            "--ca-file", nginx.caFile)
        #expect(result.status == 3)
        #expect(result.errors.contains("localhost"))
    }

    @Test func aServerThatIsNotThereIsNamedWithItsAddress() throws {
        let port = try NginxServer.freePort()
        let result = try peal.run(
            "send", PealProgram.sample("hello"), "--server", "https://127.0.0.1:\(port)")
        #expect(result.status == 3)
        #expect(result.errors.contains("127.0.0.1:\(port)"))
        #expect(result.errors.lowercased().contains("refused"))
        #expect(try peal.summary().rows == 5)
        #expect(try peal.summary().counted == [:])
    }

    private func send(_ file: String, to nginx: NginxServer) throws -> Subprocess.Result {
        try peal.run(
            "send", PealProgram.sample("spring-sale"), "--recipients", file, "--rate", "0",
            "--pacing", "unlimited",
            "--server", nginx.url, "--ca-file", nginx.caFile)
    }
}
