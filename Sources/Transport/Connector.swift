package import EventLoop
internal import Glibc

/// Turns an endpoint into a connected socket: a fresh look-up, then the addresses one after
/// another.
///
/// They are tried from a random one on, so that many connections spread over all the addresses of
/// a service. An address that neither takes nor refuses within `attemptMsMax` is given up while
/// there are others: a path that swallows packets must not use up the owner's deadline.
/// *Thread*: the loop's. Dropping it cancels it.
package final class Connector {
    /// A connected, non-blocking socket, which is the receiver's to close, and its other end.
    package typealias Outcome = Result<(descriptor: Int32, peer: SocketAddress), ConnectionFailure>

    private static let attemptMsMax: UInt64 = 3_000

    private let loop: EventLoop
    /// Called once, never inside `start`; then it is nil.
    private var onOutcome: ((Outcome) -> Void)?
    private var resolution: Resolution?
    private var addressesLeft: ArraySlice<SocketAddress> = []
    private var attempt: Attempt?
    private var timer: LoopTimer?
    private var firstFailure: (address: SocketAddress, text: String)?
    private var failureCount = 0

    /// Why an address may not be used; nil: it may. One that may not ends the attempt as a whole.
    var refusal: ((SocketAddress) -> String?)?

    /// True once the host name is looked up.
    package private(set) var isConnecting = false

    package init(loop: EventLoop, _ onOutcome: @escaping (Outcome) -> Void) {
        self.loop = loop
        self.onOutcome = onOutcome
    }

    deinit { cancel() }

    /// Begins; throws when not even the look-up can begin.
    package func start(_ endpoint: Endpoint) throws(ConnectionFailure) {
        do {
            timer = try loop.makeTimer { [weak self] in
                self?.attemptFailed("no answer", tryNext: true)
            }
            resolution = try loop.resolve(host: endpoint.host, port: endpoint.port) {
                [weak self] result in
                switch result {
                case .success(let addresses): self?.tryAddresses(addresses)
                case .failure(let error): self?.finish(.failure(.resolve(error)))
                }
            }
        } catch {
            throw .local(error.description)
        }
    }

    /// Tries `addresses` in turn, beginning at a random one. Called from the loop only.
    package func tryAddresses(_ addresses: [SocketAddress]) {
        if let text = addresses.lazy.compactMap({ self.refusal?($0) }).first {
            return finish(.failure(.local(text)))
        }
        isConnecting = true
        let first = Int.random(in: 0..<max(addresses.count, 1))
        addressesLeft = (addresses[first...] + addresses[..<first])[...]
        tryNext()
    }

    /// Gives up without an outcome.
    package func cancel() {
        onOutcome = nil
        resolution?.cancel()
        attempt?.abandon()
        attempt = nil
        timer?.close()
    }

    private func tryNext() {
        while let address = addressesLeft.popFirst() {
            do throws(Socket.Failure) {
                try begin(address)
                if !addressesLeft.isEmpty { timer?.start(afterMs: Connector.attemptMsMax) }
                return
            } catch {
                if error.code == EMFILE || error.code == ENFILE {
                    return finish(.failure(.local(tooManyDescriptors)))
                }
                note(address, error.text)
            }
        }
        guard let firstFailure else { return finish(.failure(.local("there is no address"))) }
        finish(
            .failure(
                .connect(
                    address: firstFailure.address.description, text: firstFailure.text,
                    others: failureCount - 1)))
    }

    private func begin(_ address: SocketAddress) throws(Socket.Failure) {
        let descriptor = try Socket.open(family: address.family)
        let attempt = Attempt(descriptor: descriptor, address: address)
        Socket.setNoDelay(descriptor)
        Socket.setUserTimeout(descriptor)
        try Socket.connect(descriptor, to: address)
        do {
            attempt.watcher = try loop.watch(descriptor: descriptor) { [weak self] _ in
                self?.decided()
            }
        } catch {
            throw Socket.Failure(code: -error.code)
        }
        attempt.watcher?.setInterest(.writable)
        self.attempt = attempt
    }

    private func decided() {
        guard let attempt else { return }
        let code = Socket.takeError(attempt.descriptor)
        guard code == 0 else {
            return attemptFailed(Socket.Failure(code: code).text, tryNext: true)
        }
        self.attempt = nil
        finish(.success((attempt.release(), attempt.address)))
    }

    private func attemptFailed(_ text: String, tryNext goesOn: Bool) {
        guard let attempt else { return }
        self.attempt = nil
        attempt.abandon()
        note(attempt.address, text)
        tryNext()
    }

    private func note(_ address: SocketAddress, _ text: String) {
        failureCount += 1
        if firstFailure == nil { firstFailure = (address, text) }
    }

    private func finish(_ outcome: Outcome) {
        let onOutcome = onOutcome
        cancel()
        onOutcome?(outcome)
    }

    /// One socket on its way; closes it unless it is released.
    private final class Attempt {
        private(set) var descriptor: Int32
        let address: SocketAddress
        var watcher: DescriptorWatcher?

        init(descriptor: Int32, address: SocketAddress) {
            self.descriptor = descriptor
            self.address = address
        }

        deinit { abandon() }

        /// Hands the descriptor over to the caller.
        func release() -> Int32 {
            defer { descriptor = -1 }
            watcher?.close()
            return descriptor
        }

        func abandon() {
            let descriptor = release()
            if descriptor >= 0 { Glibc.close(descriptor) }
        }
    }
}

/// What to do when the process has no descriptor left.
let tooManyDescriptors =
    "too many open files: raise the limit (ulimit -n) or use fewer connections"
