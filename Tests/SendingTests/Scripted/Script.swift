import HTTP2

/// What a script knows of a request when it decides.
struct ScriptedRequest: Sendable {
    /// The device token of the path.
    var token = ""
    var apnsID = ""
    var authorization = ""
    /// Connections count from 0 in the order of their acceptance, as do the requests on each.
    var connection = 0
    var index = 0
    /// How often this token has come by now, this time included.
    var attempt = 0
    /// Requests of the connection that are not over, this one included.
    var openCount = 0

    /// The row that `SendingRig` made the token of.
    var row: UInt64 { UInt64(token.suffix(16), radix: 16) ?? 0 }
}

/// What a scripted server does with a request.
enum ScriptedAction: Sendable {
    case accept
    case refuse(UInt16, String, timestampMs: Int64? = nil)
    /// With a `retry-after` header.
    case refuseFor(seconds: Int, UInt16, String)
    case reset(HTTP2ErrorCode)
    case silence
    /// Answers 200 when `ScriptedServer.releaseHeld` is called.
    case hold
    /// Answers 200 some milliseconds later.
    case acceptLater
    /// GOAWAY that leaves this request and all later ones out.
    case goAwayBefore
    /// GOAWAY in one frame or several, then 200, or the end of the connection instead.
    case goAway([ScriptedGoAway], thenCut: Bool = false)
    /// Stops reading: the kernel still takes bytes, and nothing is ever answered.
    case freeze
    /// Ends the connection by a reset.
    case abort
    /// Closes the connection; what is not answered never will be.
    case cut
    /// Answers 200 and closes.
    case acceptAndClose
    /// Announces settings and accepts.
    case announce(ServerSettings)
}

/// A GOAWAY frame of a scripted server.
struct ScriptedGoAway: Sendable {
    enum LastStream: Sendable {
        /// 2^31 − 1: a shutdown is announced, nothing is refused.
        case max
        /// The stream of the request: later ones were not processed.
        case this
    }

    var last = LastStream.this
    var code = HTTP2ErrorCode.noError
    var text = ""
}

/// How a scripted server treats a new connection.
enum ScriptedOpening: Sendable {
    case serve
    /// Closes before TLS.
    case close
    /// Takes the connection and never says anything.
    case silence
    /// Says GOAWAY right after SETTINGS.
    case goAway
}

typealias Script = @Sendable (ScriptedRequest) -> ScriptedAction
typealias OpeningScript = @Sendable (_ connection: Int) -> ScriptedOpening
