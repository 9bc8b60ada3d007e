import Testing

@testable import peal

struct CommandTableTests {
    @Test func namesAreUnique() {
        #expect(Set(CommandTable.commands.map(\.name)).count == CommandTable.commands.count)
        for command in CommandTable.commands {
            #expect(Set(command.options.map(\.name)).count == command.options.count)
        }
    }

    @Test func helpNamesEverySupportedOptionAndNoOther() {
        for command in CommandTable.supported {
            let lines = HelpText.of(command).split(separator: "\n").map {
                $0.split(separator: " ").first.map(String.init) ?? ""
            }
            for option in command.options {
                #expect(lines.contains(option.spelling) == option.isSupported, "\(option.spelling)")
            }
        }
    }

    @Test func helpFitsATerminalOfEightyColumns() {
        for text in [HelpText.overview()] + CommandTable.supported.map(HelpText.of) {
            for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        }
    }

    @Test func overviewNamesTheSupportedCommandsOnly() {
        let overview = HelpText.overview()
        for command in CommandTable.commands {
            #expect(overview.contains("\n  \(command.name) ") == command.isSupported)
        }
    }
}
