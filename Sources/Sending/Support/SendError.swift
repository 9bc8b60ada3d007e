/// Why a campaign was refused or stopped: what is wrong, where, and what to do about it.
package struct SendError: Error, CustomStringConvertible, Sendable {
    /// What the failure means for the run, and so for the exit status.
    package enum Kind: Sendable {
        /// Nothing was sent: the input or the usage must change first (exit status 2).
        case refused
        /// The run stopped early and its run folder says where every row stands (exit status 3).
        case stopped
        /// A defect of Peal (exit status 1).
        case `internal`
    }

    package let kind: Kind
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// A failed system call on a file of the run folder, with the remedy that fits the error.
    static func file(
        _ kind: Kind, _ action: String, _ path: String, code: Int32
    ) -> SendError {
        SendError(kind, "\(path): cannot \(action): \(errorText(code)); \(fileRemedy(code))")
    }
}
