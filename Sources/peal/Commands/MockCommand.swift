import Crypto
import EventLoop
import MockAPNS

/// `peal mock`: the local APNs, in the foreground until a signal ends it.
enum MockCommand {
    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitStatus {
        let server = try start(try options(arguments))
        defer { server.stop() }
        Terminal.standardError(
            "peal mock: listening on https://\(server.address), CA \(server.caFile)\n")
        if !arguments.all("fault").isEmpty || arguments.has("faults") {
            Terminal.standardError(
                "peal mock: misbehaves on purpose, --seed \(server.seed) repeats it\n")
        }
        try waitForSignal()
        server.stop()
        if let failure = server.logFailure { throw CommandFailure(.internalError, failure) }
        return .completed
    }

    /// Starts a local APNs, with its errors as refusals.
    static func start(_ options: MockOptions) throws(CommandFailure) -> MockServer {
        do {
            return try MockServer.start(options)
        } catch {
            throw .refused("\(error)")
        }
    }

    private static func options(_ arguments: ParsedArguments) throws(CommandFailure) -> MockOptions
    {
        let listen = try ListenAddress.parse(arguments.text("listen") ?? "127.0.0.1:2197")
        let state =
            if let state = arguments.text("state") { state } else { try StatePath.folder("mock") }
        var options = MockOptions(listen: listen, stateDirectory: state)
        for file in arguments.all("key") {
            let bytes = try SmallFile.read(file)
            do {
                options.keys.append(
                    MockKey(
                        keyID: AuthCommand.idInFileName(file),
                        key: try VerifyingKey.pem(bytes)))
            } catch {
                throw .refused("--key \(file): \(error)")
            }
        }
        options.threads = arguments.count("threads") ?? 1
        options.fast = arguments.has("fast")
        options.registryFile = arguments.text("registry")
        options.seed = arguments.whole("seed")
        options.logFile = arguments.text("log")
        options.faults = try faults(arguments)
        return options
    }

    private static func faults(_ arguments: ParsedArguments) throws(CommandFailure) -> FaultPlan {
        var plan = FaultPlan()
        do throws(MockError) {
            for spec in arguments.all("fault") { try plan.add(spec: spec) }
        } catch {
            throw .refused("\(error)")
        }
        guard let file = arguments.text("faults") else { return plan }
        let bytes = try SmallFile.read(
            file, tooLarge: "faults: name a JSON5 file of at most 64 faults")
        do throws(MockError) {
            try plan.add(file: bytes, name: file)
        } catch {
            throw .refused("\(error)")
        }
        return plan
    }

    private static func waitForSignal() throws(CommandFailure) {
        do {
            let loop = try EventLoop()
            defer { loop.close() }
            let watchers = try Signals.watchEnd(on: loop) { loop.stop() }
            withExtendedLifetime(watchers) { loop.run() }
        } catch {
            throw CommandFailure(.internalError, "cannot wait for signals: \(error)")
        }
    }
}
