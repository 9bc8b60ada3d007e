internal import CLibuv
internal import Glibc
internal import Synchronization

/// A host name that did not lead to an address.
package struct ResolveError: Error, CustomStringConvertible, Sendable {
    package let host: String
    /// The resolver's words, e.g. "Name or service not known".
    package let text: String

    package var description: String {
        "cannot look up the host \(host): \(text); check the name and this machine's DNS"
    }
}

/// A look-up in progress. Dropping it does not cancel it. *Thread*: the loop's.
package final class Resolution {
    fileprivate let id: UInt64
    fileprivate let host: String
    fileprivate let port: UInt16
    fileprivate var body: ((Result<[SocketAddress], ResolveError>) -> Void)?
    fileprivate weak var resolver: Resolver?

    fileprivate init(
        id: UInt64, host: String, port: UInt16, resolver: Resolver,
        body: @escaping (Result<[SocketAddress], ResolveError>) -> Void
    ) {
        self.id = id
        self.host = host
        self.port = port
        self.resolver = resolver
        self.body = body
    }

    /// Ends the look-up: its body is never called. Does nothing once the body was called.
    package func cancel() {
        body = nil
        resolver?.forget(self)
    }
}

/// The look-ups of one loop.
///
/// Each runs on a detached thread of its own and not in libuv's pool: that pool is joined when the
/// process exits, and a dead name server would hold the exit for many seconds. A cancelled look-up
/// leaves its thread to end by itself (the system's resolver gives up after about half a minute).
final class Resolver {
    /// Look-ups that may wait: far more than the connections of one loop.
    static let lookUpsMax = 4096

    private let mailbox: ResolverMailbox
    private let handle: LoopHandle
    /// Look-ups without an answer, by id.
    private var pending: [UInt64: Resolution] = [:]
    /// Those that have not begun, in order; cancelled ones are skipped when their turn comes.
    private var waiting: [Resolution] = []
    private var runningID: UInt64?
    private var lastID: UInt64 = 0

    init(loop: EventLoop) throws(EventLoopError) {
        let relay = Relay()
        let (wakeup, handle) = try loop.openWakeup { relay.resolver?.deliver() }
        self.handle = handle
        mailbox = ResolverMailbox(wakeup: wakeup)
        uv_unref(handle.uv)
        relay.resolver = self
    }

    func resolve(
        host: String, port: UInt16,
        _ body: @escaping (Result<[SocketAddress], ResolveError>) -> Void
    ) throws(EventLoopError) -> Resolution {
        guard pending.count < Resolver.lookUpsMax else {
            throw EventLoopError(code: UV_EAGAIN.rawValue, call: "resolve (too many look-ups)")
        }
        lastID += 1
        let resolution = Resolution(
            id: lastID, host: host, port: port, resolver: self, body: body)
        pending[resolution.id] = resolution
        if let address = SocketAddress.parse(numericHost: host, port: port) {
            mailbox.post(ResolverAnswer(id: resolution.id, result: .success([address])))
        } else {
            waiting.append(resolution)
            startNext()
        }
        holdLoopWhilePending()
        return resolution
    }

    func forget(_ resolution: Resolution) {
        guard pending.removeValue(forKey: resolution.id) != nil else { return }
        if runningID == resolution.id { runningID = nil }
        startNext()
        holdLoopWhilePending()
    }

    func cancelAll() {
        for resolution in pending.values { resolution.body = nil }
        pending = [:]
        waiting = []
    }

    private func deliver() {
        for answer in mailbox.take() {
            if runningID == answer.id { runningID = nil }
            guard let resolution = pending.removeValue(forKey: answer.id) else { continue }
            let body = resolution.body
            resolution.body = nil
            body?(answer.result)
        }
        startNext()
        holdLoopWhilePending()
    }

    private func startNext() {
        while runningID == nil, !waiting.isEmpty {
            let next = waiting.removeFirst()
            guard pending[next.id] != nil else { continue }
            let (id, host, port, mailbox) = (next.id, next.host, next.port, mailbox)
            do {
                // Not kept: the thread is detached when this reference goes.
                _ = try PlatformThread.start(name: "resolve") {
                    mailbox.post(ResolverAnswer(id: id, result: lookUp(host: host, port: port)))
                }
                runningID = id
            } catch {
                let failure = ResolveError(host: host, text: error.description)
                mailbox.post(ResolverAnswer(id: id, result: .failure(failure)))
            }
        }
    }

    private func holdLoopWhilePending() {
        guard handle.isOpen else { return }
        if pending.isEmpty { uv_unref(handle.uv) } else { uv_ref(handle.uv) }
    }

    /// Leads the wake-up's closure here without keeping the resolver alive.
    private final class Relay {
        weak var resolver: Resolver?
    }
}

private struct ResolverAnswer: Sendable {
    let id: UInt64
    let result: Result<[SocketAddress], ResolveError>
}

/// Where the threads leave their answers. It outlives the loop when a thread does. *Thread*: any.
private final class ResolverMailbox: Sendable {
    /// At most one answer for each look-up that was begun.
    private let answers = Mutex<[ResolverAnswer]>([])
    private let wakeup: Wakeup

    init(wakeup: Wakeup) { self.wakeup = wakeup }

    func post(_ answer: ResolverAnswer) {
        answers.withLock { $0.append(answer) }
        wakeup.send()
    }

    func take() -> [ResolverAnswer] {
        answers.withLock { answers in
            defer { answers = [] }
            return answers
        }
    }
}

/// `getaddrinfo` for a stream socket. Blocks; for a thread that may.
private func lookUp(host: String, port: UInt16) -> Result<[SocketAddress], ResolveError> {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    // Leaves out IPv6 addresses on machines that have none of their own, and the reverse.
    hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &list)
    guard code == 0 else {
        let text = String(cString: code == EAI_SYSTEM ? uv_strerror(-errno) : gai_strerror(code))
        return .failure(ResolveError(host: host, text: text))
    }
    defer { freeaddrinfo(list) }
    var addresses: [SocketAddress] = []
    var next = list
    while let entry = next?.pointee {
        if let address = entry.ai_addr.flatMap({ SocketAddress(copying: $0) }),
            !addresses.contains(address)
        {
            addresses.append(address)
        }
        next = entry.ai_next
    }
    guard !addresses.isEmpty else {
        return .failure(ResolveError(host: host, text: "it has no address"))
    }
    return .success(addresses)
}
