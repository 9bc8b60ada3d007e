/// One command, as it is declared.
package struct CommandSpec: Sendable {
    package let name: String
    /// What the command works on, as help shows it ("CAMPAIGN"); nil when it takes nothing.
    package let operand: String?
    /// What it does, in one sentence without a capital and a full stop.
    package let summary: String
    /// What else a user has to know, as whole lines.
    package let details: String
    /// What explains the options further, as whole lines behind them; empty for nothing.
    package let notes: String
    package let options: [OptionSpec]
    /// False for a command that is known and refused as not yet supported; help leaves it out.
    package let isSupported: Bool

    init(
        _ name: String, operand: String?, _ summary: String, details: String = "",
        notes: String = "",
        options: [OptionSpec]
    ) {
        self.name = name
        self.operand = operand
        self.summary = summary
        self.details = details
        self.notes = notes
        self.options = options
        isSupported = true
    }

    /// A command that a later version brings.
    init(later name: String) {
        self.name = name
        operand = nil
        summary = ""
        details = ""
        notes = ""
        options = []
        isSupported = false
    }

    /// The options that this version supports.
    package var supportedOptions: [OptionSpec] { options.filter(\.isSupported) }
}
