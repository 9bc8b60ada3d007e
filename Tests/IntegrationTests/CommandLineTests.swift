import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CommandLineTests {
    private let peal = PealProgram()
    private let hello = PealProgram.sample("hello")

    @Test(arguments: [
        [], ["sned"], ["send"], ["send", "nowhere"], ["send", "nowhere", "--limit", "0"],
        ["check", "nowhere"], ["report", "x"], ["auth", "nowhere.p8"],
        ["mock", "--listen", "nonsense"],
    ])
    func refusalsEndWithTwoAndSayWhyOnStandardError(arguments: [String]) throws {
        let result = try peal.run(arguments)
        #expect(result.status == 2)
        #expect(result.outputBytes.isEmpty)
        #expect(result.errors.hasPrefix("peal: "))
    }

    @Test func helpThatWasAskedForIsOutput() throws {
        let result = try peal.run("help", "send")
        #expect(result.status == 0)
        #expect(result.output.contains("--recipients FILE|-"))
        #expect(result.errors.isEmpty)
        #expect(try peal.run("--version").output.hasPrefix("peal "))
    }

    @Test func developmentKeyIsMadeOnceAndForItsOwnerAlone() throws {
        let first = try peal.run("auth", hello)
        #expect(first.status == 0)
        #expect(try peal.run("auth", hello).errors == first.errors)
        let folder = peal.folder.path + "/state/peal/development"
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(folder) == 0o700)
        #expect(try mode(folder + "/AuthKey_PEALDEV001.p8") == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 1)
    }

    @Test func mockContradictsAServer() throws {
        let result = try peal.run("send", hello, "--mock", "--server", "https://localhost:1")
        #expect(result.status == 2)
        #expect(result.errors.contains("leave --server or --mock out"))
    }

    @Test func jsonOnStandardOutputIsThatOfTheRunFolder() throws {
        let result = try peal.run("send", hello, "--mock", "--json", "--run-dir", "here")
        #expect(result.status == 0)
        #expect(result.outputBytes == peal.folder.read("here/summary.json"))
        // Everything for people went elsewhere.
        #expect(result.errors.contains("accepted by APNs"))
    }

    @Test func quietRunSaysNothing() throws {
        let result = try peal.run("send", hello, "--mock", "--quiet")
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(result.outputBytes.isEmpty)
    }

    @Test func printedTokenIsGoodForOtherPrograms() throws {
        let key = peal.folder.path + "/state/peal/development/AuthKey_PEALDEV001.p8"
        let token = try peal.run("auth", hello, "--print-token").output
        let server = try peal.start("mock", "--listen", "127.0.0.1:0", "--key", key)
        let line = try server.waitForErrorLine(containing: "listening on https://")
        let words = line.split(separator: " ")
        let url = try #require(words.first { $0.hasPrefix("https://") }).dropLast()  // the comma
        let device = String(repeating: "ab", count: 32)
        let result = try Subprocess.run([
            "curl", "--silent", "--http2", "--cacert", String(try #require(words.last)),
            "--write-out", "%{http_code}", "--header",
            "authorization: bearer \(token.trimmingCharacters(in: .whitespacesAndNewlines))",
            "--header", "apns-topic: com.example.app", "--header", "apns-push-type: alert",
            "--data", #"{"aps":{"alert":"Hello"}}"#, "\(url)/3/device/\(device)",
        ])
        #expect(result.output == "200")
        server.signal(SIGTERM)
        #expect(server.wait().status == 0)
    }

    @Test func keyFileNeedsItsTeamForAToken() throws {
        _ = try peal.run("auth", hello)
        let key = peal.folder.path + "/state/peal/development/AuthKey_PEALDEV001.p8"
        let refused = try peal.run("auth", key, "--print-token")
        #expect(refused.status == 2)
        #expect(refused.errors.contains("--team-id"))
        let token = try peal.run("auth", key, "--print-token", "--team-id", "DEF123GHIJ")
        #expect(token.status == 0)
        #expect(token.output.split(separator: ".").count == 3)
        #expect(token.errors.isEmpty)
    }
}
