/// How a recipients file holds its records.
package enum RecipientFormat: Sendable {
    /// RFC 4180 with a header row; the delimiter is found from the header.
    case csv
    /// One JSON object per line, <https://github.com/ndjson/ndjson-spec>.
    case ndjson

    /// The format that a file's name says (`.csv`, `.ndjson`, `.jsonl`, in any case); nil for
    /// others.
    package init?(fileName: String) {
        let name = fileName.lowercased()
        if name.hasSuffix(".csv") {
            self = .csv
        } else if name.hasSuffix(".ndjson") || name.hasSuffix(".jsonl") {
            self = .ndjson
        } else {
            return nil
        }
    }
}

/// The limits of one record, the same for CSV and NDJSON.
package enum RecordLimits {
    /// Bytes of a record without its line end. A payload has 4 KiB, so a row that needs more than
    /// 64 KiB is a quote or a line end gone missing, and must not swallow the rows after it.
    package static let recordBytesMax = 65_536

    /// Bytes from a record's start within which its end must show: the record and CR LF.
    static let windowBytes = recordBytesMax + 2
}
