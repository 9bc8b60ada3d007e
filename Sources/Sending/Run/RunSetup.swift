internal import APNS
package import Campaign
internal import Crypto
internal import Glibc
internal import TLS
internal import Transport

/// Everything that must be right before the first row is sent: the input opens, its columns fit the
/// campaign, the CA file loads, the run folder is there.
struct RunSetup {
    let state: RunState
    let folder: RunFolder
    let record: RunRecord
    let reader: RecipientReader
    let list: ChunkList
    /// A second reader of the same rows, for ``Feeder/claimRecordedTokens()``.
    let claimReader: RecipientReader?

    /// A run that starts now.
    init(
        campaign: Campaign, options: SendOptions, tokens: ProviderTokenSource?
    ) throws(SendError) {
        let source = options.recipients ?? campaign.recipients
        let plan = try SendPlan(options: options, pacing: campaign.pacing)
        let isStandardInput = source == "-"
        let tls = try Self.trust(options)
        claimReader = nil
        let reading = ReadCancellation()
        // A file is opened first, so that a wrong path leaves no run folder behind.
        let opened = isStandardInput ? nil : try Self.open(source, spool: nil, reading)
        if let opened { try Self.check(campaign, opened) }
        if isStandardInput { Self.waitForStandardInput() }
        let folder = try RunFolder(creating: options.runDirectory)
        self.folder = folder
        let identity = RunIdentity()
        let startedAt = Timestamp.now()
        do throws(SendError) {
            if let opened {
                reader = opened
            } else {
                reader = try Self.open("-", spool: Self.makeSpool(in: folder), reading)
                try Self.check(campaign, reader)
            }
            var record = RunRecord(
                name: campaign.name, identity: identity, startedAt: startedAt, input: source,
                columns: reader.header?.names ?? [], limit: options.limit,
                server: options.endpoint.description)
            record.pace = RunPace(plan, mode: options.pacing ?? campaign.pacing.mode)
            self.record = record
            try folder.replace("campaign.json", with: campaign.manifestBytes)
            let suppressed = try Self.suppressed(campaign, in: folder)
            list = try ChunkList(path: folder.file("chunks"))
            state = RunState(
                campaign: campaign, plan: plan, endpoint: options.endpoint, tls: tls,
                tokens: tokens, identity: identity, startedAt: startedAt,
                ledger: try Ledger(path: folder.file("ledger")),
                duplicates: campaign.skipsDuplicates
                    ? try DuplicateTable(
                        path: folder.file("duplicates"), key: randomBytes(16),
                        rows: Self.estimatedRows(reader)) : nil,
                chunks: ChunkQueue(chunks: Self.makeChunks(plan)), reading: reading,
                failures: try AppendFile(path: folder.file("failures.ndjson")),
                retries: try AppendFile(path: folder.file("retries.ndjson")),
                connections: try AppendFile(path: folder.file("connections.ndjson")),
                format: reader.format, header: reader.header, rowLimit: options.limit ?? .max,
                suppressed: suppressed)
            // The last file: a folder without it holds no run that could be resumed.
            try folder.replace("run.json", with: record.json(state: "running"))
        } catch {
            // Nothing was sent, so there is nothing to keep: least of all a copy of the tokens.
            folder.remove()
            throw SendError(error.kind == .stopped ? .refused : error.kind, error.description)
        }
    }

    /// Waits for the first byte or the end, so that someone who gives up waiting (no program
    /// writes, or it is a terminal) leaves no run folder behind.
    private static func waitForStandardInput() {
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        while poll(&input, 1, -1) < 0 && errno == EINTR {}
    }

    static func trust(_ options: SendOptions) throws(SendError) -> TLSContext {
        do throws(TLSError) {
            return try TLSContext.client(caFile: options.caFile, identity: options.identity)
        } catch {
            throw SendError(.refused, error.description)
        }
    }

    static func makeChunks(_ plan: SendPlan) -> [RecordChunk] {
        (0..<plan.threads * 2 + 2).map { _ in RecordChunk() }
    }

    /// - Parameter mayBeTorn: whether `source` is the copy of an input whose end nobody has seen.
    static func open(
        _ source: String, spool: SpoolFile?, mayBeTorn: Bool = false,
        _ cancellation: ReadCancellation
    ) throws(SendError) -> RecipientReader {
        do throws(RecipientsError) {
            return try RecipientReader(
                path: source, format: RecipientFormat(fileName: source), spool: spool,
                cancellation: cancellation, mayBeTorn: mayBeTorn)
        } catch {
            throw SendError(error.kind == .refused ? .refused : .stopped, error.description)
        }
    }

    private static func makeSpool(in folder: RunFolder) throws(SendError) -> SpoolFile {
        do throws(RecipientsError) {
            return try SpoolFile(creating: folder.file("input"))
        } catch {
            throw SendError(.refused, error.description)
        }
    }

    /// The campaign's suppression lists; nil when it has none.
    static func suppressed(
        _ campaign: Campaign, in folder: RunFolder
    ) throws(SendError) -> SuppressionTable? {
        guard !campaign.suppress.isEmpty else { return nil }
        return try SuppressionTable(lists: campaign.suppress, path: folder.file("suppressed"))
    }

    /// What has to reach the disk now and then.
    var durableFiles: DurableFiles {
        DurableFiles(
            spool: reader.spool, chunks: list.file, failures: state.failures,
            ledger: state.ledger)
    }

    /// Binds the campaign's columns to the file's header once, for the error that this may bring.
    static func check(
        _ campaign: Campaign, _ reader: RecipientReader
    ) throws(SendError) {
        do throws(CampaignError) {
            _ = try RowReader(campaign: campaign, format: reader.format, header: reader.header)
        } catch {
            throw SendError(.refused, error.description)
        }
    }

    /// Room for the rows of a file, at a guess of 64 bytes a row (a token alone is that long), so
    /// that the table seldom grows; a million for a pipe.
    static func estimatedRows(_ reader: RecipientReader) -> UInt64 {
        reader.bytesTotal.map { $0 / 64 + 1 } ?? 1_000_000
    }
}

extension SendPlan {
    /// Works out the sizes, and refuses those that cannot be.
    package init(options: SendOptions, pacing: Pacing) throws(SendError) {
        let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        connections = options.connections ?? pacing.connections ?? Self.connectionsDefault
        threads = options.threads ?? min(cores, connections)
        let isChosen = options.connections != nil || pacing.connections != nil
        poolMax = isChosen ? connections : PoolGrowth.connectionsMax
        streams = min(options.streams ?? pacing.streams ?? Self.streamsMax, Self.streamsMax)
        rate = options.rate ?? pacing.rate ?? 0
        connectionRate = options.connectionRate ?? pacing.perConnection ?? 0
        retrySecondNs = options.retrySecondNs
        switch options.pacing ?? pacing.mode {
        case .adaptive: rampUpMs = pacing.rampUpMs ?? Self.rampUpMsDefault
        case .gentle where connectionRate > 0:
            connectionRate = min(connectionRate, AdaptivePace.gentleRate)
        case .gentle: connectionRate = AdaptivePace.gentleRate
        case .unlimited: break
        }
        guard (1...Self.connectionsMax).contains(connections) else {
            throw SendError(
                .refused,
                "connections: \(connections) is not 1 to \(Self.connectionsMax); set --connections")
        }
        guard (1...Self.threadsMax).contains(threads) else {
            throw SendError(
                .refused, "threads: \(threads) is not 1 to \(Self.threadsMax); set --threads")
        }
        guard streams >= 1 else {
            throw SendError(.refused, "streams: \(streams) is not 1 or more; set --streams")
        }
        guard threads <= connections else {
            throw SendError(
                .refused,
                """
                \(threads) threads need at least as many connections, and there are \(connections); \
                raise --connections or lower --threads
                """)
        }
    }
}
