package import Campaign

/// Everything that a report tells of a run that has ended.
package struct RunFacts: Sendable {
    package var summary: RunSummary
    /// The first start: RFC 3339, UTC, with milliseconds.
    package var startedAt: String
    /// The path of the recipients, or "-" for standard input.
    package var input: String
    /// Rows past this one were not sent; nil for no limit.
    package var limit: UInt64?
    /// Where the latest start sent to, as a URL.
    package var server: String
    /// How fast the latest start was allowed to send; nil for a run of an earlier version.
    package var pace: RunPace?
    /// As it was sent; nil when the copy in the run folder cannot be read.
    package var campaign: Campaign?
    package var rate = RateSeries()
    package var connectionEnds = ConnectionEnds()

    package init(summary: RunSummary, startedAt: String, input: String, server: String) {
        self.summary = summary
        self.startedAt = startedAt
        self.input = input
        self.server = server
    }

    init(_ summary: RunSummary, _ record: RunRecord, _ rate: RateSeries, in folder: RunFolder) {
        self.init(
            summary: summary, startedAt: record.startedAt.rfc3339, input: record.input,
            server: record.server)
        limit = record.limit
        pace = record.pace
        campaign = try? Campaign.load(folder.file("campaign.json"))
        self.rate = rate
        connectionEnds = ConnectionEnds(file: folder.file("connections.ndjson"))
    }
}
