import EventLoop
import Glibc
import MockAPNS
import TLS
import Transport

/// `peal device`: a simulated phone that prints what it receives, until a signal ends it.
enum DeviceCommand {
    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitStatus {
        guard let topic = arguments.text("topic") else {
            throw .refused("a device is registered for an app: give its --topic")
        }
        let name = arguments.text("name") ?? "phone"
        try DeviceTokenFile.check(name: name, topic: topic)
        let endpoint = try endpoint(arguments)
        let tls = try context(arguments)
        if arguments.has("unregister") {
            return try unregister(name: name, topic: topic, at: endpoint, tls)
        }
        let file = try DeviceTokenFile(name: name, topic: topic)
        let identity = SimulatedDevice.Identity(topic: topic, name: name, token: file.read())
        let screen = DeviceScreen(
            name: name, topic: topic, server: "\(endpoint)", isJSON: arguments.has("json"),
            countMax: arguments.count("count"))
        return try watch(screen, identity, file, endpoint, tls)
    }

    /// Runs the phone until it is over.
    private static func watch(
        _ screen: DeviceScreen, _ identity: SimulatedDevice.Identity, _ file: DeviceTokenFile,
        _ endpoint: Endpoint, _ tls: TLSContext
    ) throws(CommandFailure) -> ExitStatus {
        var failure: CommandFailure?
        do {
            let loop = try EventLoop()
            defer { loop.close() }
            let device = try SimulatedDevice(identity, at: endpoint, tls: tls, loop: loop) {
                event in
                do throws(CommandFailure) {
                    if case .registered(let token) = event { try file.write(token) }
                    if try screen.show(event) { loop.stop() }
                } catch {
                    failure = error
                    loop.stop()
                }
            }
            let signals = try Signals.watchEnd(on: loop) {
                screen.isInterrupted = true
                loop.stop()
            }
            device.start()
            withExtendedLifetime(signals) { loop.run() }
            device.stop()
        } catch {
            throw CommandFailure(.internalError, "cannot run a device: \(error)")
        }
        if let failure { throw failure }
        return screen.isInterrupted && screen.isWaiting ? .interrupted : .completed
    }

    /// Has the local APNs forget the phone, and forgets its token here.
    private static func unregister(
        name: String, topic: String, at endpoint: Endpoint, _ tls: TLSContext
    ) throws(CommandFailure) -> ExitStatus {
        guard let token = try DeviceTokenFile.token(name: name, topic: topic) else {
            throw .refused(
                "the device '\(name)' is not registered for \(topic): check --name and --topic")
        }
        var failure: CommandFailure?
        do {
            let loop = try EventLoop()
            defer { loop.close() }
            let identity = SimulatedDevice.Identity(topic: topic, name: name, token: token)
            let device = try SimulatedDevice(
                identity, at: endpoint, tls: tls, purpose: .unregister, loop: loop
            ) { event in
                switch event {
                case .disconnected(let why, _), .failed(let why):
                    failure = CommandFailure(.stopped, why)
                default: break
                }
                loop.stop()
            }
            device.start()
            loop.run()
            device.stop()
        } catch {
            throw CommandFailure(.internalError, "cannot run a device: \(error)")
        }
        if let failure { throw failure }
        try DeviceTokenFile.remove(name: name, topic: topic)
        Terminal.standardError("peal device: \(name) is unregistered from \(topic)\n")
        return .completed
    }

    private static func endpoint(_ arguments: ParsedArguments) throws(CommandFailure) -> Endpoint {
        let endpoint: Endpoint
        do {
            endpoint = try Endpoint.parse(url: arguments.text("server") ?? "https://localhost:2197")
        } catch {
            throw .refused("--server \(error)")
        }
        if SendSettings.isApple(endpoint) {
            throw .refused("--server \(endpoint): a simulated phone connects to peal mock only")
        }
        return endpoint
    }

    private static func context(_ arguments: ParsedArguments) throws(CommandFailure) -> TLSContext {
        let file =
            if let file = arguments.text("ca-file") { file } else {
                try StatePath.folder("mock") + "/ca.pem"
            }
        guard SmallFile.exists(file) else {
            throw .refused(
                "\(file) is not there: start peal mock, which makes it, or give the one that it "
                    + "names with --ca-file")
        }
        do { return try TLSContext.client(caFile: file) } catch { throw .refused("\(error)") }
    }
}
