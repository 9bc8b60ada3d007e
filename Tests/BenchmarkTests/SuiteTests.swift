import Foundation
import TestSupport
import Testing

/// The benchmarks as a program, with the smallest inputs: whether they still run. What they measure
/// so is no matter.
struct SuiteTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path
    private static let program = root + "/.build/release/peal-benchmark"
    private static let peal =
        ProcessInfo.processInfo.environment["PEAL_BINARY"] ?? root + "/.build/release/peal"

    private let folder = TemporaryDirectory()

    private func run(_ arguments: String...) throws -> Subprocess.Result {
        try #require(
            FileManager.default.isExecutableFile(atPath: Self.program),
            "\(Self.program) is missing: run tools/test, which builds it")
        return try Subprocess.run(
            [Self.program] + arguments, in: folder.path, environment: ["TMPDIR": folder.path])
    }

    /// The cases of a results file as "layer/case/who".
    private func cases(_ path: String) throws -> Set<String> {
        let json = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(fileURLWithPath: path)))
        let results = try #require((json as? [String: Any])?["results"] as? [[String: Any]])
        return Set(
            results.map { result in
                ["layer", "case", "subject"].map { result[$0] as? String ?? "?" }
                    .joined(separator: "/")
            })
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("micro", "micro/csv-read/"), ("path", "path/path/"),
            ("wire", "wire/centre/local APNs"), ("rivals", "rivals/local APNs/peal"),
            ("paced", "paced/rate 1000/"), ("distance", "distance/20 ms, body 1024/"),
            ("scale", "scale/rows 2000/"), ("start", "start/rows 2000/"),
        ])
    func everyLayerRuns(layer: String, expected: String) throws {
        let file = folder.path + "/results.json"
        let result = try run(layer, "--tiny", "--json", file, "--peal", Self.peal)
        try #require(result.status == 0, "\(result.errors)")
        #expect(try cases(file).contains(expected))

        let report = try run("report", file, "--output", folder.path)
        try #require(report.status == 0, "\(report.errors)")
        let text = try #require(folder.read("RESULTS.md"))
        #expect(String(decoding: text, as: UTF8.self).contains("figures of a short run"))
        if layer == "rivals" {
            let plot = try #require(folder.read("cpu-per-notification.svg"))
            let svg = String(decoding: plot, as: UTF8.self)
            #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n"))
            #expect(svg.contains("against local APNs"))
        }
    }

    @Test func aRunThatWasStoppedIsContinued() throws {
        let file = folder.path + "/results.json"
        for name in ["ledger", "histogram"] {
            let result = try run("micro", "--tiny", "--case", name, "--continue", "--json", file)
            try #require(result.status == 0, "\(result.errors)")
        }
        #expect(try cases(file) == ["micro/ledger/", "micro/histogram/"])
    }

    /// A sender that says that it has sent, and has not: the server knows better.
    @Test(.timeLimit(.minutes(5))) func aRunThatLosesNotificationsIsInvalid() throws {
        let liar = folder.write(
            """
            #!/bin/sh
            if [ "$1" = mock ]; then exec \(Self.peal) "$@"; fi
            printf '{"outcomes":{"accepted":%d}}' \
            $(($(wc -l <"$(echo "$@" | sed 's/.*--recipients \\([^ ]*\\).*/\\1/')") - 1))
            """, to: "liar")
        chmod(liar, 0o700)
        let result = try run(
            "wire", "--tiny", "--json", folder.path + "/results.json", "--peal", liar)
        #expect(result.status == 1)
        #expect(result.errors.contains("invalid: peal sent 500, and local APNs counted 0"))
    }

    @Test(.timeLimit(.minutes(5))) func moreInstructionsThanTheThresholdFail() throws {
        #if arch(x86_64)
            let machine = "x86_64"
        #else
            let machine = "aarch64"
        #endif
        for (limit, status) in [("1", 1), ("1000000", 0)] {
            let thresholds = folder.write(
                #"{ machine: "\#(machine)", instructionsPerOperation: { histogram: \#(limit) } }"#,
                to: "thresholds.json")
            let result = try run(
                "--instructions", "--tiny", "--case", "histogram", "--thresholds", thresholds)
            #expect(result.status == Int32(status), "\(result.errors)")
            #expect(result.errors.contains("more instructions") == (limit == "1"))
        }
    }
}
