import Foundation
import TestSupport
import Testing

/// The program `peal` as a person runs it: the release binary, in a folder of its own, with its
/// state there.
struct PealProgram {
    let folder = TemporaryDirectory()

    /// The root of the project.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    /// `PEAL_BINARY`, which `tools/test` sets, or what the last release build made.
    static let binary =
        ProcessInfo.processInfo.environment["PEAL_BINARY"] ?? root + "/.build/release/peal"

    var environment: [String: String] { ["XDG_STATE_HOME": folder.path + "/state"] }

    @discardableResult
    func run(_ arguments: String..., inputFile: String? = nil) throws -> Subprocess.Result {
        try run(arguments, inputFile: inputFile)
    }

    @discardableResult
    func run(_ arguments: [String], inputFile: String? = nil) throws -> Subprocess.Result {
        try #require(
            FileManager.default.isExecutableFile(atPath: Self.binary),
            "\(Self.binary) is missing: run tools/test, which builds it")
        return try Subprocess.run(
            [Self.binary] + arguments, inputFile: inputFile, in: folder.path,
            environment: environment)
    }

    func start(_ arguments: String..., inputFile: String? = nil) throws -> BackgroundProcess {
        try start(arguments, inputFile: inputFile)
    }

    func start(_ arguments: [String], inputFile: String? = nil) throws -> BackgroundProcess {
        try BackgroundProcess(
            [Self.binary] + arguments, inputFile: inputFile, in: folder.path,
            environment: environment)
    }

    /// Path of a sample campaign of the project.
    static func sample(_ name: String) -> String { root + "/campaigns/" + name }

    /// Writes a campaign folder with the recipients given, and returns its path.
    ///
    /// - Parameter changes: lines of the manifest that replace or add keys.
    func campaign(
        recipients: some Sequence<UInt8>, named file: String = "recipients.csv",
        changes: [String: String] = [:]
    ) throws -> String {
        let path = folder.path + "/campaign"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        var keys = [
            "name": "'trial'", "topic": "'com.example.app'", "pushType": "'alert'",
            "environment": "'sandbox'", "credentials": "'development'",
            "recipients": "'\(file)'", "payload": "{ aps: { alert: 'Hello {{name|friend}}' } }",
        ]
        keys.merge(changes) { $1 }
        let manifest =
            "{\n"
            + keys.map { "  \($0.key): \($0.value)" }.sorted()
            .joined(separator: ",\n") + "\n}\n"
        try Data(manifest.utf8).write(to: URL(fileURLWithPath: path + "/campaign.json"))
        try Data(recipients).write(to: URL(fileURLWithPath: path + "/" + file))
        return path
    }

    /// The folder of the only run.
    func runFolder() throws -> String {
        let manager = FileManager.default
        let runs = folder.path + "/runs"
        let name = try #require(try manager.contentsOfDirectory(atPath: runs).first)
        let found = try manager.contentsOfDirectory(atPath: runs + "/" + name)
        try #require(found.count == 1)
        return "\(runs)/\(name)/\(found[0])"
    }

    /// `summary.json` of the only run.
    func summary() throws -> Summary {
        let path = try runFolder() + "/summary.json"
        return try Summary(Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// The failure lines of the only run, by row.
    func failures() throws -> [Int: [String: Any]] {
        let text = try String(contentsOfFile: try runFolder() + "/failures.ndjson", encoding: .utf8)
        var failures: [Int: [String: Any]] = [:]
        for line in text.split(separator: "\n") {
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let row = try #require(object["row"] as? Int)
            try #require(failures[row] == nil, "row \(row) has two failure lines")
            failures[row] = object
        }
        return failures
    }
}

/// `summary.json`, read by Foundation.
struct Summary {
    let rows: Int
    let outcomes: [String: Int]
    let reasons: [String: Int]
    let attempts: Int
    let completed: Bool
    let stoppedBecause: String?

    init(_ json: Data) throws {
        let object = try #require(
            try JSONSerialization.jsonObject(with: json) as? [String: Any])
        rows = try #require(object["rows"] as? Int)
        outcomes = try #require(object["outcomes"] as? [String: Int])
        reasons = try #require(object["reasons"] as? [String: Int])
        attempts = try #require(object["attempts"] as? Int)
        completed = try #require(object["completed"] as? Bool)
        stoppedBecause = object["stoppedBecause"] as? String
    }

    /// Outcomes that are not zero.
    var counted: [String: Int] { outcomes.filter { $0.value > 0 } }
}
