import Foundation
import TestSupport
import Testing

/// `peal mock` in a process of its own, on a port of its own.
struct MockProgram {
    let process: BackgroundProcess
    let url: String
    let caFile: String

    init(_ peal: PealProgram, _ options: String...) throws { try self.init(peal, options) }

    init(_ peal: PealProgram, _ options: [String], listen: String = "127.0.0.1:0") throws {
        let state = peal.folder.path + "/mock"
        process = try BackgroundProcess(
            [PealProgram.binary, "mock", "--listen", listen, "--state", state] + options,
            in: peal.folder.path, environment: peal.environment)
        let line = try process.waitForErrorLine(containing: "listening on")
        let match = try #require(
            line.firstMatch(of: /^peal mock: listening on (https:\/\/[0-9.]+:[0-9]+), CA (.+)$/))
        url = String(match.1)
        caFile = String(match.2)
    }

    var port: UInt16 { UInt16(url.split(separator: ":").last ?? "") ?? 0 }

    /// What `curl`, which is not ours, gets from `/mock/stats`.
    func stats() throws -> Stats {
        let answer = try Subprocess.run(
            ["curl", "-sS", "--http2", "--cacert", caFile, url + "/mock/stats"])
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.outputBytes)) as? [String: Any],
            "\(answer.errors)")
        let tokens = try #require(object["tokens"] as? [String: Any])
        return Stats(
            accepted: try #require(object["accepted"] as? Int),
            tokenCount: try #require(tokens["count"] as? Int),
            digest: try #require(tokens["digest"] as? String),
            reasons: try #require(object["reasons"] as? [String: Int]))
    }

    struct Stats {
        let accepted: Int
        let tokenCount: Int
        let digest: String
        let reasons: [String: Int]
    }
}

/// The scripts of `tools/`, which share no code with Peal.
enum Tools {
    /// Writes a recipients file of unique tokens and returns its path.
    static func makeRecipients(
        _ rows: Int, format: String, in folder: TemporaryDirectory, seed: UInt64 = testSeed
    ) throws -> String {
        let path = folder.path + "/made." + format
        let result = try Subprocess.run([
            PealProgram.root + "/tools/make-recipients", String(rows), "--format", format,
            "--seed", String(seed), "--output", path,
        ])
        try #require(result.status == 0, "\(result.errors)")
        return path
    }

    static func tokenDigest(_ file: String) throws -> String {
        let result = try Subprocess.run([PealProgram.root + "/tools/token-digest", file])
        let match = try #require(
            result.output.firstMatch(of: /digest ([0-9a-f]{16})/), "\(result.errors)")
        return String(match.1)
    }
}
