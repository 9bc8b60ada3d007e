import Foundation
import Testing

/// The rules of the project's text that no compiler and no formatter checks.
struct TidyTests {
    private struct Line: CustomStringConvertible {
        let file: String
        let number: Int
        let text: String
        var description: String { "\(file):\(number): \(text)" }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The lines of every Swift file in `folder`, file by file.
    private func files(_ folder: String) throws -> [[Line]] {
        let names = try FileManager.default.subpathsOfDirectory(
            atPath: Self.root.appending(path: folder).path)
        return try names.filter { $0.hasSuffix(".swift") }.map { name in
            let path = "\(folder)/\(name)"
            let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
            return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
                Line(file: path, number: $0.offset + 1, text: String($0.element))
            }
        }
    }

    private func both() throws -> [[Line]] {
        try files("Sources") + files("Tests") + files("Benchmarks")
    }

    @Test func filesAreShort() throws {
        let all = try both()
        #expect(all.count > 200)
        #expect(all.filter { $0.count > 600 }.map { $0[0].file } == [])
    }

    /// The formatter sees to the width of code, and lets a string that cannot be cut pass.
    @Test func commentsKeepWithin100Columns() throws {
        let long = try both().joined().filter { line in
            line.text.count > 100 && line.text.drop { $0 == " " }.hasPrefix("//")
        }
        #expect(long.map(\.description) == [])
    }

    /// A function ends at the first line that stands as far left as its head, but for the `)` of
    /// the head.
    @Test func functionsAreShort() throws {
        let head = /^ *(@\w+(\(.*\))? )*([a-z]+(\(set\))? )*(func |init[?(<]|deinit )/
        var long: [String] = []
        for lines in try both() {
            for start in lines where start.text.contains(head) && !start.text.hasSuffix("}") {
                let indent = start.text.prefix { $0 == " " }.count
                let end = lines[start.number...].first { line in
                    let text = line.text.drop { $0 == " " }
                    return !text.isEmpty && line.text.count - text.count <= indent
                        && !text.hasPrefix(")")
                }
                let count = (end?.number ?? start.number) - start.number + 1
                if count > 70 { long.append("\(start) has \(count) lines") }
            }
        }
        #expect(long == [])
    }

    @Test func whatOtherModulesSeeIsDocumented() throws {
        let declaration = /^ *package ([a-z]+(\(set\))? )*(func|struct|class|enum|protocol)\b/
        var bare: [String] = []
        for lines in try files("Sources") {
            for line in lines where line.text.contains(declaration) {
                let above = lines[..<(line.number - 1)].last {
                    !$0.text.drop { $0 == " " }.hasPrefix("@")
                }
                if above?.text.contains("///") != true { bare.append("\(line)") }
            }
        }
        #expect(bare == [])
    }

    /// Words that mean something only on the machine or among the people of the moment.
    @Test func theTextIsForEverybody() throws {
        let banned = ["/work/", "/home/", "TO" + "DO", "FIX" + "ME", "X" + "XX:"]
        let lines = try both().joined().filter { line in
            line.file != "Tests/PealTests/TidyTests.swift"
                && banned.contains { line.text.contains($0) }
        }
        #expect(lines.map(\.description) == [])
    }
}
