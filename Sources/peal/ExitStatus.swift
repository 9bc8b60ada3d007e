/// What the process ends with: the one place where ways to end become numbers.
package enum ExitStatus: Int32, Sendable {
    /// The campaign completed: every row has a final outcome, whatever it is. Also: the command did
    /// what it was asked.
    case completed = 0
    /// Peal itself failed.
    case internalError = 1
    /// Nothing was sent: wrong usage, an invalid campaign, bad credentials.
    case refused = 2
    /// Stopped before the end; the run can be resumed.
    case stopped = 3
    /// Interrupted by a signal (128 + SIGINT, as shells count); the run can be resumed.
    case interrupted = 130
}

/// Why a command ends without its result: the text for people, and the status.
package struct CommandFailure: Error, Sendable, CustomStringConvertible {
    package let status: ExitStatus
    /// What is wrong and where; then, what to do.
    package let description: String

    package init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }

    /// A refusal: nothing was sent.
    package static func refused(_ description: String) -> CommandFailure {
        CommandFailure(.refused, description)
    }
}
