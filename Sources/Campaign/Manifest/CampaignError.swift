/// Why a campaign cannot be sent as it is written.
package struct CampaignError: Error, Sendable, Equatable, CustomStringConvertible {
    package let file: String
    /// 1-based; 0 when the whole file is meant.
    package let line: Int
    /// 1-based, in bytes; 0 when the whole file is meant.
    package let column: Int
    /// What is wrong, as a clause without a full stop.
    package let message: String
    /// What to do about it, as a clause without a full stop.
    package let remedy: String

    package init(
        file: String, line: Int = 0, column: Int = 0, message: String, remedy: String
    ) {
        self.file = file
        self.line = line
        self.column = column
        self.message = message
        self.remedy = remedy
    }

    /// "FILE:LINE:COLUMN: what is wrong; what to do".
    package var description: String {
        let place = line > 0 ? "\(file):\(line):\(column)" : file
        return remedy.isEmpty ? "\(place): \(message)" : "\(place): \(message); \(remedy)"
    }
}
