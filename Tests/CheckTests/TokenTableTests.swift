import Foundation
import TestSupport
import Testing

@testable import Check

@Suite struct TokenTableTests {
    private let folder = TemporaryDirectory()

    /// A claim of token number `token`: numbers stand for hashes, so that the test knows them.
    private func claim(_ token: UInt64, row: UInt64) -> TokenTable.Claim {
        TokenTable.Claim(hash: (token &* 0x9E37_79B9_7F4A_7C15, token << 48), row: row)
    }

    private func table(
        of tokens: [(token: UInt64, row: UInt64)], rows: UInt64 = 1, together: Int = 700
    ) throws -> TokenTable {
        let table = try TokenTable(folder: folder.path, rows: rows)
        let claims = tokens.map { claim($0.token, row: $0.row) }
        for start in stride(from: 0, to: claims.count, by: together) {
            let part = Array(claims[start..<min(start + together, claims.count)])
            try part.withUnsafeBufferPointer { claims throws(CheckError) in try table.add(claims) }
        }
        return table
    }

    @Test func tokensThatDifferAreNotRepeated() throws {
        let table = try table(of: (1...50_000).map { ($0, $0) })
        #expect(table.repeatedCount == 0)
        #expect(table.repeatedRows.isEmpty)
        #expect(table.mostRepeated == nil)
    }

    @Test func aRowThatRepeatsATokenNamesTheFirstRowWithIt() throws {
        let table = try table(of: [(7, 1), (8, 2), (7, 3), (7, 4), (8, 5), (7, 6)])
        #expect(table.repeatedCount == 4)
        #expect(
            table.repeatedRows == [
                RepeatedRow(row: 3, firstRow: 1), RepeatedRow(row: 4, firstRow: 1),
                RepeatedRow(row: 5, firstRow: 2),
            ])
        #expect(table.mostRepeated == RepeatedToken(firstRow: 1, count: 4))
    }

    /// Compared with a dictionary, in any order, through several growths of the file.
    @Test func theOrderOfRowsDoesNotMatter() throws {
        var random = SeededGenerator(seed: testSeed)
        let tokens = (1...30_000).map { row in
            (token: UInt64.random(in: 1...25_000, using: &random), row: UInt64(row))
        }
        let byToken = Dictionary(grouping: tokens, by: \.token)
        let later = byToken.values.flatMap { same in
            same.dropFirst().map { RepeatedRow(row: $0.row, firstRow: same[0].row) }
        }.sorted { $0.row < $1.row }
        let most = try #require(
            byToken.values.max { ($0.count, $1[0].row) < ($1.count, $0[0].row) })
        for _ in 0..<3 {
            let table = try table(
                of: tokens.shuffled(using: &random),
                together: Int.random(in: 1...5_000, using: &random))
            #expect(table.repeatedCount == UInt64(later.count))
            #expect(table.repeatedRows == Array(later.prefix(3)))
            #expect(
                table.mostRepeated
                    == RepeatedToken(firstRow: most[0].row, count: UInt64(most.count)))
        }
    }

    /// An entry counts to 255; what stands in more rows is counted beside the table.
    @Test(arguments: [254, 255, 256, 257, 1_000])
    func aTokenOfVeryManyRowsIsCountedExactly(rows: Int) throws {
        let others = (1...500).map { (token: UInt64($0) + 10, row: UInt64($0) + 5_000) }
        let table = try table(
            of: (1...rows).map { (token: 3, row: UInt64($0)) } + others
                + others.map { ($0, $1 + 999) }
        )
        #expect(table.mostRepeated == RepeatedToken(firstRow: 1, count: UInt64(rows)))
        #expect(table.repeatedCount == UInt64(rows - 1 + 500))
    }

    @Test func theFileHasNoNameThatCouldStayBehind() throws {
        let table = try table(of: (1...10_000).map { ($0, $0) })
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        withExtendedLifetime(table) {}
    }

    @Test func aFolderThatIsNotThereIsNamedWithTheRemedy() throws {
        let error = #expect(throws: CheckError.self) {
            try TokenTable(folder: folder.path + "/none", rows: 1)
        }
        #expect(error?.kind == .stopped)
        #expect(error?.description.contains(folder.path + "/none") == true)
        #expect(error?.description.contains("TMPDIR") == true)
    }
}
