/// Why recipients cannot be read (any further); says what is wrong, where, and what to do.
package struct RecipientsError: Error, Sendable, CustomStringConvertible {
    /// What the error means for the run.
    package enum Kind: Sendable {
        /// The input cannot be used; nothing was read from it (exit status 2).
        case refused
        /// Reading broke off: a failing disk, a full one (exit status 3, the run can be resumed).
        case stopped
        /// Somebody called `ReadCancellation.cancel()` before the input was opened (130).
        case interrupted
    }

    package let kind: Kind
    /// The path as it was given, or "standard input".
    package let file: String
    /// 1-based physical line; nil where the message is about the whole file.
    package let line: UInt64?
    /// 1-based column in bytes; nil where the message is about the whole line or file.
    package let column: Int?
    /// What is wrong, without a place and without a full stop.
    package let message: String
    /// What to do about it, as an imperative sentence without a full stop.
    package let remedy: String

    package init(
        _ kind: Kind, file: String, line: UInt64? = nil, column: Int? = nil, message: String,
        remedy: String
    ) {
        self.kind = kind
        self.file = file
        self.line = line
        self.column = column
        self.message = message
        self.remedy = remedy
    }

    /// `FILE:LINE:COLUMN: MESSAGE; REMEDY`.
    package var description: String {
        var place = file
        if let line { place += ":\(line)" }
        if let column { place += ":\(column)" }
        return "\(place): \(message); \(remedy)"
    }
}
