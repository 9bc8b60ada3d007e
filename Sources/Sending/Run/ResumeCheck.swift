internal import APNS
internal import Campaign
internal import JSON

/// What must be as it was when a run goes on: everything that decides which rows are sent and what
/// they say. Rows of one run that differ otherwise would make its outcomes mean nothing.
enum ResumeCheck {
    /// - Throws: kind `.refused`, with the key that has changed.
    static func check(_ campaign: Campaign, against folder: RunFolder) throws(SendError) {
        let kept: Campaign
        do throws(CampaignError) {
            kept = try Campaign.load(folder.file("campaign.json"))
        } catch {
            throw SendError(.refused, error.description)
        }
        let isSame = [
            ("name", kept.name == campaign.name),
            ("pushType", kept.pushType.name == campaign.pushType.name),
            ("apnsID", kept.usesAPNSID == campaign.usesAPNSID),
            ("columns", kept.columns == campaign.columns),
            ("duplicates", kept.skipsDuplicates == campaign.skipsDuplicates),
        ]
        if let (key, _) = isSame.first(where: { !$0.1 }) { throw changed(key, campaign, folder) }
        let (before, now) = (root(kept), root(campaign))
        // Of the lists only their names: what they hold may grow while the run rests.
        for key in ["collapseID", "payload", "payloads", "suppress"]
        where !areSame(before?[key], now?[key]) {
            throw changed(key, campaign, folder)
        }
    }

    /// - Parameter names: the columns of the recipients file as it is now.
    static func checkColumns(
        _ names: [String], of source: String, against record: RunRecord
    ) throws(SendError) {
        guard names != record.columns else { return }
        throw SendError(
            .refused,
            """
            \(source): recipients: its columns are not those of the file that the run was started \
            with (\(record.columns.joined(separator: ", "))); name that file with --recipients
            """)
    }

    private static func changed(
        _ key: String, _ campaign: Campaign, _ folder: RunFolder
    ) -> SendError {
        SendError(
            .refused,
            """
            \(campaign.manifestPath): \(key): it has changed since the run was started, and may \
            not, because it \(effect(of: key)); what was sent is in \
            \(folder.file("campaign.json")): change it back, or start a new run without --resume
            """)
    }

    /// Why a run would not be one run any more.
    private static func effect(of key: String) -> String {
        switch key {
        case "name": "is what the run is called"
        case "duplicates", "suppress": "decides which rows are sent"
        case "columns": "decides which rows are sent and what they say"
        case "apnsID", "collapseID": "tells notifications apart, also those that were sent before"
        default: "decides what notifications say, and half of them are sent"
        }
    }

    private static func root(_ campaign: Campaign) -> JSONNode? {
        try? JSONDocument.parse(campaign.manifestBytes, dialect: .json5)
    }

    /// Whether both say the same, wherever and however they are written.
    private static func areSame(_ one: JSONNode?, _ other: JSONNode?) -> Bool {
        switch (one?.value, other?.value) {
        case (nil, nil), (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        // By bytes: Swift's == also takes some texts for equal that are sent differently.
        case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
        case (.array(let one), .array(let other)):
            one.elementsEqual(other, by: areSame)
        case (.object(let one), .object(let other)):
            one.elementsEqual(other) {
                $0.key.utf8.elementsEqual($1.key.utf8) && areSame($0.value, $1.value)
            }
        default: false
        }
    }
}
