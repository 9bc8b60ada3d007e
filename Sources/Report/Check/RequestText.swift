internal import APNS
internal import Campaign
internal import Check

/// The headers of a row's request, as far as they are known before the run starts.
enum RequestText {
    /// Names and values, in the order in which they are sent.
    static func headers(_ campaign: Campaign, _ row: CheckedRow) -> [(name: String, value: String)]
    {
        var headers = [
            (name: "apns-topic", value: campaign.topic),
            (name: "apns-push-type", value: campaign.pushType.name),
        ]
        if let priority = campaign.priority { headers.append(("apns-priority", "\(priority)")) }
        if let value = expiration(campaign) { headers.append(("apns-expiration", value)) }
        if campaign.usesAPNSID {
            headers.append(("apns-id", "(a UUID, the same on every attempt)"))
        }
        if !row.collapseID.isEmpty { headers.append(("apns-collapse-id", row.collapseID)) }
        return headers
    }

    private static func expiration(_ campaign: Campaign) -> String? {
        switch campaign.expiration {
        case nil: nil
        case .zero: "0"
        case .at(let seconds): ExpirationHeader.value(unixSeconds: seconds)
        case .after(let seconds):
            "(\(NumberText.duration(seconds: Double(seconds), tenths: false)) after the start)"
        }
    }
}
