/// One option of a command, as it is declared: parsing, help and whatever else tells of options
/// read this and nothing else.
package struct OptionSpec: Sendable {
    /// What an option's value has to be.
    package enum Kind: Sendable, Equatable {
        /// No value: there or not.
        case flag
        /// Any text that is not empty; the command itself checks it.
        case text
        /// A whole number in a range.
        case whole(ClosedRange<UInt64>)
        /// A number in a range, with a fraction if it likes.
        case decimal(ClosedRange<Double>)
        /// One of some words.
        case choice([String])
    }

    /// The name without its dashes.
    package let name: String
    package let kind: Kind
    /// What stands for the value in help ("FILE|-"); empty for a flag.
    package let placeholder: String
    /// What holds without the option, as help says it; nil when there is nothing to say.
    package let fallback: String?
    /// What it does, in one sentence without a capital and a full stop.
    package let help: String
    package let isRepeatable: Bool
    /// False for an option that is known and refused as not yet supported; help leaves it out.
    package let isSupported: Bool

    /// The name as it is typed.
    package var spelling: String { "--" + name }

    static func flag(_ name: String, _ help: String) -> OptionSpec {
        OptionSpec(
            name: name, kind: .flag, placeholder: "", fallback: nil, help: help,
            isRepeatable: false, isSupported: true)
    }

    static func value(
        _ name: String, _ placeholder: String, _ kind: Kind = .text,
        default fallback: String? = nil,
        repeatable: Bool = false, _ help: String
    ) -> OptionSpec {
        OptionSpec(
            name: name, kind: kind, placeholder: placeholder, fallback: fallback, help: help,
            isRepeatable: repeatable, isSupported: true)
    }

    /// An option that a later version brings.
    static func later(_ name: String, _ placeholder: String = "") -> OptionSpec {
        OptionSpec(
            name: name, kind: placeholder.isEmpty ? .flag : .text, placeholder: placeholder,
            fallback: nil, help: "", isRepeatable: true, isSupported: false)
    }
}
