internal import APNS
internal import Campaign
internal import HTTP2
internal import Sending

/// All that one worker does for a row, from the file to the answer, without a network: reading and
/// cutting the file, parsing, the token's check, the table of duplicates, the ledger, rendering,
/// the request's frames, the answer's frames, the histogram. The parts are Peal's own; they are put
/// together here, and TLS, the loop, the pacing and the slots of rows in flight are left out.
struct PathCase {
    let rows: Rows
    let canned: CannedServer

    func microCase() throws -> MicroCase {
        let campaign = try rows.campaign()
        let ledgerFolder = rows.work.makeFolder("path")
        let (rows, canned) = (rows, canned)
        let rowCount = rows.count / CannedServer.requests * CannedServer.requests
        precondition(rowCount > 0)
        nonisolated(unsafe) var runCount = 0
        return MicroCase(
            name: "path", bytesPerOperation: Double(sizeOfFile(rows.csvPath)) / Double(rows.count),
            operationsStep: rowCount, operationsCounted: rowCount
        ) { operations in
            for _ in 0..<operations / rowCount {
                runCount += 1
                let run = try PathRun(
                    campaign: campaign, path: rows.csvPath, rowCount: rowCount,
                    files: "\(ledgerFolder)/\(runCount)", canned: canned)
                try run.send()
            }
        }
    }
}

/// One pass over the file.
private final class PathRun {
    private let reader: RecipientReader
    private let rowReader: RowReader
    private let ledger: Ledger
    private let duplicates: DuplicateTable
    private let canned: CannedServer
    private let rowCount: Int
    private let files: String
    private let histogram = LatencyRecorder()
    private var driver: SessionDriver?
    private var accepted = 0
    private var sent = 0

    init(
        campaign: Campaign, path: String, rowCount: Int, files: String, canned: CannedServer
    ) throws {
        self.canned = canned
        self.rowCount = rowCount
        self.files = files
        reader = try RecipientReader(path: path, format: .csv)
        rowReader = try RowReader(campaign: campaign, format: .csv, header: reader.header)
        ledger = try Ledger(path: files + ".ledger")
        try ledger.reserve(rows: UInt64(rowCount))
        duplicates = try DuplicateTable(
            path: files + ".duplicates", key: [UInt8](repeating: 7, count: 16),
            rows: UInt64(rowCount))
    }

    deinit {
        removeFile(files + ".ledger")
        removeFile(files + ".duplicates")
    }

    func send() throws {
        let chunk = RecordChunk()
        while sent < rowCount, try reader.next(into: chunk) {
            for index in 0..<min(chunk.recordCount, rowCount - sent) {
                try send(chunk.record(at: index), row: chunk.firstRow + UInt64(index))
            }
        }
        guard accepted == rowCount else {
            throw Failure("\(accepted) of \(rowCount) rows were accepted")
        }
    }

    private func send(_ record: UnsafeRawBufferPointer, row: UInt64) throws {
        guard rowReader.read(record) == nil, duplicates.claim(rowReader.token, row: row),
            rowReader.render() == nil
        else { throw Failure("row \(row) cannot be sent") }
        if sent % CannedServer.requests == 0 { try connect() }
        let driver = driver!
        ledger.set(1, row: row)
        try driver.submit(UInt32(row), rowReader.token, rowReader.payload) {
            driver.session.output.consume(driver.session.output.count)
        }
        sent += 1
        if sent % CannedServer.batchRequests == 0 { try answer(driver.session) }
    }

    /// A new connection, whose canned answers begin from the front.
    private func connect() throws {
        // Not retained: the run outlives its driver.
        driver = try SessionDriver { [unowned self] request in
            ledger.set(FinalCode.accepted.rawValue, row: UInt64(request))
            histogram.record(microseconds: 40_000)
            accepted += 1
        }
        try canned.opening.withUnsafeBytes { try driver!.session.receive($0) }
    }

    private func answer(_ session: ClientSession) throws {
        session.pump()
        session.output.consume(session.output.count)
        let batch = (sent - 1) % CannedServer.requests / CannedServer.batchRequests
        try canned.answers[batch].withUnsafeBytes { try session.receive($0) }
    }
}
