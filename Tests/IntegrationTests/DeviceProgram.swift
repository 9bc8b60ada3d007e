import Foundation
import TestSupport
import Testing

/// `peal device` in a process of its own, with its standard output in a file.
struct DeviceProgram {
    let process: BackgroundProcess
    let name: String
    private let outputFile: String
    private let tokenFile: String

    init(
        _ peal: PealProgram, at mock: MockProgram, name: String,
        topic: String = "com.example.app", _ options: String...
    ) throws {
        self.name = name
        tokenFile = peal.folder.path + "/state/peal/devices/\(name)/\(topic)"
        outputFile = peal.folder.path + "/\(name).output"
        // The shell only opens the file, and becomes the program.
        let words = [
            "sh", "-c", #"exec "$0" "$@" >"$OUTPUT""#, PealProgram.binary, "device", "--topic",
            topic, "--name", name, "--server", mock.url, "--ca-file", mock.caFile,
        ]
        process = try BackgroundProcess(
            words + options, in: peal.folder.path,
            environment: peal.environment.merging(["OUTPUT": outputFile]) { $1 })
    }

    /// Waits until it is connected, and returns its token, of which the screen shows a part.
    @discardableResult
    func waitUntilConnected() throws -> String {
        let line = try process.waitForErrorLine(containing: "is connected to")
        let match = try #require(
            line.firstMatch(of: /, token ([0-9a-f]{8})…([0-9a-f]{6})$/), "\(line)")
        let token = try String(contentsOfFile: tokenFile, encoding: .utf8)
            .trimmingCharacters(in: .newlines)
        #expect(token.count == 64)
        #expect(token.hasPrefix(match.1) && token.hasSuffix(match.2))
        return token
    }

    /// What it has printed so far.
    func output() throws -> String { try String(contentsOfFile: outputFile, encoding: .utf8) }

    /// What it has printed with `--json`, read by Foundation.
    func notifications() throws -> [[String: Any]] {
        try output().split(separator: "\n").map { line in
            try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }
}
