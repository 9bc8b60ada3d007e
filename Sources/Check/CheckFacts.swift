package import APNS

/// What a file of recipients holds for a campaign: everything that `peal check` tells about it.
package struct CheckFacts: Sendable {
    /// The recipients as they were named: a path, or "-".
    package var source: String
    /// Rows read, whatever they hold.
    package var rows: UInt64 = 0
    /// Bytes read, the header among them.
    package var bytesRead: UInt64 = 0
    /// Time that the reading took.
    package var seconds = 0.0
    /// Rows that cannot be sent, by reason; the most common first.
    package var invalid: [InvalidRows] = []
    /// Rows whose token is on a suppression list.
    package var suppressedCount: UInt64 = 0
    /// Sendable rows whose token stands in an earlier sendable row.
    package var repeatedCount: UInt64 = 0
    /// The first of those rows.
    package var repeatedRows: [RepeatedRow] = []
    /// The token of the most rows; nil when no token stands in two.
    package var mostRepeated: RepeatedToken?
    /// Sizes of the payloads of the sendable rows.
    package var sizes = PayloadSizes(bytesMax: 0)
    /// The sendable rows' tokens, in bytes of hexadecimal.
    package var tokenBytes: UInt64 = 0
    /// The sendable rows' collapse ids, in bytes.
    package var collapseIDBytes: UInt64 = 0
    /// Locales in the file, the most common first; empty where the campaign asks for none.
    package var locales: [LocaleUse] = []
    /// Rows of locales past those that are listed.
    package var otherLocaleRows: UInt64 = 0
    /// Rows for each payload: the one for everybody, then those by locale.
    package var rowsByPayload: [UInt64] = []
    /// The columns that placeholders name.
    package var placeholders: [PlaceholderUse] = []
    /// The first row that can be sent; nil when there is none.
    package var sample: CheckedRow?

    package init(source: String) { self.source = source }

    /// Rows that cannot be sent.
    package var invalidCount: UInt64 { invalid.reduce(0) { $0 + $1.count } }
    /// Rows that can be sent, repeated tokens among them.
    package var validCount: UInt64 { rows - invalidCount - suppressedCount }
}

/// The rows that cannot be sent for one reason.
package struct InvalidRows: Sendable {
    package let code: FinalCode
    package var count: UInt64
    /// The first ones.
    package var examples: [RowPlace]
}

/// A row that cannot be sent, and why.
package struct RowPlace: Sendable, Equatable {
    package let row: UInt64
    /// 1-based, physical.
    package let line: UInt64
    /// 1-based, in bytes.
    package let column: Int
    /// What is wrong there; nil where the reason says it all.
    package let detail: String?
}

/// A row whose token stands in an earlier one.
package struct RepeatedRow: Sendable, Equatable {
    package let row: UInt64
    package let firstRow: UInt64
}

/// A token that stands in several rows.
package struct RepeatedToken: Sendable, Equatable {
    package let firstRow: UInt64
    /// Rows with the token.
    package let count: UInt64

    func isMore(than other: RepeatedToken?) -> Bool {
        guard let other else { return true }
        return count == other.count ? firstRow < other.firstRow : count > other.count
    }
}

/// A locale of the file.
package struct LocaleUse: Sendable, Equatable {
    /// As the first such row writes it; empty for rows without a value.
    package let text: String
    package var rows: UInt64
    /// Index into `PayloadSet.byLocale`, or -1 for the payload for everybody, whether there is one
    /// or not.
    package let payloadIndex: Int
}

/// How often the column of a placeholder has no value.
package struct PlaceholderUse: Sendable, Equatable {
    package let column: String
    /// Rows whose payload or collapse id names the column.
    package var rows: UInt64
    /// Those of them that have no value there.
    package var emptyRows: UInt64
    /// What takes the value's place, each text once; nil where there is none, and the row cannot be
    /// sent.
    package let defaults: [String?]
}

/// One row as it would be sent.
package struct CheckedRow: Sendable {
    /// A row that cannot be sent, and why.
    package struct Problem: Sendable {
        package let code: FinalCode
        package let place: RowPlace
    }

    package let row: UInt64
    package let line: UInt64
    /// Short enough for a screen; nil when the row has none.
    package var token: String?
    /// Where the manifest has its payload, such as "payloads.ru".
    package var payloadName = ""
    /// The JSON; empty when the row cannot be sent.
    package var payload: [UInt8] = []
    /// Empty for none.
    package var collapseID = ""
    package var problem: Problem?
    /// Whether the token is on a suppression list, so that the row is not sent either way.
    package var isSuppressed = false

    package init(row: UInt64, line: UInt64) {
        self.row = row
        self.line = line
    }
}
