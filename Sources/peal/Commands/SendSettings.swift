import APNS
import Campaign
import MockAPNS
import Sending
import Transport

/// What `peal send` decides before it starts: the server, and what the options say beside the
/// manifest.
enum SendSettings {
    static func options(
        _ arguments: ParsedArguments, campaign: Campaign, credentials: Credentials,
        mock: MockServer?
    ) throws(CommandFailure) -> SendOptions {
        let endpoint = try endpoint(arguments, campaign: campaign, mock: mock)
        guard !credentials.isDevelopment || endpoint.isLoopback else {
            throw .refused(
                "the campaign's credentials are \"development\", a key of this machine that "
                    + "\(endpoint.host) does not know: add --mock, or --server with a server on "
                    + "this machine, or give the campaign Apple's key: "
                    + "credentials: { key, keyID, teamID }")
        }
        var options = SendOptions(
            endpoint: endpoint, runDirectory: try runDirectory(arguments, campaign: campaign))
        options.resumes = arguments.has("resume")
        options.caFile = mock?.caFile ?? arguments.text("ca-file")
        options.recipients = arguments.text("recipients")
        readPace(arguments, into: &options)
        options.streams = arguments.count("streams")
        options.threads = arguments.count("threads")
        options.limit = arguments.whole("limit")
        options.expectRows = arguments.whole("expect-rows")
        return options
    }

    /// The options that say how fast: those that `check` has too.
    static func readPace(_ arguments: ParsedArguments, into options: inout SendOptions) {
        options.pacing = arguments.text("pacing").flatMap(Pacing.Mode.init(rawValue:))
        options.rate = arguments.decimal("rate")
        options.connectionRate = arguments.decimal("connection-rate")
        options.connections = arguments.count("connections")
    }

    private static func runDirectory(
        _ arguments: ParsedArguments, campaign: Campaign
    ) throws(CommandFailure) -> String {
        if let given = arguments.text("run-dir") { return given }
        guard arguments.has("resume") else {
            return RunFolder.defaultPath(campaign: campaign.name)
        }
        guard let found = RunFolder.newestUnfinished(campaign: campaign.name) else {
            throw .refused(
                "nothing to resume: runs/\(campaign.name) holds no run that is not complete; name "
                    + "its folder with --run-dir, or leave --resume out to start a new run")
        }
        Terminal.standardError("peal: going on with \(found)\n")
        return found
    }

    /// The command that goes on with a run that has stopped, as the user can type it: with the
    /// options of this one that still matter.
    ///
    /// - Parameter needsStandardInput: whether it must be given once more, from its start.
    static func resumeCommand(
        _ arguments: ParsedArguments, runDirectory: String, needsStandardInput: Bool
    ) -> String {
        var words = ["peal", "send", arguments.operand ?? ""]
        for option in arguments.command.supportedOptions {
            switch option.name {
            case "resume", "run-dir", "limit", "yes": continue
            case "recipients" where arguments.text("recipients") == "-": continue
            default: break
            }
            for value in arguments.all(option.name) {
                words += option.kind == .flag ? [option.spelling] : [option.spelling, value]
            }
        }
        if needsStandardInput { words += ["--recipients", "-"] }
        words += ["--resume", "--run-dir", runDirectory]
        return words.map(quoted).joined(separator: " ")
    }

    /// A word as a shell takes it.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_./:=,+@%".utf8.contains(byte)
                }
            }
        if isPlain { return word }
        return "'"
            + word.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
    }

    /// Refuses options that contradict each other, before anything is started for them.
    static func checkServerOptions(_ arguments: ParsedArguments) throws(CommandFailure) {
        guard !arguments.has("resume") || !arguments.has("limit") else {
            throw .refused("--limit may not change when a run is resumed: leave it out")
        }
        for other in ["server", "ca-file"] where arguments.has("mock") && arguments.has(other) {
            throw .refused(
                "--mock brings its own server and certificate authority: leave --\(other) or "
                    + "--mock out")
        }
    }

    /// Where the requests go: the local APNs of this process, `--server`, or Apple.
    private static func endpoint(
        _ arguments: ParsedArguments, campaign: Campaign, mock: MockServer?
    ) throws(CommandFailure) -> Endpoint {
        if let mock { return Endpoint(host: "127.0.0.1", port: mock.port) }
        if let url = arguments.text("server") {
            do {
                return try Endpoint.parse(url: url)
            } catch {
                throw .refused("--server \(error)")
            }
        }
        let host = campaign.environment == .production ? APNSHost.production : APNSHost.sandbox
        return Endpoint(host: host, port: APNSHost.port)
    }

    /// Whether `endpoint` is Apple's: the hosts that reach real devices.
    static func isApple(_ endpoint: Endpoint) -> Bool {
        endpoint.host.lowercased().hasSuffix(".push.apple.com")
    }
}
