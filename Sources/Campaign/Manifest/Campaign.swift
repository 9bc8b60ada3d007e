package import APNS

/// What is sent to whom: a manifest that was read and checked.
package struct Campaign: Sendable {
    /// ASCII letters, digits, ".", "_" and "-"; safe as a folder's name.
    package let name: String
    /// `apns-topic`, as sent.
    package let topic: String
    package let pushType: PushType
    /// `apns-priority`; nil: the header is left away, which APNs takes for 10. Never nil for
    /// background, which APNs wants to say 5.
    package let priority: Int?
    /// `apns-expiration`; nil: the header is left away, which APNs takes for its own policy (30
    /// days).
    package let expiration: Expiration?
    /// `apns-collapse-id`; nil: none.
    package let collapseID: Template?
    /// Whether each row has an `apns-id` of Peal's making.
    package let usesAPNSID: Bool
    package let environment: CampaignEnvironment
    package let credentials: CampaignCredentials
    /// The path of the file, resolved against the manifest's folder, or "-" for standard input.
    package let recipients: String
    package let columns: ColumnNames
    /// The paths of the lists of tokens that are not sent to, resolved against the manifest's
    /// folder.
    package let suppress: [String]
    /// Whether only one of several rows with the same token is sent.
    package let skipsDuplicates: Bool
    package let payloads: PayloadSet
    package let pacing: Pacing
    package let retry: RetryPolicy
    package let timeouts: Timeouts
    package let stopWhen: StopWhen
    package let manifestPath: String
    /// The manifest as read.
    package let manifestBytes: [UInt8]

    /// Reads and checks a campaign.
    ///
    /// `path` is a manifest file, or a folder that holds `campaign.json`. Files that the manifest
    /// names are not opened.
    /// Limits: the manifest has at most `ManifestFile.bytesMax` bytes.
    package static func load(_ path: String) throws(CampaignError) -> Campaign {
        try ManifestReader.campaign(from: try ManifestFile.read(path))
    }
}
