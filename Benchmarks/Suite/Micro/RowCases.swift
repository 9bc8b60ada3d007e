internal import APNS
internal import Campaign
internal import Crypto
internal import Sending

/// What is done for a row after it was read, without the connection.
struct RowCases {
    let rows: Rows

    func all() throws -> [MicroCase] {
        [
            try render(), try tokenCheck(), try duplicates(), try ledger(), histogram(),
            try providerToken(),
        ]
    }

    /// The payload with three placeholders: the same row again and again.
    private func render() throws -> MicroCase {
        let (chunks, header) = try rows.chunks(of: rows.csvPath)
        let reader = try RowReader(campaign: rows.campaign(), format: .csv, header: header)
        return MicroCase(name: "render") { operations in
            guard reader.read(chunks[0].record(at: 0)) == nil else {
                throw Failure("the first row cannot be read")
            }
            for _ in 0..<operations {
                guard reader.render() == nil else { throw Failure("a row cannot be rendered") }
                keep(reader.payload.count)
            }
        }
    }

    private func tokenCheck() throws -> MicroCase {
        let token = Array("5e41ab087439611ea8f28fc0b9b2a05e67abd4e0ebcac1d18e72b07d4aaf8d04".utf8)
        let output = UnsafeMutableRawBufferPointer.allocate(
            byteCount: DeviceToken.hexCharactersMax, alignment: 16)  // until the program ends
        return MicroCase(name: "token-check", bytesPerOperation: Double(token.count)) {
            operations in
            token.withUnsafeBytes { token in
                for _ in 0..<operations {
                    keep(DeviceToken.normalise(token, into: output) ?? 0)
                }
            }
        }
    }

    /// Claims a token in the table of duplicates; all are new. Each 100,000 tokens get a new table,
    /// whose making is in the figure.
    private func duplicates() throws -> MicroCase {
        let tokens = Tokens(count: 100_000)
        let folder = rows.work.makeFolder("duplicates")
        let key = [UInt8](repeating: 7, count: 16)
        nonisolated(unsafe) var tableCount = 0
        return MicroCase(name: "duplicate-table", operationsStep: tokens.count) { operations in
            for _ in 0..<operations / tokens.count {
                tableCount += 1
                let path = "\(folder)/\(tableCount)"
                let table = try DuplicateTable(path: path, key: key, rows: UInt64(tokens.count))
                for index in 0..<tokens.count {
                    keep(table.claim(tokens[index], row: UInt64(index + 1)) ? 1 : 0)
                }
                removeFile(path)
            }
        }
    }

    /// The three bytes that a row without trouble writes: none, in doubt, accepted.
    private func ledger() throws -> MicroCase {
        let rowCount = 1 << 20
        let path = rows.work.path + "/ledger"
        removeFile(path)  // of another layer's preparation
        let ledger = try Ledger(path: path)
        try ledger.reserve(rows: UInt64(rowCount))
        return MicroCase(name: "ledger") { operations in
            for index in 0..<operations {
                let row = UInt64(index & (rowCount - 1) + 1)
                keep(Int(ledger.state(row: row)))
                ledger.set(1, row: row)
                ledger.set(FinalCode.accepted.rawValue, row: row)
            }
        }
    }

    private func histogram() -> MicroCase {
        let histogram = LatencyRecorder()
        var random = SeededRandom()
        let latencies = (0..<4096).map { _ in random.next() >> (44 + random.next() % 12) }
        return MicroCase(name: "histogram") { operations in
            for index in 0..<operations {
                histogram.record(microseconds: latencies[index & 4095])
            }
        }
    }

    /// Signing depends on what OpenSSL finds the processor able to do, so it is not counted.
    private func providerToken() throws -> MicroCase {
        let key = try SigningKey.generate()
        return MicroCase(name: "provider-token", countsInstructions: false) { operations in
            for index in 0..<operations {
                let token = try ProviderToken.make(
                    key: key, keyID: "ABC123DEFG", teamID: "DEF123GHIJ",
                    issuedAt: 1_700_000_000 + Int64(index))
                keep(token.text.utf8.count)
            }
        }
    }
}

/// Device tokens in one piece of memory, the same in every run.
final class Tokens {
    static let characters = 64
    let count: Int
    private let memory: UnsafeMutableRawBufferPointer  // owned

    init(count: Int) {
        self.count = count
        memory = .allocate(byteCount: count * Self.characters, alignment: 16)
        var random = SeededRandom(seed: 2)
        let digits = Array("0123456789abcdef".utf8)
        for index in 0..<memory.count { memory[index] = digits[Int(random.next() >> 60)] }
    }

    deinit { memory.deallocate() }

    subscript(index: Int) -> UnsafeRawBufferPointer {
        let start = index * Self.characters
        return UnsafeRawBufferPointer(rebasing: memory[start..<start + Self.characters])
    }
}
