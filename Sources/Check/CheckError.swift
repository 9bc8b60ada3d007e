internal import Glibc

/// Why a check ended without its facts.
package struct CheckError: Error, Sendable, CustomStringConvertible {
    /// What `send` would have done in its place, and so the exit status.
    package enum Kind: Sendable {
        /// Refused: nothing would be sent.
        case refused
        /// Stopped early: reading broke off, or the disk is full.
        case stopped
    }

    package let kind: Kind
    /// What is wrong, where, and what to do.
    package let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// A failed system call on the file that holds the tokens seen.
    static func table(_ action: String, in folder: String, code: Int32) -> CheckError {
        let text = String(cString: strerror(code))
        return CheckError(
            .stopped,
            "\(folder): cannot \(action) the file for finding repeated tokens: \(text); let TMPDIR "
                + "name a folder with room (24 bytes for each row)")
    }
}
