internal import APNS
internal import Campaign
internal import Crypto

/// Judges rows as a run does, and counts what it finds. Each thread has its own; `merge` brings
/// them together.
///
/// - Thread: one. - Memory: all of it is made by `init`; nothing is allocated per row but for the
///   few that are kept as examples.
final class RowTally {
    private static let examplesMax = 3

    let reader: RowReader
    private let hash: SipHash128
    private let suppressed: SuppressedTokens?
    private var suppressedRows: UInt64 = 0
    private let columnCount: Int
    private let payloadCount: Int
    private let sizeMax: Int
    private let counts: UnsafeMutablePointer<UInt64>  // owned; rows by raw value of FinalCode
    private let sizes: UnsafeMutablePointer<UInt64>  // owned; rows by bytes of payload
    private let payloadRows: UnsafeMutablePointer<UInt64>  // owned; rows by payload
    private let empties: UnsafeMutablePointer<UInt64>  // owned; by payload, then by column
    private var locales = LocaleTally()
    private let countsLocales: Bool
    private var examples: [(code: FinalCode, place: RowPlace)] = []
    private var largestBytes = -1
    private var largestRow: UInt64 = 0
    private var tokenBytes: UInt64 = 0
    private var collapseIDBytes: UInt64 = 0
    private var sample: CheckedRow?
    private let payloads: PayloadSet

    init(
        _ campaign: Campaign, reader: RowReader, hash: SipHash128, suppressed: SuppressedTokens?
    ) {
        self.suppressed = suppressed
        self.reader = reader
        self.hash = hash
        payloads = campaign.payloads
        countsLocales = !payloads.byLocale.isEmpty
        columnCount = reader.columnNames.count
        payloadCount = payloads.byLocale.count + 1
        sizeMax = campaign.pushType.payloadBytesMax
        counts = Self.zeros(256)
        sizes = Self.zeros(sizeMax + 1)
        payloadRows = Self.zeros(payloadCount)
        empties = Self.zeros(payloadCount * columnCount)
    }

    deinit {
        counts.deallocate()
        sizes.deallocate()
        payloadRows.deallocate()
        empties.deallocate()
        locales.deallocate()
    }

    private static func zeros(_ count: Int) -> UnsafeMutablePointer<UInt64> {
        let memory = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
        memory.initialize(repeating: 0, count: count)
        return memory
    }

    /// Counts the first `recordCount` rows of a chunk. Chunks come in the order of the file.
    ///
    /// Rows are judged in the order of a run: readable, token, suppressed, rendered and sized.
    ///
    /// - Parameter claims: room for as many; gets the tokens of the rows that can be sent.
    /// - Returns: how many those are.
    func add(
        _ chunk: RecordChunk, recordCount: Int, claims: UnsafeMutablePointer<TokenTable.Claim>
    ) -> Int {
        var claimCount = 0
        for index in 0..<recordCount {
            let row = chunk.firstRow + UInt64(index)
            let problem = read(chunk, index)
            if problem == nil, suppressed?.contains(reader.token) == true {
                suppressedRows += 1
                continue
            }
            if let problem = problem ?? render(row) {
                add(problem, row: row, line: chunk.line(at: index))
                continue
            }
            let token = reader.token
            claims[claimCount] = TokenTable.Claim(hash: hash.hash(token), row: row)
            claimCount += 1
            addSent(row, token)
            if sample == nil { sample = reader.checkedRow(chunk, index, payloads) }
        }
        return claimCount
    }

    private func read(_ chunk: RecordChunk, _ index: Int) -> RowProblem? {
        let code = chunk.records[index].problemCode
        if code != 0 { return RowProblem(FinalCode(rawValue: code)) }
        return reader.read(chunk.record(at: index))
    }

    private func render(_ row: UInt64) -> RowProblem? {
        let problem = reader.render()
        let payload = reader.payloadIndex + 1
        payloadRows[payload] += 1
        let emptyCells = empties + payload * columnCount
        for column in 0..<columnCount where !reader.hasValue(column) { emptyCells[column] += 1 }
        if countsLocales {
            locales.add(reader.localeText, row: row, payloadIndex: reader.payloadIndex)
        }
        return problem
    }

    private func addSent(_ row: UInt64, _ token: UnsafeRawBufferPointer) {
        let bytes = reader.payload.count
        sizes[bytes] += 1
        if bytes > largestBytes {
            largestBytes = bytes
            largestRow = row
        }
        tokenBytes += UInt64(token.count)
        collapseIDBytes += UInt64(reader.collapseID.count)
    }

    private func add(_ problem: RowProblem, row: UInt64, line: UInt64) {
        let code = problem.code
        counts[Int(code.rawValue)] += 1
        guard counts[Int(code.rawValue)] <= UInt64(Self.examplesMax) else { return }
        examples.append((code, problem.place(row: row, line: line)))
    }

    // MARK: Results

    /// Brings the counts of all threads together.
    static func merge(
        _ tallies: [RowTally], _ campaign: Campaign, into facts: inout CheckFacts
    ) {
        facts.sizes = PayloadSizes(bytesMax: campaign.pushType.payloadBytesMax)
        facts.rowsByPayload = Array(repeating: 0, count: campaign.payloads.byLocale.count + 1)
        var locales: [[UInt8]: LocaleTally.Count] = [:]
        var examples: [(code: FinalCode, place: RowPlace)] = []
        for tally in tallies {
            facts.sizes.add(tally.sizes, largestRow: tally.largestRow)
            facts.suppressedCount += tally.suppressedRows
            facts.tokenBytes += tally.tokenBytes
            facts.collapseIDBytes += tally.collapseIDBytes
            for index in 0..<tally.payloadCount {
                facts.rowsByPayload[index] += tally.payloadRows[index]
            }
            tally.locales.merge(into: &locales)
            facts.otherLocaleRows += tally.locales.otherRows
            examples += tally.examples
            if let sample = tally.sample, sample.row < facts.sample?.row ?? .max {
                facts.sample = sample
            }
        }
        facts.locales = locales.values
            .map { LocaleUse(text: $0.text, rows: $0.rows, payloadIndex: $0.payloadIndex) }
            .sorted { $0.rows == $1.rows ? $0.text < $1.text : $0.rows > $1.rows }
        facts.invalid = invalidRows(tallies, examples)
        facts.placeholders = placeholders(tallies, campaign)
    }

    private static func invalidRows(
        _ tallies: [RowTally], _ examples: [(code: FinalCode, place: RowPlace)]
    ) -> [InvalidRows] {
        (0..<256).compactMap { code -> InvalidRows? in
            let count = tallies.reduce(0) { $0 + $1.counts[code] }
            guard count > 0 else { return nil }
            let places = examples.filter { Int($0.code.rawValue) == code }.map(\.place)
                .sorted { $0.row < $1.row }
            return InvalidRows(
                code: FinalCode(rawValue: UInt8(code)), count: count,
                examples: Array(places.prefix(examplesMax)))
        }.sorted {
            $0.count == $1.count ? $0.code.rawValue < $1.code.rawValue : $0.count > $1.count
        }
    }

    private static func placeholders(
        _ tallies: [RowTally], _ campaign: Campaign
    ) -> [PlaceholderUse] {
        guard let names = tallies.first?.reader.columnNames else { return [] }
        return names.enumerated().compactMap { column, name -> PlaceholderUse? in
            var rows: UInt64 = 0
            var emptyRows: UInt64 = 0
            var defaults: [String?] = campaign.collapseID?.defaults(ofColumn: name) ?? []
            let isInCollapseID = !defaults.isEmpty
            for index in 0...campaign.payloads.byLocale.count {
                let template =
                    index == 0
                    ? campaign.payloads.standard : campaign.payloads.byLocale[index - 1].template
                let its = template?.defaults(ofColumn: name) ?? []
                defaults += its
                guard isInCollapseID || !its.isEmpty else { continue }
                for tally in tallies {
                    rows += tally.payloadRows[index]
                    emptyRows += tally.empties[index * tally.columnCount + column]
                }
            }
            guard !defaults.isEmpty else { return nil }
            var texts: [String?] = []
            for text in defaults where !texts.contains(text) { texts.append(text) }
            return PlaceholderUse(
                column: name, rows: rows, emptyRows: emptyRows, defaults: texts)
        }
    }
}

/// A reader's rows are its thread's.
@available(*, unavailable)
extension RowTally: Sendable {}

extension RowProblem {
    /// The place of a problem, for a record that starts on `line`.
    func place(row: UInt64, line: UInt64) -> RowPlace {
        RowPlace(row: row, line: line + UInt64(lineDelta), column: column, detail: detail)
    }
}

extension RowReader {
    /// The row that was rendered last, copied.
    func checkedRow(_ chunk: RecordChunk, _ index: Int, _ payloads: PayloadSet) -> CheckedRow {
        var copy = CheckedRow(row: chunk.firstRow + UInt64(index), line: chunk.line(at: index))
        copy.token = DeviceToken.shortened(token)
        copy.payloadName = payloads.name(of: payloadIndex)
        copy.payload = Array(payload)
        copy.collapseID = String(decoding: collapseID, as: UTF8.self)
        return copy
    }
}
