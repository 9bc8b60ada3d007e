internal import HTTP2
internal import Transport

/// Hands what the session and the socket of a pooled connection tell on to it.
///
/// Sessions and sockets reference their delegates weakly, and the references of an object that was
/// ever referenced weakly are counted slowly from then on. The pooled connection is used for each
/// row, so it is this object that they reference.
///
/// - Ownership: the pooled connection's, and nobody else keeps it: it does not outlive its owner.
///   A session holds it for the length of a call, but a worker takes a connection out of its pool
///   only when the socket has told its end, which is after the session's last call.
final class ConnectionEvents: ClientSessionDelegate, ConnectionDelegate {
    private unowned let owner: PooledConnection

    init(owner: PooledConnection) { self.owner = owner }

    func session(
        _ session: ClientSession, request: UInt32, endedWith answer: borrowing Answer
    ) {
        owner.requestEnded(request, with: answer)
    }

    func sessionSettingsChanged(_ session: ClientSession) { owner.settingsChanged() }

    func session(_ session: ClientSession, didReceiveGoAway goAway: GoAway) {
        owner.didReceiveGoAway(goAway)
    }

    func sessionDidReceivePong(_ session: ClientSession) {}

    func connectionDidOpen(_ connection: Connection) { owner.didOpen() }

    func connectionDidFlush(_ connection: Connection) { owner.didFlush() }

    func connection(_ connection: Connection, didCloseWith failure: ConnectionFailure?) {
        owner.didClose(failure)
    }
}
