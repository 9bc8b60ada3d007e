/// Something about a campaign that may not be meant so, and what to do about it.
package struct Finding: Sendable, Equatable {
    /// What it is, for scripts.
    package let id: String
    /// Whether it is likely to do harm; otherwise it is worth a look.
    package let isWarning: Bool
    /// What is so, as a sentence.
    package let message: String
    /// What to do, as a sentence.
    package let remedy: String
}
