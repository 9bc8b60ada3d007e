internal import JSON

/// What the command line asks for.
package enum Invocation: Sendable {
    /// Help on one command, or on Peal.
    case help(CommandSpec?)
    case version
    case run(ParsedArguments)
}

/// Turns what was typed into an invocation. It looks at nothing but the arguments.
package enum ArgumentParser {
    /// Parses the arguments after the program's name.
    ///
    /// *Errors*: a refusal that names the argument and what would be right.
    package static func parse(_ arguments: [String]) throws(CommandFailure) -> Invocation {
        // Whoever asks for help gets it, whatever else is wrong.
        let asksForHelp = arguments.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
        guard let first = arguments.first else {
            throw .refused("no command given\n\n" + HelpText.overview())
        }
        if first == "help" { return try helpInvocation(arguments.dropFirst()) }
        if first == "--version" || first == "version" { return .version }
        if first.hasPrefix("-") {
            if asksForHelp { return .help(nil) }
            throw .refused(
                "'\(first)' stands before a command\(hint()). Write: peal COMMAND [OPTIONS]")
        }
        let command = try findCommand(first)
        if asksForHelp { return .help(command) }
        return .run(try parse(Array(arguments.dropFirst()), for: command))
    }

    private static func helpInvocation(
        _ names: ArraySlice<String>
    ) throws(CommandFailure) -> Invocation {
        guard let name = names.first(where: { !$0.hasPrefix("-") }) else { return .help(nil) }
        return .help(try findCommand(name))
    }

    private static func findCommand(_ name: String) throws(CommandFailure) -> CommandSpec {
        guard let command = CommandTable.commands.first(where: { $0.name == name }) else {
            let known = CommandTable.supported.map(\.name)
            throw .refused(
                "there is no command '\(name)'\(didYouMean(name, among: known))\(hint())")
        }
        guard command.isSupported else {
            throw .refused("the command '\(name)' is not yet supported\(hint())")
        }
        return command
    }

    /// Parses the arguments after the command's name.
    private static func parse(
        _ arguments: [String], for command: CommandSpec
    ) throws(CommandFailure) -> ParsedArguments {
        var values: [String: [String]] = [:]
        var operands: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                operands += rest
                break
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                operands.append(argument)
                continue
            }
            let (option, attached) = try findOption(argument, in: command)
            guard option.isRepeatable || values[option.name] == nil else {
                throw .refused("\(option.spelling) is given twice: leave one of the two out")
            }
            let value = try takeValue(of: option, attached: attached, from: &rest)
            values[option.name, default: []].append(value)
        }
        let operand = try checkOperands(operands, of: command)
        return ParsedArguments(command: command, operand: operand, values: values)
    }

    /// Splits `--name=value` and finds the option that `name` declares.
    private static func findOption(
        _ argument: String, in command: CommandSpec
    ) throws(CommandFailure) -> (OptionSpec, attached: String?) {
        let equals = argument.firstIndex(of: "=")
        let spelling = String(argument[..<(equals ?? argument.endIndex)])
        let attached = equals.map { String(argument[argument.index(after: $0)...]) }
        guard let option = command.options.first(where: { $0.spelling == spelling }) else {
            let known = command.supportedOptions.map(\.spelling)
            throw .refused(
                "\(command.name) has no option '\(spelling)'"
                    + didYouMean(spelling, among: known) + hint(command))
        }
        guard option.isSupported else {
            throw .refused("\(spelling) is not yet supported: leave it out")
        }
        return (option, attached)
    }

    private static func takeValue(
        of option: OptionSpec, attached: String?, from rest: inout ArraySlice<String>
    ) throws(CommandFailure) -> String {
        if option.kind == .flag {
            guard attached == nil else {
                throw .refused("\(option.spelling) takes no value: write \(option.spelling) alone")
            }
            return ""
        }
        // "--server --mock" forgot the server; a value that does start so is written with "=".
        if attached == nil, let next = rest.first, !next.hasPrefix("--") {
            rest.removeFirst()
            return try check(next, of: option)
        }
        guard let attached else {
            throw .refused(
                "\(option.spelling) needs a value: \(option.spelling) \(option.placeholder)")
        }
        return try check(attached, of: option)
    }

    private static func check(
        _ value: String, of option: OptionSpec
    ) throws(CommandFailure) -> String {
        let problem =
            switch option.kind {
            case .flag: nil as String?
            case .text: value.isEmpty ? "is empty" : nil
            case .whole(let range): NumberCheck.problem(of: value, asWholeIn: range)
            case .decimal(let range): NumberCheck.problem(of: value, asDecimalIn: range)
            case .choice(let words): choiceProblem(value, words: words)
            }
        guard let problem else { return value }
        throw .refused("\(option.spelling) '\(value)' \(problem)")
    }

    private static func choiceProblem(_ value: String, words: [String]) -> String? {
        if words.contains(value) { return nil }
        let known = "write " + words.joined(separator: " or ")
        return "is not known\(didYouMean(value, among: words)): \(known)"
    }

    private static func checkOperands(
        _ operands: [String], of command: CommandSpec
    ) throws(CommandFailure) -> String? {
        guard let placeholder = command.operand else {
            if let extra = operands.first {
                throw .refused(
                    "\(command.name) takes no argument, and '\(extra)' is one\(hint(command))")
            }
            return nil
        }
        guard let operand = operands.first else {
            throw .refused("\(command.name) needs a \(placeholder)\(hint(command))")
        }
        guard operands.count == 1 else {
            throw .refused(
                "\(command.name) takes one \(placeholder), and '\(operands[1])' is a second")
        }
        guard !operand.isEmpty else {
            throw .refused("the \(placeholder) is an empty text: name a file or folder")
        }
        return operand
    }

    private static func didYouMean(_ word: String, among known: [String]) -> String {
        Suggestion.nearest(to: word, among: known).map { ": did you mean '\($0)'?" } ?? ""
    }

    private static func hint(_ command: CommandSpec? = nil) -> String {
        " (see: peal help\(command.map { " " + $0.name } ?? ""))"
    }
}
