package import EventLoop
package import HTTP2
package import TLS

/// How far a connection is.
package enum ConnectionPhase: Sendable, Equatable {
    case resolving, connecting, handshaking, open, closed
}

/// Why a connection ended, or did not come about: the first cause.
package enum ConnectionFailure: Error, Sendable, CustomStringConvertible {
    /// The host name has no address.
    case resolve(ResolveError)
    /// No address took the connection; the first one tried, the system's words, and how many
    /// further addresses failed too.
    case connect(address: String, text: String, others: Int)
    case tls(TLSError)
    /// TLS is up but the server did not agree on HTTP/2; what it chose instead, if anything.
    case noHTTP2(offered: String?)
    /// The owner's deadline passed in this phase.
    case timedOut(ConnectionPhase)
    /// The peer ended the connection while streams were open, or before it had said anything.
    case peerClosed
    /// The socket failed; the system's words.
    case io(String)
    /// The peer broke HTTP/2.
    case protocolError(HTTP2Error)
    /// Something on this side: out of descriptors, an address in use, a decision of the owner.
    case local(String)

    package var description: String {
        switch self {
        case .resolve(let error): return error.description
        case .connect(let address, let text, let others):
            let also = others == 0 ? "" : " (and \(others) more of its addresses)"
            return "cannot connect to \(address)\(also): \(text); check the address, that the "
                + "server runs, and the firewall between"
        case .tls(let error): return error.description
        case .noHTTP2(let offered):
            return "the server does not speak HTTP/2 on this port (ALPN chose "
                + "\(offered.map { "\"\($0)\"" } ?? "nothing")); check the address: a proxy that "
                + "opens TLS must pass h2 on"
        case .timedOut(let phase): return ConnectionFailure.timedOut(in: phase)
        case .peerClosed: return "the other side closed the connection"
        case .io(let text): return "the connection was lost: \(text)"
        case .protocolError(let error): return error.description
        case .local(let text): return text
        }
    }

    private static func timedOut(in phase: ConnectionPhase) -> String {
        switch phase {
        case .resolving: "looking up the host name took too long; check this machine's DNS"
        case .connecting:
            "the server did not take the connection in time; check the address and the firewall"
        case .handshaking: "the TLS handshake was not finished in time"
        case .open, .closed: "the server did not answer in time"
        }
    }
}

/// Hears of a connection. *Thread*: the loop's. Each call may close the connection or submit more.
package protocol ConnectionDelegate: AnyObject {
    /// TCP and TLS are up and HTTP/2 is agreed; the peer's SETTINGS may still be on their way.
    func connectionDidOpen(_ connection: Connection)

    /// There may be room for more requests: bytes were read in this turn, or output has left.
    ///
    /// Called before the turn's flush, so that what is submitted here goes out with it, and again
    /// after output was written. No `setNeedsFlush` is needed for what is submitted here.
    func connectionDidFlush(_ connection: Connection)

    /// The connection is gone; `session.connectionEnded()` has run. Exactly once for each
    /// connection that is not dropped before, never inside `connect` or `accept`. Nil: closed
    /// politely with nothing open.
    func connection(_ connection: Connection, didCloseWith cause: ConnectionFailure?)
}
