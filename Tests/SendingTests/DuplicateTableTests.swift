import Foundation
import TestSupport
import Testing

@testable import Sending

@Suite struct DuplicateTableTests {
    private let folder = TemporaryDirectory()

    private func table(rows: UInt64) throws -> DuplicateTable {
        try DuplicateTable(
            path: folder.path + "/duplicates", key: Array(repeating: 7, count: 16), rows: rows)
    }

    private func claim(_ table: DuplicateTable, _ token: String, row: UInt64) -> Bool {
        Array(token.utf8).withUnsafeBytes { table.claim($0, row: row) }
    }

    @Test func theFirstRowOfATokenKeepsIt() throws {
        let table = try table(rows: 100)
        #expect(claim(table, "aa", row: 1))
        #expect(claim(table, "bb", row: 2))
        #expect(!claim(table, "aa", row: 3))
    }

    @Test func aRowThatMeetsItsOwnNumberIsNoDuplicate() throws {
        let table = try table(rows: 100)
        #expect(claim(table, "aa", row: 1))
        #expect(claim(table, "aa", row: 1))
    }

    @Test func growingKeepsEveryClaim() throws {
        let table = try table(rows: 1)
        let rows: UInt64 = 20_000
        for row in 1...rows {
            if row > table.rowCapacity { try table.reserve(rows: row) }
            #expect(claim(table, "token \(row)", row: row))
        }
        for row in 1...rows {
            #expect(!claim(table, "token \(row)", row: rows + row))
            #expect(claim(table, "token \(row)", row: row))
        }
    }

    @Test func aFullTableStillFindsWhatIsInIt() throws {
        let table = try table(rows: 1)
        for row in 1...table.rowCapacity { #expect(claim(table, "\(row)", row: row)) }
        #expect(!claim(table, "1", row: 1_000_000))
    }

    /// A million rows, every tenth with the token of an earlier one; no memory beside the file. The
    /// table begins small, so that it grows on the way.
    @Test func duplicatesAmongAMillionAreFoundExactly() throws {
        let table = try table(rows: 100_000)
        let rows: UInt64 = 1_000_000
        var found = 0
        for row in 1...rows {
            if row > table.rowCapacity { try table.reserve(rows: row) }
            // The fifth before a tenth row is no tenth row itself.
            var token = (row % 10 == 0 ? row - 5 : row).bigEndian
            let isFirst = withUnsafeBytes(of: &token) { table.claim($0, row: row) }
            if !isFirst { found += 1 }
        }
        #expect(found == 100_000)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files == ["duplicates"])
    }

    /// A larger file that cannot be made leaves the table as it was.
    @Test func aGrowthThatFailsLosesNoClaim() throws {
        let table = try table(rows: 1)
        for row in 1...table.rowCapacity { #expect(claim(table, "\(row)", row: row)) }
        let capacity = table.rowCapacity
        let inTheWay = folder.write("x", to: "duplicates.new")
        #expect(throws: SendError.self) { try table.reserve(rows: capacity + 1) }
        #expect(table.rowCapacity == capacity)
        #expect(!FileManager.default.fileExists(atPath: inTheWay))
        try table.reserve(rows: capacity + 1)
        for row in 1...capacity { #expect(!claim(table, "\(row)", row: capacity + row)) }
    }

    @Test func whatWasNeverClaimedIsNotThere() throws {
        let table = try table(rows: 1)
        for row in 1...table.rowCapacity { #expect(claim(table, "\(row)", row: row)) }
        for number in 1...table.rowCapacity * 2 {
            let isThere = Array("\(number)".utf8).withUnsafeBytes { table.contains($0) }
            #expect(isThere == (number <= table.rowCapacity))
        }
    }

    @Test func ofManyThreadsExactlyOneClaimsEachToken() async throws {
        let tokens = 20_000
        let table = try table(rows: UInt64(tokens))
        let claimed = await withTaskGroup(of: Int.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    (0..<tokens).count { token in
                        self.claim(
                            table, "token \(token)", row: UInt64(thread * tokens + token + 1))
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(claimed == tokens)
    }
}
