internal import APNS

/// What the gateway remembers of one connection: who the client is, and how many streams it may
/// open.
///
/// *Thread:* one, its worker's.
final class GatewayConnection {
    /// The client's certificate; nil: it authenticates by provider tokens.
    private(set) var identity: ClientIdentity?
    /// The topic of a certificate with one topic alone, for requests that name none. Owned.
    private(set) var defaultTopic: UnsafeMutableRawBufferPointer?

    /// The provider token of the latest request that had a good one.
    private(set) var token: JudgedToken?
    /// Team and key of the first good token, which bind the connection.
    private(set) var firstClaims: JudgedToken.Claims?
    private var updatedSeconds: Int64?

    /// How many streams the client may open at once.
    private(set) var streamsMax: Int
    /// Whether `streamsMax` ever changes.
    private var limitMoves: Bool

    private var consecutive = (hash: 0 as UInt64, count: 0, sinceSeconds: 0 as Int64)

    /// - Parameter limitMoves: false: all streams at once, whatever happens.
    init(inferences: GatewayInferences, limitMoves: Bool) {
        self.limitMoves = limitMoves
        streamsMax = limitMoves ? inferences.streamsBeforeToken : inferences.streamsMax
    }

    deinit { defaultTopic?.deallocate() }

    /// The client has shown a certificate; a good one has all streams at once.
    func authenticate(by identity: ClientIdentity, inferences: GatewayInferences) {
        self.identity = identity
        if limitMoves, identity.fault == nil { streamsMax = inferences.streamsMax }
        guard identity.topics.count == 1, let topic = identity.topics.first else { return }
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: topic.utf8.count, alignment: 1)
        bytes.copyBytes(from: topic.utf8)
        defaultTopic?.deallocate()
        defaultTopic = bytes
    }

    /// Takes a good provider token for the connection's; false when it is the second new one within
    /// 20 minutes (Apple: Establishing a token-based connection to APNs).
    ///
    /// - Parameter countsFirst: whether the connection's first token counts as a new one.
    func adopt(
        _ token: JudgedToken, claims: JudgedToken.Claims, wallSeconds: Int64, countsFirst: Bool
    ) -> Bool {
        if self.token == nil, countsFirst { updatedSeconds = wallSeconds }
        if let current = self.token, current.text != token.text {
            let sinceUpdate = updatedSeconds.map { wallSeconds - $0 }
            if let sinceUpdate, sinceUpdate < APNSLimits.providerTokenUpdateSecondsMin {
                return false
            }
            updatedSeconds = wallSeconds
        }
        if firstClaims == nil { firstClaims = claims }
        self.token = token
        return true
    }

    /// Moves the stream limit as the service does: up with a 200 and with the first good provider
    /// token, down with 4xx; 410 is no error in Apple's eyes, and 5xx not the client's.
    func noteAnswer(status: UInt16, isFirstToken: Bool, inferences: GatewayInferences) {
        guard limitMoves else { return }
        switch status {
        case 200: streamsMax = inferences.streamsMax
        case 410, 500...: if isFirstToken { streamsMax = inferences.streamsMax }
        case 400..<500: streamsMax = inferences.streamsAfterError
        default: break
        }
    }

    /// Sets the stream limit for good: nothing that is answered moves it any more.
    func fixStreamsMax(_ count: Int) {
        streamsMax = count
        limitMoves = false
    }

    /// Whether this request is one too many in a row for its device token.
    func isRepeatedTooOften(
        _ deviceToken: UInt64, wallSeconds: Int64, inferences: GatewayInferences
    ) -> Bool {
        guard inferences.consecutiveRequestsMax > 0 else { return false }
        let ageSeconds = wallSeconds - consecutive.sinceSeconds
        if consecutive.hash != deviceToken
            || ageSeconds >= Int64(inferences.consecutiveRequestsSeconds)
        {
            consecutive = (deviceToken, 0, wallSeconds)
        }
        consecutive.count += 1
        return consecutive.count > inferences.consecutiveRequestsMax
    }
}

@available(*, unavailable)
extension GatewayConnection: Sendable {}
