internal import APNS
package import Campaign
internal import Crypto

/// Looks at a single row.
package enum RowFinder {
    /// The row as it would be sent.
    ///
    /// - Parameters:
    ///   - row: 1-based.
    ///   - temporaryFolder: for the file with the tokens of suppression lists.
    /// - Throws: kind `.refused` when the file has fewer rows, and for what a run refuses.
    package static func find(
        row: UInt64, of source: String, for campaign: Campaign, temporaryFolder: String
    ) throws(CheckError) -> CheckedRow {
        let input = try Recipients.open(source)
        let reader = try Recipients.rowReader(campaign, input)
        let suppressed = try SuppressedTokens(
            campaign, folder: temporaryFolder, hash: SipHash128(key: randomBytes(16)))
        let chunk = RecordChunk()
        var rows: UInt64 = 0
        while try next(input, chunk) {
            rows = chunk.firstRow + UInt64(chunk.recordCount) - 1
            guard row <= rows else { continue }
            var found = judge(chunk, Int(row - chunk.firstRow), reader, campaign.payloads)
            found.isSuppressed = suppressed?.contains(reader.token) == true
            return found
        }
        let name = source == "-" ? "standard input" : source
        throw CheckError(
            .refused,
            rows == 0
                ? "\(name): there is no row \(row): the file has no rows"
                : "\(name): there is no row \(row): the last one is \(rows); rows are counted from 1, "
                    + "without the header and blank lines")
    }

    private static func next(
        _ input: RecipientReader, _ chunk: RecordChunk
    ) throws(CheckError) -> Bool {
        do throws(RecipientsError) {
            return try input.next(into: chunk)
        } catch {
            throw Recipients.failure(error)
        }
    }

    private static func judge(
        _ chunk: RecordChunk, _ index: Int, _ reader: RowReader, _ payloads: PayloadSet
    ) -> CheckedRow {
        let row = chunk.firstRow + UInt64(index)
        let line = chunk.line(at: index)
        let code = chunk.records[index].problemCode
        let problem =
            code != 0
            ? RowProblem(FinalCode(rawValue: code))
            : reader.read(chunk.record(at: index)) ?? reader.render()
        guard let problem else { return reader.checkedRow(chunk, index, payloads) }
        var checked = CheckedRow(row: row, line: line)
        if !reader.token.isEmpty { checked.token = DeviceToken.shortened(reader.token) }
        checked.problem = CheckedRow.Problem(
            code: problem.code, place: problem.place(row: row, line: line))
        return checked
    }
}
