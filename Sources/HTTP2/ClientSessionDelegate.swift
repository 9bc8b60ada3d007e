/// How far a request came.
package enum AnswerKind: Sendable, Equatable {
    /// The peer sent a final status.
    case response
    /// The peer certainly did not process it: refused, above GOAWAY's last stream, or no byte of it
    /// left the session (RFC 9113, section 8.7). It may be sent again at once, elsewhere.
    case unprocessed
    /// It was sent, and no final status came: the peer may have processed it.
    case unknown
}

/// The terminal event of a request.
package struct Answer {
    package let kind: AnswerKind
    /// The final status; 0 unless `kind` is `response`.
    package let status: UInt16
    /// What the stream was reset with, or the connection closed with; `noError` when neither was.
    package let errorCode: HTTP2ErrorCode
    /// What arrived of the response's body, at most `ClientSession.answerBodyBytesMax`; empty for a
    /// 200, which counts before its body comes. *Ownership*: borrowed for the delegate's call.
    package let body: UnsafeRawBufferPointer
    /// The `retry-after` header in seconds; -1 when there is none, or a date instead of a number.
    package let retryAfterSeconds: Int

    package init(
        kind: AnswerKind, status: UInt16 = 0, errorCode: HTTP2ErrorCode = .noError,
        body: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        retryAfterSeconds: Int = -1
    ) {
        self.kind = kind
        self.status = status
        self.errorCode = errorCode
        self.body = body
        self.retryAfterSeconds = retryAfterSeconds
    }
}

/// A GOAWAY frame from the peer (RFC 9113, section 6.8).
package struct GoAway: Sendable, Equatable {
    /// Streams above it were not processed.
    package let lastStreamID: Int32
    package let errorCode: HTTP2ErrorCode
    /// The first 4 KiB of the frame's opaque data: untrusted bytes.
    package let debugData: [UInt8]

    package init(lastStreamID: Int32, errorCode: HTTP2ErrorCode, debugData: [UInt8]) {
        self.lastStreamID = lastStreamID
        self.errorCode = errorCode
        self.debugData = debugData
    }
}

/// Who hears what becomes of the requests of a client session.
///
/// The calls come from inside `receive`, `pump`, `cancel` and `connectionEnded`, never from inside
/// `submit`, on the session's thread. Every one of them may submit, cancel and end the session.
package protocol ClientSessionDelegate: AnyObject {
    /// The request is over: exactly once per submitted request, on every path.
    func session(_ session: ClientSession, request: UInt32, endedWith answer: borrowing Answer)
    /// The peer's first SETTINGS arrived, or later ones: limits may have changed.
    func sessionSettingsChanged(_ session: ClientSession)
    /// The peer wants no new streams; told before the answers that the frame causes.
    func session(_ session: ClientSession, didReceiveGoAway goAway: GoAway)
    /// The peer answered a ping.
    func sessionDidReceivePong(_ session: ClientSession)
}
