/// Decides when a connection is asked for a sign of life, and when it counts as dead.
///
/// A connection from which nothing at all arrives while requests are in flight is asked by a PING,
/// and so is one that failed to answer a request in time. When nothing arrives after that either,
/// it is half-open or its server hangs. Whatever arrives is a sign of life, not the PONG alone: it
/// may stand in a queue behind answers.
///
/// Time is passed in; there is no clock inside.
struct LivenessWatch {
    enum Step: Equatable {
        case nothing
        /// Send a PING; it counts as sent.
        case ping
        case dead
    }

    /// Silence, while requests are in flight, after which a PING is sent.
    static let silenceNsMax: UInt64 = 20_000_000_000
    /// Further silence after which the connection is dead.
    static let pongNsMax: UInt64 = 10_000_000_000
    /// Neither is ever shorter: a slow path or a busy machine is no dead one.
    static let floorNs: UInt64 = 1_000_000_000
    /// An idle connection is asked no more often than this: more is a burden to the server.
    static let idlePingNs: UInt64 = 60_000_000_000

    let silenceNs: UInt64
    let pongNs: UInt64
    private var heardNs: UInt64
    private var bytesReceived: UInt64 = 0
    private var pingedNs: UInt64?
    private var wantsPing = false

    /// - Parameter requestNs: how long a request may take. Both deadlines shrink with it, so that
    ///   they have passed before the requests' own.
    init(requestNs: UInt64, nowNs: UInt64) {
        let isShort = requestNs < Self.silenceNsMax + Self.pongNsMax
        silenceNs = isShort ? max(requestNs / 2, Self.floorNs) : Self.silenceNsMax
        pongNs = isShort ? max(requestNs / 4, Self.floorNs) : Self.pongNsMax
        heardNs = nowNs
    }

    /// A request was not answered in time: the next look asks for a sign of life.
    mutating func requestTimedOut() { wantsPing = true }

    /// Looks at the connection, about ten times a second.
    ///
    /// - Parameter bytesReceived: all that it has received so far.
    mutating func look(
        bytesReceived: UInt64, requestsInFlight: Int, nowNs: UInt64
    ) -> Step {
        if bytesReceived != self.bytesReceived {
            self.bytesReceived = bytesReceived
            heardNs = nowNs
        }
        if let pingedNs {
            if heardNs > pingedNs {
                self.pingedNs = nil
            } else {
                return nowNs - min(nowNs, pingedNs) >= pongNs ? .dead : .nothing
            }
        }
        let quietNs = nowNs - min(nowNs, heardNs)
        let limitNs = requestsInFlight > 0 ? silenceNs : Self.idlePingNs
        guard wantsPing || quietNs >= limitNs else { return .nothing }
        wantsPing = false
        pingedNs = nowNs
        return .ping
    }
}
