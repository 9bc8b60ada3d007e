package import Campaign
internal import Crypto
internal import EventLoop
internal import Glibc

/// What is checked, and how much of it.
package struct CheckOptions: Sendable {
    /// The recipients: a path, or "-" for standard input.
    package var source: String
    /// The first so many rows only.
    package var limit: UInt64?
    /// Threads to work with; more than a handful would wait for the one that reads.
    package var threads = min(8, max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    /// A folder for the file with the tokens seen.
    package var temporaryFolder: String

    package init(source: String, temporaryFolder: String) {
        self.source = source
        self.temporaryFolder = temporaryFolder
    }
}

/// Where a check stands.
package struct CheckProgress: Sendable {
    package var rows: UInt64 = 0
    /// How much of the file is read, 0 to 1; nil where its size is not known.
    package var fractionRead: Double?
    package var seconds = 0.0

    package init() {}
}

/// Reads the recipients of a campaign from end to end, and judges each row as a run would.
///
/// All threads do the same: take the reader, fill a chunk, leave the reader to the next, count the
/// chunk's rows, and bring their tokens to the common table. There is no queue: the only waiting is
/// that for the reader and for the table, a small part of the work.
package final class CampaignCheck: Sendable {
    private let input: Guarded<Input>
    private let tokens: Guarded<Tokens>
    private let results = Guarded(Results())
    private let campaign: Campaign
    private let options: CheckOptions
    private let hash = SipHash128(key: randomBytes(16))
    private let suppressed: SuppressedTokens?
    private let startNs = monotonicNowNs()

    /// The reader and what belongs to it. @unchecked: whoever holds the lock has it for itself.
    private struct Input: @unchecked Sendable {
        let reader: RecipientReader
        var rows: UInt64 = 0
        var hasEnded = false
    }

    /// The table; made when the first chunk says how long a row is.
    private struct Tokens: @unchecked Sendable {  // whoever holds the lock has it for itself
        var table: TokenTable?
    }

    private struct Results: @unchecked Sendable {  // a thread puts its tally here and lets go of it
        var tallies: [RowTally] = []
        var error: CheckError?
    }

    /// Opens the recipients, binds the campaign's columns, and reads its suppression lists.
    ///
    /// - Throws: kind `.refused` for what a run refuses too.
    package init(_ campaign: Campaign, _ options: CheckOptions) throws(CheckError) {
        self.campaign = campaign
        self.options = options
        let reader = try Recipients.open(options.source)
        _ = try Recipients.rowReader(campaign, reader)
        suppressed = try SuppressedTokens(
            campaign, folder: options.temporaryFolder, hash: hash)
        input = Guarded(Input(reader: reader))
        tokens = Guarded(Tokens())
    }

    /// Reads everything, and returns what it found.
    ///
    /// - Parameter progress: called now and then, from any thread, by one at a time.
    package func run(
        progress: @escaping @Sendable (CheckProgress) -> Void
    ) throws(CheckError) -> CheckFacts {
        var threads: [PlatformThread] = []
        for _ in 1..<max(1, options.threads) {
            // A thread less is slower and nothing else.
            let thread = try? PlatformThread.start(name: "peal-check") { self.work(progress) }
            if let thread { threads.append(thread) }
        }
        work(progress)
        for thread in threads { thread.join() }
        if let error = results.withLock({ $0.error }) { throw error }
        return facts()
    }

    private func facts() -> CheckFacts {
        var facts = CheckFacts(source: options.source)
        input.withLock { input in
            facts.rows = input.rows
            facts.bytesRead = input.reader.bytesRead
        }
        results.withLock { RowTally.merge($0.tallies, campaign, into: &facts) }
        tokens.withLock { tokens in
            guard let table = tokens.table else { return }
            facts.repeatedCount = table.repeatedCount
            facts.repeatedRows = table.repeatedRows
            facts.mostRepeated = table.mostRepeated
        }
        facts.seconds = seconds
        return facts
    }

    private var seconds: Double { Double(monotonicNowNs() - startNs) / 1e9 }

    // MARK: One thread

    private func work(_ progress: @Sendable (CheckProgress) -> Void) {
        let chunk = RecordChunk()
        let claims = UnsafeMutablePointer<TokenTable.Claim>.allocate(
            capacity: RecordChunk.targetBytesDefault / 32)
        defer { claims.deallocate() }
        do throws(CheckError) {
            let tally = try makeTally()
            while let recordCount = try fill(chunk, progress) {
                let claimCount = tally.add(chunk, recordCount: recordCount, claims: claims)
                try addTokens(UnsafeBufferPointer(start: claims, count: claimCount), chunk)
            }
            keep(tally)
        } catch {
            stop(error)
        }
    }

    private func makeTally() throws(CheckError) -> RowTally {
        let made = input.withLock { input -> Result<SendableTally, CheckError> in
            do throws(CheckError) {
                let reader = try Recipients.rowReader(campaign, input.reader)
                return .success(
                    SendableTally(
                        tally: RowTally(
                            campaign, reader: reader, hash: hash, suppressed: suppressed)))
            } catch {
                return .failure(error)
            }
        }
        return try made.get().tally
    }

    /// Fills the chunk; nil at the end of the input. Returns how many of its rows count.
    private func fill(
        _ chunk: RecordChunk, _ progress: @Sendable (CheckProgress) -> Void
    ) throws(CheckError) -> Int? {
        let filled = input.withLock { input -> Result<Int?, CheckError> in
            let left = (options.limit ?? .max) - input.rows
            if input.hasEnded || left == 0 { return .success(nil) }
            do throws(RecipientsError) {
                guard try input.reader.next(into: chunk) else {
                    input.hasEnded = true
                    return .success(nil)
                }
            } catch {
                return .failure(Recipients.failure(error))
            }
            let count = min(UInt64(chunk.recordCount), left)
            input.rows += count
            progress(standing(input))
            return .success(Int(count))
        }
        return try filled.get()
    }

    private func standing(_ input: Input) -> CheckProgress {
        var progress = CheckProgress()
        progress.rows = input.rows
        progress.fractionRead = input.reader.bytesTotal.map {
            Double(input.reader.bytesRead) / Double(max(1, $0))
        }
        progress.seconds = seconds
        return progress
    }

    private func addTokens(
        _ claims: UnsafeBufferPointer<TokenTable.Claim>, _ chunk: RecordChunk
    ) throws(CheckError) {
        let added = tokens.withLock { tokens -> Result<Void, CheckError> in
            do throws(CheckError) {
                if tokens.table == nil {
                    tokens.table = try TokenTable(
                        folder: options.temporaryFolder, rows: estimatedRows(chunk))
                }
                try tokens.table?.add(claims)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try added.get()
    }

    /// How many rows the file has, if all are as long as those of this chunk; a million for a pipe.
    private func estimatedRows(_ chunk: RecordChunk) -> UInt64 {
        let bytesTotal = input.withLock { $0.reader.bytesTotal } ?? 0
        let rows = Double(bytesTotal) / Double(chunk.byteCount) * Double(chunk.recordCount)
        let estimate = bytesTotal == 0 ? 1_000_000 : UInt64(rows * 1.05) + 1
        return min(estimate, options.limit ?? .max)
    }

    private func keep(_ tally: RowTally) {
        let tally = SendableTally(tally: tally)
        results.withLock { $0.tallies.append(tally.tally) }
    }

    /// Has all threads stop; the first error is the one that counts.
    private func stop(_ error: CheckError) {
        results.withLock { $0.error = $0.error ?? error }
        input.withLock { $0.hasEnded = true }
    }
}

/// A tally on its way from one thread to another; @unchecked: the first lets go of it.
private struct SendableTally: @unchecked Sendable {
    let tally: RowTally
}
