internal import Crypto
package import EventLoop
internal import Synchronization
internal import TLS
internal import Transport

/// A local APNs: the provider API of the real service on a port of this machine, with TLS, HTTP/2
/// and Apple's checks, and pages of its own below `/mock/`.
///
/// *Thread:* any. It serves on threads of its own until `stop`.
package final class MockServer: Sendable {
    /// More threads than any machine that this runs on has cores to spare.
    private static let threadsMax = 64

    /// Where it listens, with the real port.
    package let address: SocketAddress
    /// The authority that clients have to trust, as a PEM file.
    package let caFile: String

    let shared: MockShared
    private let workers: [WorkerThread]
    private let isStopped = Mutex(false)

    private init(
        address: SocketAddress, caFile: String, shared: MockShared, workers: [WorkerThread]
    ) {
        self.address = address
        self.caFile = caFile
        self.shared = shared
        self.workers = workers
    }

    deinit { stop() }

    package var port: UInt16 { address.port }

    /// Makes or reads the certificates, listens, and serves.
    ///
    /// *Errors:* options out of range, an address that other machines can reach without leave, a
    /// state folder that cannot be used, an address that is taken.
    package static func start(_ options: MockOptions) throws(MockError) -> MockServer {
        guard (1...threadsMax).contains(options.threads) else {
            throw MockError(
                "the local APNs cannot run \(options.threads) threads: "
                    + "give a number from 1 to \(threadsMax)")
        }
        let address = try listenAddress(options)
        let registry = MockRegistry(
            try RegistryFile.registry(
                file: options.registryFile
                    ?? RegistryFile.ownFile(in: options.stateDirectory),
                keys: options.keys, clock: options.clock))
        let folder = StateFolder(path: options.stateDirectory)
        let certificate = try folder.serverCertificate(host: address.numericHost)
        let tls: TLSContext
        do {
            tls = try TLSContext.server(
                certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM,
                asksForClientCertificate: true)
        } catch {
            throw MockError(
                "the certificate in \(folder.path) cannot be used: \(error); remove the folder, "
                    + "and it is made again")
        }
        let shared = try MockShared(options: options, registry: registry, tls: tls)
        let workers = try startWorkers(shared, count: options.threads, listeningOn: address)
        return MockServer(
            address: workers.last?.address ?? address, caFile: folder.caFile, shared: shared,
            workers: workers)
    }

    /// Starts the workers that only serve, then the one that listens too; all or none.
    private static func startWorkers(
        _ shared: MockShared, count: Int, listeningOn address: SocketAddress
    ) throws(MockError) -> [WorkerThread] {
        var workers: [WorkerThread] = []
        do throws(MockError) {
            for index in (0..<count).reversed() {
                let listening =
                    index > 0
                    ? nil
                    : WorkerThread.Listening(address: address, others: workers.map(\.mailbox))
                workers.append(
                    try WorkerThread.start(shared: shared, index: index, listening: listening))
            }
            return workers
        } catch {
            for worker in workers { worker.stop() }
            throw error
        }
    }

    /// The address to listen on: one of this machine alone, unless others are allowed.
    private static func listenAddress(_ options: MockOptions) throws(MockError) -> SocketAddress {
        let host = options.listen.host
        let numericHost = host == "localhost" ? "127.0.0.1" : host
        guard
            let address = SocketAddress.parse(numericHost: numericHost, port: options.listen.port)
        else {
            throw MockError(
                "the local APNs cannot listen on \"\(host)\": give localhost, or an IP address "
                    + "of this machine such as 127.0.0.1 or ::1")
        }
        guard address.isLoopback || options.allowsOtherHosts else {
            throw MockError(
                "the local APNs does not listen on \(address), which other machines can reach: it "
                    + "takes device tokens and messages from anybody; listen on 127.0.0.1 or ::1")
        }
        return address
    }

    /// What `GET /mock/stats` answers.
    package func statsJSON() -> [UInt8] {
        shared.statistics.json()
    }

    /// Closes every connection and joins the threads. Idempotent.
    package func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        for worker in workers { worker.stop() }
        shared.log?.close()
    }

    /// The seed of the faults.
    package var seed: UInt64 { shared.faults.seed }

    /// Why the log is not complete; nil when it is, or none is kept.
    package var logFailure: String? { shared.log?.failure }
}
