import Foundation
import TestSupport
import Testing

/// `peal load` as a person runs it.
@Suite(.timeLimit(.minutes(5)))
struct LoadProgramTests {
    private let peal = PealProgram()

    private func json(_ result: Subprocess.Result) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(result.outputBytes)) as? [String: Any],
            "\(result.errors)")
    }

    @Test func aRateThatIsReachedEndsWithZeroAndEveryFigure() throws {
        let histogram = peal.folder.path + "/latency.txt"
        let result = try peal.run(
            "load", "--mock", "--rate", "200", "--duration", "2s", "--json", "--histogram",
            histogram)
        let summary = try json(result)
        #expect(summary["planned"] as? Int == 400)
        #expect(summary["end"] as? String == "completed")
        let isReached = try #require(summary["rateReached"] as? Bool)
        #expect(result.status == (isReached ? 0 : 3))
        #expect((summary["shortfall"] is NSNull) == isReached)
        let accepted = try #require(summary["accepted"] as? Int)
        for name in ["latency", "service", "lag"] {
            let values = try #require(summary["\(name)Milliseconds"] as? [String: Any])
            #expect(values["count"] as? Int == accepted)
            let shares = ["p50", "p90", "p99", "p999", "p9999", "max"].map {
                values[$0] as? Double ?? -1
            }
            #expect(shares == shares.sorted() && shares[0] >= 0)
        }
        let lines = (try String(contentsOfFile: histogram, encoding: .utf8)).split(separator: "\n")
        #expect(
            lines[0].split(separator: " ").map(String.init) == [
                "Value", "Percentile", "TotalCount", "1/(1-Percentile)",
            ])
        #expect(lines.contains { $0.contains("Total count    = ") && $0.contains(" \(accepted)]") })
        #expect(result.errors.contains("latency"))
    }

    @Test func aServerWithFewStreamsAndADelayEndsWithThreeLoudly() throws {
        let mock = try MockProgram(
            peal, "--fault", "latency=100ms", "--fault", "settings streams=2 per=connection")
        let result = try peal.run(
            "load", "--server", mock.url, "--ca-file", mock.caFile, "--connections", "1",
            "--rate", "200", "--duration", "1s", "--json")
        #expect(result.status == 3)
        #expect(result.errors.contains("RATE NOT REACHED"))
        #expect(result.errors.contains("no stream was free"))
        let summary = try json(result)
        #expect(summary["rateReached"] as? Bool == false)
        #expect(summary["shortfall"] as? String == "streams")
        #expect((summary["notSent"] as? Int ?? 0) > 0)
    }

    /// nginx ends each connection with GOAWAY after 300 requests, and answers before the body is
    /// there.
    @Test func nginxAnswersEveryRequestWhateverConnectionsItEnds() throws {
        let nginx = try NginxServer(keepaliveRequests: 300)
        let result = try peal.run(
            "load", "--server", "https://127.0.0.1:\(nginx.port)", "--ca-file", nginx.caFile,
            "--connections", "2", "--rate", "1000", "--duration", "2s", "--json")
        let summary = try json(result)
        #expect(summary["failed"] as? Int == 0)
        let accepted = try #require(summary["accepted"] as? Int)
        #expect(accepted == summary["sent"] as? Int)
        let connections = try #require(summary["connections"] as? [String: Int])
        #expect((connections["goaway"] ?? 0) + (connections["lost"] ?? 0) >= accepted / 300 - 2)
    }

    @Test func anInterruptEndsWith130AndASummary() throws {
        let load = try peal.start("load", "--mock", "--rate", "100", "--duration", "1h")
        _ = try load.waitForErrorLine(containing: "accepted/s")
        load.signal(SIGINT)
        let end = load.wait()
        #expect(end.status == 130)
        #expect(end.errors.contains("STOPPED after"))
        #expect(end.errors.contains("latency"))
    }

    @Test(arguments: [
        ["--server", "https://api.push.apple.com"],
        ["--server", "https://API.Push.Apple.com.:443", "--i-own-this-server"],
        ["--server", "https://api.sandbox.push.apple.com:2197", "--i-own-this-server"],
        ["--server", "https://api.development.push.apple.com", "--i-own-this-server"],
        ["--server", "https://17.188.143.34", "--i-own-this-server"],
        ["--server", "https://0x11.0x12.0x13.0x14", "--i-own-this-server"],
        ["--server", "https://[::ffff:17.188.143.34]", "--i-own-this-server"],
        ["--server", "https://192.0.2.1"], ["--server", "https://[2001:db8::1]"],
        ["--server", "https://3221225985"],  // 192.0.2.1
    ])
    func serversThatMayNotBeTestedAreRefused(options: [String]) throws {
        let result = try peal.run(["load", "--rate", "10"] + options)
        #expect(result.status == 2, "\(result.errors)")
        #expect(result.errors.contains("a load test"))
    }

    @Test(arguments: [
        [], ["--rate", "0"], ["--rate", "-5"], ["--ramp", "5"], ["--ramp", "0..5"],
        ["--ramp", "1..2..3"], ["--rate", "1", "--ramp", "1..2"],
        ["--rate", "1", "--duration", "soon"], ["--rate", "1", "--duration", "0s"],
        ["--rate", "1", "--i-own-this-server"], ["--rate", "1", "--payload-bytes", "5000"],
        ["--rate", "1", "--server", "http://localhost"], ["--rate", "1", "--streams", "0"],
        ["--rate", "1", "--threads", "3", "--connections", "2"],
        ["--rate", "1", "--histogram", "/nowhere/file"],
    ])
    func wrongUsageIsRefused(options: [String]) throws {
        let isForServer = options.contains("--server") || options.contains("--i-own-this-server")
        let result = try peal.run(["load"] + options + (isForServer ? [] : ["--mock"]))
        #expect(result.status == 2, "\(result.errors)")
        #expect(result.errors.hasPrefix("peal: "))
        #expect(result.outputBytes.isEmpty)
    }

    @Test func aServerThatDoesNotRunEndsWithThree() throws {
        let mock = try MockProgram(peal)
        mock.process.signal(SIGTERM)
        _ = mock.process.wait()
        let result = try peal.run(
            "load", "--rate", "10", "--server", mock.url, "--ca-file", mock.caFile)
        #expect(result.status == 3)
        #expect(result.errors.contains("cannot connect"))
    }

    @Test func theDefaultServerIsTheLocalAPNs() throws {
        let result = try peal.run("load", "--rate", "10")
        #expect(result.status == 2)
        #expect(result.errors.contains("start peal mock in another terminal, or add --mock"))
    }
}
