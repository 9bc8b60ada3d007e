internal import APNS
internal import Campaign
internal import JSON

/// What it takes to get from the bytes of a file to the values of a row.
///
/// An operation is a row; `bytesPerOperation` are its bytes in the file, line end included. The
/// file lies in the page cache.
struct ReaderCases {
    let rows: Rows

    func all() throws -> [MicroCase] {
        [
            try split("csv-split", rows.plainPath),
            try csvFields("csv-fields", rows.plainPath),
            try csvWhole("csv-read", rows.plainPath),
            try csvWhole("csv-read-quoted", rows.csvPath),
            try values("csv-row", rows.plainPath),
            try split("ndjson-split", rows.ndjsonPath),
            try scan("ndjson-read", rows.ndjsonPath),
            try values("ndjson-row", rows.ndjsonPath),
        ]
    }

    /// The reader alone: `read`, finding where records end, and copying them into chunks.
    private func split(_ name: String, _ path: String) throws -> MicroCase {
        let facts = try facts(path)
        let chunk = RecordChunk()
        return MicroCase(
            name: name, bytesPerOperation: facts.bytesPerRow, operationsStep: facts.rowCount,
            operationsCounted: facts.rowCount
        ) { operations in
            for _ in 0..<operations / facts.rowCount {
                let reader = try RecipientReader(
                    path: path, format: RecipientFormat(fileName: path))
                while try reader.next(into: chunk) { keep(chunk.recordCount) }
            }
        }
    }

    /// The parser alone: text checked, quotes taken off, all five fields found.
    private func csvFields(_ name: String, _ path: String) throws -> MicroCase {
        let facts = try facts(path)
        let (chunks, header) = try rows.chunks(of: path)
        let parser = CSVRowParser(header: header!)
        return MicroCase(
            name: name, bytesPerOperation: facts.bytesPerRow, operationsStep: facts.rowCount,
            operationsCounted: facts.rowCount
        ) { operations in
            for _ in 0..<operations / facts.rowCount {
                for chunk in chunks { try parse(chunk, parser) }
            }
        }
    }

    /// Reader and parser: from the file to the fields of every row.
    private func csvWhole(_ name: String, _ path: String) throws -> MicroCase {
        let facts = try facts(path)
        let chunk = RecordChunk()
        let parser = CSVRowParser(header: try rows.chunks(of: path).header!)
        return MicroCase(
            name: name, bytesPerOperation: facts.bytesPerRow, operationsStep: facts.rowCount,
            operationsCounted: facts.rowCount
        ) { operations in
            for _ in 0..<operations / facts.rowCount {
                let reader = try RecipientReader(path: path, format: .csv)
                while try reader.next(into: chunk) { try parse(chunk, parser) }
            }
        }
    }

    /// Reader and scanner: every token of every record, checked, with the bytes of all texts.
    private func scan(_ name: String, _ path: String) throws -> MicroCase {
        let facts = try facts(path)
        let chunk = RecordChunk()
        return MicroCase(
            name: name, bytesPerOperation: facts.bytesPerRow, operationsStep: facts.rowCount,
            operationsCounted: facts.rowCount
        ) { operations in
            for _ in 0..<operations / facts.rowCount {
                let reader = try RecipientReader(path: path, format: .ndjson)
                while try reader.next(into: chunk) {
                    for index in 0..<chunk.recordCount {
                        var scanner = JSONScanner(chunk.record(at: index))
                        scanning: while true {
                            switch try scanner.next() {
                            case .string: keep(scanner.text.raw.count)
                            case .end: break scanning
                            default: continue
                            }
                        }
                    }
                }
            }
        }
    }

    /// Reader, parser, the values that the campaign uses, and the check of the token.
    private func values(_ name: String, _ path: String) throws -> MicroCase {
        let facts = try facts(path)
        let chunk = RecordChunk()
        let format = RecipientFormat(fileName: path)!
        let rowReader = try RowReader(
            campaign: rows.campaign(), format: format, header: rows.chunks(of: path).header)
        return MicroCase(
            name: name, bytesPerOperation: facts.bytesPerRow, operationsStep: facts.rowCount,
            operationsCounted: facts.rowCount
        ) { operations in
            for _ in 0..<operations / facts.rowCount {
                let reader = try RecipientReader(path: path, format: format)
                while try reader.next(into: chunk) {
                    for index in 0..<chunk.recordCount {
                        if rowReader.read(chunk.record(at: index)) != nil {
                            throw Failure("\(path): row \(index + 1) cannot be read")
                        }
                        keep(rowReader.token.count)
                    }
                }
            }
        }
    }

    @inline(__always)
    private func parse(_ chunk: RecordChunk, _ parser: CSVRowParser) throws {
        for index in 0..<chunk.recordCount {
            if parser.parse(chunk.record(at: index)) != nil {
                throw Failure("row \(index + 1) cannot be parsed")
            }
            keep(parser.field(0).count)
        }
    }

    private func facts(_ path: String) throws -> (rowCount: Int, bytesPerRow: Double) {
        let rowCount = try rows.chunks(of: path).chunks.reduce(0) { $0 + $1.recordCount }
        return (rowCount, Double(sizeOfFile(path)) / Double(rowCount))
    }
}
