internal import APNS
internal import Campaign
internal import Crypto
internal import TLS
internal import Transport

/// A run that goes on in its folder.
extension RunSetup {
    /// Nothing in the folder is changed before everything is known to fit.
    init(
        resuming campaign: Campaign, options: SendOptions, tokens: ProviderTokenSource?
    ) throws(SendError) {
        let plan = try SendPlan(options: options, pacing: campaign.pacing)
        let tls = try Self.trust(options)
        let folder = try RunFolder(opening: options.runDirectory)
        self.folder = folder
        var record = try RunRecord.read(folder.file("run.json"))
        guard !record.isCompleted else {
            throw SendError(
                .refused, "\(folder.path): nothing to resume: every row has its final outcome")
        }
        guard options.limit == nil else {
            throw SendError(
                .refused, "--limit may not change when a run is resumed: leave it out")
        }
        try ResumeCheck.check(campaign, against: folder)
        var earlier = try EarlierPart(folder, limit: record.limit)
        let ledger = try Ledger(existing: folder.file("ledger"), rows: earlier.rows)
        earlier.counts = ledger.counts(rows: earlier.rows)

        let source = try ResumeSource(options, record, earlier, in: folder)
        let reading = ReadCancellation()
        reader = try source.open(reading)
        try Self.check(campaign, reader)
        try ResumeCheck.checkColumns(reader.header?.names ?? [], of: source.path, against: record)
        claimReader =
            campaign.skipsDuplicates && earlier.rows > 0 ? try source.openCopy(reading) : nil
        for name in ["duplicates", "duplicates.new", "suppressed", "suppressed.new"] {
            folder.remove(name)
        }
        let suppressed = try Self.suppressed(campaign, in: folder)

        try LineFile.dropUncounted(in: folder, ledger: ledger, rows: earlier.rows)
        try LineFile.cutTornEnd(folder.file("retries.ndjson"))
        // Runs of earlier versions have none.
        let connections = try AppendFile(path: folder.file("connections.ndjson"))
        try LineFile.cutTornEnd(connections.path)
        record.server = options.endpoint.description
        // A copy of standard input stays "-": the folder may be moved.
        if let given = options.recipients { record.input = given }
        record.resumes += 1
        record.pace = RunPace(plan, mode: options.pacing ?? campaign.pacing.mode)
        try folder.replace("campaign.json", with: campaign.manifestBytes)
        try folder.replace("run.json", with: record.json(state: "running"))
        self.record = record
        list = try ChunkList(path: folder.file("chunks"))
        state = RunState(
            campaign: campaign, plan: plan, endpoint: options.endpoint, tls: tls, tokens: tokens,
            identity: record.identity, startedAt: record.startedAt, ledger: ledger,
            duplicates: campaign.skipsDuplicates
                ? try DuplicateTable(
                    path: folder.file("duplicates"), key: randomBytes(16),
                    rows: max(Self.estimatedRows(reader), earlier.rows)) : nil,
            chunks: ChunkQueue(chunks: Self.makeChunks(plan)), reading: reading,
            failures: try AppendFile(path: folder.file("failures.ndjson")),
            retries: try AppendFile(path: folder.file("retries.ndjson")),
            connections: connections,
            format: reader.format, header: reader.header, rowLimit: record.limit ?? .max,
            suppressed: suppressed, earlier: earlier)
    }
}
