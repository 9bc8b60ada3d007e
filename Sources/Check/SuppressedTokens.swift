internal import Campaign
internal import Crypto

/// The tokens of a campaign's suppression lists.
///
/// - Thread: made by one, asked by any.
/// - Memory: file pages, as `TokenTable`.
struct SuppressedTokens: @unchecked Sendable {  // nothing changes the table once it is made
    private let table: TokenTable
    private let hash: SipHash128

    /// Reads all lists; nil when the campaign has none.
    ///
    /// - Parameter folder: where the file of the table is made.
    /// - Throws: kind `.refused` for what a run refuses too.
    init?(_ campaign: Campaign, folder: String, hash: SipHash128) throws(CheckError) {
        guard !campaign.suppress.isEmpty else { return nil }
        self.hash = hash
        table = try TokenTable(folder: folder, rows: 1_000_000)
        for list in campaign.suppress { try add(list) }
    }

    /// Whether a list holds this token, given as `RowReader.token` has it. No allocation.
    func contains(_ token: UnsafeRawBufferPointer) -> Bool { table.contains(hash.hash(token)) }

    private func add(_ list: String) throws(CheckError) {
        let reader = try Self.refusing { () throws(RecipientsError) in
            try SuppressionListReader(path: list)
        }
        while try Self.refusing({ () throws(RecipientsError) in try reader.next() }) {
            try table.add(TokenTable.Claim(hash: hash.hash(reader.token), row: 1))
        }
    }

    private static func refusing<Result>(
        _ body: () throws(RecipientsError) -> Result
    ) throws(CheckError) -> Result {
        do throws(RecipientsError) { return try body() } catch {
            throw CheckError(.refused, "suppress: \(error)")
        }
    }
}
