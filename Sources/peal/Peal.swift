import EventLoop
import HTTP2
import TLS

/// The program: from arguments to the status it ends with.
enum Peal {
    static let version = "0.1.0"

    static func main(_ arguments: [String]) -> ExitStatus {
        do throws(CommandFailure) {
            switch try ArgumentParser.parse(arguments) {
            case .help(let command):
                // Help that was asked for is this command's result: it can be piped into a pager.
                Terminal.standardOutput(command.map(HelpText.of) ?? HelpText.overview())
                return .completed
            case .version:
                Terminal.standardOutput(versionText())
                return .completed
            case .run(let parsed):
                return try run(parsed)
            }
        } catch {
            Terminal.standardError("peal: \(error)\n")
            return error.status
        }
    }

    private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitStatus {
        switch arguments.command.name {
        case "send": try SendCommand.run(arguments)
        case "check": try CheckCommand.run(arguments)
        case "report": try ReportCommand.run(arguments)
        case "mock": try MockCommand.run(arguments)
        case "load": try LoadCommand.run(arguments)
        case "device": try DeviceCommand.run(arguments)
        case "auth": try AuthCommand.run(arguments)
        default: preconditionFailure("\(arguments.command.name) is declared and has no code")
        }
    }

    /// The libraries are those that are loaded, which may be newer than those of the build.
    static func versionText() -> String {
        """
        peal \(version)
        libuv \(EventLoop.libraryVersion)
        nghttp2 \(HTTP2Library.version)
        OpenSSL \(TLSContext.libraryVersion)

        """
    }
}
