/// What a user typed, checked against the declaration.
package struct ParsedArguments: Sendable {
    package let command: CommandSpec
    /// The campaign or file that the command works on; nil for a command that takes none.
    package let operand: String?
    /// The values of each option that was given, in order; a flag's is the empty text.
    private let values: [String: [String]]

    init(command: CommandSpec, operand: String?, values: [String: [String]]) {
        self.command = command
        self.operand = operand
        self.values = values
    }

    /// Whether the flag `name` was given.
    package func has(_ name: String) -> Bool { !all(name).isEmpty }

    /// The value of option `name`; nil when it was not given.
    package func text(_ name: String) -> String? { all(name).last }

    /// Every value of option `name`.
    package func all(_ name: String) -> [String] {
        assert(command.options.contains { $0.name == name }, "undeclared option \(name)")
        return values[name] ?? []
    }

    /// The whole number given to option `name`; its range was checked.
    package func whole(_ name: String) -> UInt64? { text(name).flatMap { UInt64($0) } }

    /// The number given to option `name`; its range was checked.
    package func decimal(_ name: String) -> Double? { text(name).flatMap { Double($0) } }

    /// The whole number given to option `name`, whose declared range fits an Int.
    package func count(_ name: String) -> Int? { whole(name).map { Int($0) } }
}
