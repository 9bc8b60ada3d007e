import APNS
import Crypto
import EventLoop
import Glibc
import Load
import Measure
import MockAPNS
import Transport

/// `peal load`: an open-loop load test.
enum LoadCommand {
    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitStatus {
        var options = try LoadSettings.options(arguments)
        let file = try arguments.text("histogram").map { path throws(CommandFailure) in
            try HistogramFile(path)
        }
        let credentials = try CredentialStore.development()
        let mock = arguments.has("mock") ? try startMock(credentials) : nil
        defer { mock?.stop() }
        if let mock {
            options.endpoint = Endpoint(host: "127.0.0.1", port: mock.port)
            options.caFile = mock.caFile
        }
        let tokens = ProviderTokenSource(
            key: credentials.key, keyID: credentials.keyID, teamID: credentials.teamID)
        let isQuiet = arguments.has("quiet")
        let summary = try LoadWatcher.run(options, tokens, isQuiet: isQuiet)
        Terminal.standardError(isQuiet ? LoadText.warning(summary) : LoadText.render(summary))
        try file?.write(summary.latency.percentileText(unit: 1e6))
        if arguments.has("json"), !Terminal.standardOutput(summary.json()) {
            throw CommandFailure(.internalError, "the summary could not be written")
        }
        return status(of: summary)
    }

    static func status(of summary: LoadSummary) -> ExitStatus {
        switch summary.end {
        case .interrupted: .interrupted
        case .failed: .stopped
        case .completed: summary.isRateReached ? .completed : .stopped
        }
    }

    /// A local APNs in this process that knows the development key and no other.
    private static func startMock(_ credentials: SigningCredentials) throws(CommandFailure)
        -> MockServer
    {
        var options = MockOptions(
            listen: (host: "127.0.0.1", port: 0), stateDirectory: try StatePath.folder("mock"))
        options.keys = [MockKey(keyID: credentials.keyID, key: credentials.key.verifyingKey)]
        options.fast = true
        return try MockCommand.start(options)
    }
}

/// The file of `--histogram`, opened before the test, so that a name that cannot be written costs
/// nobody a test.
private final class HistogramFile {
    private let path: String
    /// Owned.
    private let descriptor: Int32

    init(_ path: String) throws(CommandFailure) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw .refused(
                "--histogram \(path): \(String(cString: strerror(errno))); check the name and its "
                    + "folder")
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Replaces what the file holds.
    func write(_ text: String) throws(CommandFailure) {
        let bytes = Array(text.utf8)
        guard ftruncate(descriptor, 0) == 0 || errno == EINVAL,  // EINVAL: a pipe or a device
            Glibc.write(descriptor, bytes, bytes.count) == bytes.count
        else {
            throw CommandFailure(
                .internalError, "--histogram \(path): \(String(cString: strerror(errno)))")
        }
    }
}
