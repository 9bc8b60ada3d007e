/// The help texts, made from the declaration.
package enum HelpText {
    private static let columns = 80

    /// Help on Peal as a whole.
    package static func overview() -> String {
        let commands = CommandTable.supported
        let synopses = commands.map { $0.name + ($0.operand.map { " " + $0 } ?? "") }
        let indent = (synopses.map(\.count).max() ?? 0) + 2
        var lines = [
            "Peal sends push campaigns to Apple Push Notification service.", "",
            "Usage: peal COMMAND [OPTIONS]", "", "Commands:",
        ]
        for (synopsis, command) in zip(synopses, commands) {
            lines.append("  " + padded(synopsis, to: indent) + command.summary)
        }
        lines += [
            "", "  peal help COMMAND    what a command does, and its options",
            "  peal --version       the version of Peal and of its libraries",
            "", "Try it without Apple: peal send campaigns/hello --mock",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Help on one command.
    package static func of(_ command: CommandSpec) -> String {
        let operand = command.operand.map { " " + $0 } ?? ""
        var lines = [
            "peal \(command.name) \(command.summary).", "",
            "Usage: peal \(command.name)\(operand) [OPTIONS]", "", command.details, "", "Options:",
        ]
        for option in command.supportedOptions {
            lines.append("  " + synopsis(of: option))
            lines += wrapped(explanation(of: option), indent: 6)
        }
        if !command.notes.isEmpty { lines += ["", command.notes] }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func synopsis(of option: OptionSpec) -> String {
        let value = option.placeholder.isEmpty ? "" : " " + option.placeholder
        return option.spelling + value + (option.isRepeatable ? " (repeatable)" : "")
    }

    private static func explanation(of option: OptionSpec) -> String {
        option.help + (option.fallback.map { " (default: \($0))" } ?? "")
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// The words of `text` in lines of at most `columns`, each indented.
    private static func wrapped(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indent + line.count + 1 + word.count > columns {
                lines.append(margin + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return lines + [margin + line]
    }
}
