internal import EventLoop
internal import TLS

/// From an endpoint to an open connection.
extension Connection {
    func start(
        _ endpoint: Endpoint, refusal: ((SocketAddress) -> String?)?
    ) throws(ConnectionFailure) {
        let connector = Connector(loop: loop) { [weak self] outcome in self?.connected(outcome) }
        connector.refusal = refusal
        self.connector = connector
        try connector.start(endpoint)
    }

    private func connected(_ outcome: Connector.Outcome) {
        connector = nil
        do throws(ConnectionFailure) {
            let (descriptor, peer) = try outcome.get()
            try adopt(descriptor, peer: peer)
            handshake()
        } catch {
            close(error)
        }
    }

    func handshake() {
        guard let stream else { return }
        do throws(TLSError) {
            switch try stream.handshake() {
            case .wantsRead: watcher?.setInterest(.readable)
            case .wantsWrite: watcher?.setInterest(.writable)
            case .done: handshakeDone(stream)
            }
        } catch {
            isBroken = true
            close(error.kind == .noCommonProtocol ? .noHTTP2(offered: nil) : .tls(error))
        }
    }

    private func handshakeDone(_ stream: TLSStream) {
        let agreed = stream.negotiatedProtocol
        // A server takes clients without ALPN for HTTP/2 (prior knowledge, RFC 9113 section 3.3).
        guard agreed == "h2" || role == .server && agreed == nil else {
            return close(.noHTTP2(offered: agreed))
        }
        state = .open
        watcher?.setInterest(.readable)
        delegate?.connectionDidOpen(self)
        // TLS may have read bytes ahead of the handshake's end, which no readiness tells of.
        read()
    }
}
