internal import JSON

/// The columns that a campaign uses, each once, and where in a row they are.
struct RowColumns {
    /// Of `names`: the token comes first.
    static let tokenIndex = 0

    private(set) var names: [String] = []
    /// Index in `names` of the locale; -1 when the campaign has no payloads by locale.
    private(set) var localeIndex = -1
    /// Index in `names` of the time of registration; -1 when the campaign names no such column.
    private(set) var registeredAtIndex = -1
    /// For CSV, the number of the field; empty for NDJSON.
    private(set) var fieldIndexes: [Int] = []

    init(campaign: Campaign, header: CSVHeader?) throws(CampaignError) {
        _ = add(campaign.columns.token)
        if !campaign.payloads.byLocale.isEmpty { localeIndex = add(campaign.columns.locale) }
        if let name = campaign.columns.registeredAt { registeredAtIndex = add(name) }
        for template in campaign.payloads.all + (campaign.collapseID.map { [$0] } ?? []) {
            for column in template.columns { _ = add(column.name) }
        }
        guard let header else { return }
        for name in names {
            guard let index = Self.field(name, in: header) else {
                throw missing(name, in: header, of: campaign)
            }
            fieldIndexes.append(index)
        }
    }

    /// The index of a name that was added.
    func index(of name: String) -> Int {
        // `add` has put every name of every template here.
        names.firstIndex { $0.utf8.elementsEqual(name.utf8) }!
    }

    private mutating func add(_ name: String) -> Int {
        if let index = names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) {
            return index
        }
        names.append(name)
        return names.count - 1
    }

    private static func field(_ name: String, in header: CSVHeader) -> Int? {
        header.names.firstIndex { $0.utf8.elementsEqual(name.utf8) }
    }

    private func missing(
        _ name: String, in header: CSVHeader, of campaign: Campaign
    ) -> CampaignError {
        let templates = campaign.payloads.all + (campaign.collapseID.map { [$0] } ?? [])
        let use = templates.lazy.flatMap(\.columns).first { $0.name == name }
        let near = Suggestion.nearest(to: name, among: header.names)
        let list = header.names.prefix(40).map { "\"\($0)\"" }.joined(separator: ", ")
        let rest = header.names.count > 40 ? ", … (\(header.names.count) in all)" : ""
        let wanted =
            name == campaign.columns.token
            ? "the device tokens are in the column \"\(name)\""
            : localeIndex >= 0 && name == campaign.columns.locale
                ? "\"payloads\" are chosen by the column \"\(name)\""
                : name == campaign.columns.registeredAt
                    ? "\"columns.registeredAt\" is the column \"\(name)\""
                    : "a placeholder names the column \"\(name)\""
        return CampaignError(
            file: campaign.manifestPath, line: use?.line ?? 0, column: use?.column ?? 0,
            message: "\(wanted), which the recipients do not have",
            remedy: (near.map { "did you mean \"\($0)\"? " } ?? "")
                + "The columns are: \(list)\(rest)")
    }
}
