import Foundation
import TestSupport
import Testing

@testable import MockAPNS

/// `peal mock` in a process of its own, whose memory can be measured.
final class MockProcess {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    #if DEBUG
        private static let built = root + "/.build/debug/peal"
    #else
        private static let built = root + "/.build/release/peal"
    #endif

    private let folder = TemporaryDirectory()
    private let process: BackgroundProcess
    let port: UInt16
    let caFile: String

    init(_ options: [String] = []) throws {
        let binary = ProcessInfo.processInfo.environment["PEAL_BINARY"] ?? Self.built
        try #require(
            FileManager.default.isExecutableFile(atPath: binary),
            "\(binary) is missing: build the package first")
        process = try BackgroundProcess(
            [binary, "mock", "--listen", "127.0.0.1:0", "--state", folder.path + "/mock"] + options)
        let line = try process.waitForErrorLine(containing: "listening on")
        let match = try #require(
            line.firstMatch(of: /^peal mock: listening on https:\/\/127.0.0.1:([0-9]+), CA (.+)$/))
        port = try #require(UInt16(match.1))
        caFile = String(match.2)
    }

    func connect() throws -> TLSWire { try TLSWire(port: port, caFile: caFile) }

    /// Anonymous memory in KiB (proc(5)): what the process itself has, without its files.
    func memoryKiB() throws -> Int {
        let status = try String(
            contentsOfFile: "/proc/\(process.identifier)/status", encoding: .utf8)
        let match = try #require(status.firstMatch(of: /RssAnon:\s+([0-9]+) kB/))
        return try #require(Int(match.1))
    }

    /// Whether a good push on a fresh connection is answered 200.
    func answersPush() throws -> Bool {
        let wire = try connect()
        try wire.send(Frames.preface + Frames.push(stream: 1))
        var bytes: [UInt8] = []
        while let more = try wire.receive() {
            bytes += more
            // RFC 7541 appendix A: field 8 is ":status: 200".
            if let answer = Frames.all(in: bytes).first(where: { $0.type == 1 }) {
                return answer.payload.first == 0x88
            }
        }
        return false
    }

    /// Ends it as a person would; true when it ends well.
    func stop() -> Bool {
        process.signal(SIGTERM)
        return process.wait().status == 0
    }
}
