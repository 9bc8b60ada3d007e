internal import CNghttp2

/// One side of an HTTP/2 connection (RFC 9113): bytes in, bytes out, no socket and no clock.
///
/// The owner of the socket calls `receive` with what it read, `pump` before it writes, sends
/// `output.readable`, consumes what was sent, and says `connectionEnded` when the socket is gone.
/// Delegate calls come from inside `receive`, `pump` and `connectionEnded`.
///
/// *Thread*: one.
package protocol HTTP2Session: AnyObject {
    /// What waits to be sent to the peer.
    var output: OutputBuffer { get }

    /// Takes bytes from the peer; answers that arrived are delivered before it returns.
    ///
    /// *Ownership*: `bytes` is borrowed for the call. *Errors*: thrown when the connection cannot
    /// go on; `output` then holds a GOAWAY for the peer if there was room, and the owner closes.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error)

    /// Moves frames that are ready into `output` while it has room; also after bytes were consumed.
    func pump()

    /// Nothing is left to read or to write: the owner may close the connection.
    var isFinished: Bool { get }

    /// Why the connection cannot go on; nil while it can. `receive` throws it, unless the GOAWAY
    /// that names it had to wait for room in `output`: then the session finishes with it.
    var failure: HTTP2Error? { get }

    /// Streams that have begun and not ended: a peer that goes while there are none breaks nothing
    /// off.
    var openStreamCount: Int { get }

    /// The connection is gone: every open stream gets its terminal event. Idempotent.
    func connectionEnded()
}

/// What stands below the sessions.
package enum HTTP2Library {
    /// The version of nghttp2 that this process has loaded, as in "1.52.0".
    package static let version =
        nghttp2_version(0).map { String(cString: $0.pointee.version_str) } ?? "unknown"
}

/// The number of a stream within its connection (RFC 9113, section 5.1.1).
package struct StreamID: Sendable, Equatable, Hashable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        assert(rawValue > 0)
        self.rawValue = rawValue
    }

    /// The largest number: a GOAWAY with it announces a shutdown without refusing anything yet.
    package static let max = StreamID(rawValue: Int32.max)
}
