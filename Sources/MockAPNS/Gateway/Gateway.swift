internal import APNS
internal import Glibc

/// The provider API of one worker: judges a request, counts it, and says what to answer.
///
/// *Thread:* one thread; each worker has its own.
final class Gateway {
    /// What to answer, as borrowed bytes.
    ///
    /// *Ownership:* valid until the next request, and as long as the judged request's own bytes.
    struct Answer {
        var status: UInt16
        /// The request's own id where it has a good one, otherwise a fresh one; on errors too.
        var messageID: UnsafeRawBufferPointer
        /// The id for Apple's delivery log, which only the sandbox gives; nil in production.
        var uniqueID: UnsafeRawBufferPointer?
        /// Empty for 200.
        var body: UnsafeRawBufferPointer
    }

    private let providerTokens = ProviderTokenChecker()
    private var registry: MockRegistry.View
    private let messageIDs = UUIDText()
    private let uniqueIDs = UUIDText()
    private let counters: MockCounters
    private let acceptedRequests: AcceptedRequests
    private let devices: DeviceRegistry?
    private let bodies = ReasonBodies()
    /// The token of the request at hand in lower case. Freed by deinit.
    private let tokenScratch = UnsafeMutableRawBufferPointer.allocate(
        byteCount: DeviceToken.hexCharactersMax, alignment: 1)

    init(
        registry: MockRegistry, counters: MockCounters, acceptedRequests: AcceptedRequests,
        devices: DeviceRegistry? = nil
    ) {
        self.devices = devices
        self.registry = MockRegistry.View(registry)
        self.counters = counters
        self.acceptedRequests = acceptedRequests
    }

    deinit { tokenScratch.deallocate() }

    /// What is decided where Apple is silent, as it stands now.
    var inferences: GatewayInferences { registry.snapshot.registry.inferences }

    /// The state of a new connection.
    ///
    /// - Parameters:
    ///   - limitMoves: whether its stream limit starts at one and shrinks after errors.
    func makeConnection(limitMoves: Bool) -> GatewayConnection {
        registry.refresh()
        return GatewayConnection(
            inferences: registry.snapshot.registry.inferences, limitMoves: limitMoves)
    }

    /// Takes the certificate that a client has shown [DER]. Returns the reason to tell it by GOAWAY
    /// and to end the connection; nil when it may go on.
    func authenticate(
        _ connection: GatewayConnection, certificate: [UInt8], wallSeconds: Int64
    ) -> GatewayReason? {
        registry.refresh()
        let known = registry.snapshot.registry
        let identity = ClientIdentity(
            certificate: certificate, environment: known.environment, wallSeconds: wallSeconds)
        connection.authenticate(by: identity, inferences: known.inferences)
        guard let fault = identity.fault, !known.inferences.answersCertificateFaults else {
            return nil
        }
        counters.add(to: fault)
        return fault
    }

    /// Judges and counts one request, and moves the connection's stream limit. Allocates nothing
    /// for a request that it accepts, unless requests are kept.
    ///
    /// *Units:* `wallSeconds` is the time of day in seconds since 1970.
    func answer(
        _ request: GatewayRequest, on connection: GatewayConnection, wallSeconds: Int64
    ) -> Answer {
        registry.refresh()
        var request = request
        if request.topic.value == nil, let topic = connection.defaultTopic {
            request.topic = GatewayRequest.Header(UnsafeRawBufferPointer(topic))
        }
        let deviceToken = lowerCaseToken(of: request)
        let hadToken = connection.token != nil
        let snapshot = registry.snapshot
        let judge = GatewayJudge(
            request: request, deviceToken: deviceToken, connection: connection,
            providerTokens: providerTokens, snapshot: snapshot, devices: devices,
            wallSeconds: wallSeconds,
            pushType: request.pushType.value.flatMap(PushTypeRow.named))
        let refusal = judge.firstRefusal()
        let isFirstToken = !hadToken && connection.token != nil
        let answer: Answer
        if let refusal {
            answer = refused(request, refusal, wallSeconds: wallSeconds)
        } else {
            answer = accepted(request, deviceToken)
        }
        connection.noteAnswer(
            status: answer.status, isFirstToken: isFirstToken,
            inferences: snapshot.registry.inferences)
        return answer
    }

    /// Answers a request with `reason` without judging it, and counts it: for faults by order. A
    /// 410 without a timestamp is one from now on.
    func refuse(
        _ request: GatewayRequest, on connection: GatewayConnection, with reason: GatewayReason,
        timestampMs: Int64? = nil, wallSeconds: Int64
    ) -> Answer {
        registry.refresh()
        let refusal = GatewayRefusal(reason, timestampMs: timestampMs)
        let answer = refused(request, refusal, wallSeconds: wallSeconds)
        connection.noteAnswer(
            status: answer.status, isFirstToken: false,
            inferences: registry.snapshot.registry.inferences)
        return answer
    }

    private func lowerCaseToken(of request: GatewayRequest) -> UnsafeRawBufferPointer {
        let count = request.deviceToken.flatMap { GatewayJudge.lowerCase($0, into: tokenScratch) }
        return UnsafeRawBufferPointer(rebasing: tokenScratch[..<(count ?? 0)])
    }

    private func refused(
        _ request: GatewayRequest, _ refusal: GatewayRefusal, wallSeconds: Int64
    ) -> Answer {
        counters.add(to: .requests)
        counters.add(to: refusal.reason)
        let status = refusal.reason.status
        let timestampMs = status == 410 ? refusal.timestampMs ?? wallSeconds * 1000 : nil
        return Answer(
            status: status, messageID: messageID(for: request), uniqueID: nil,
            body: bodies.body(of: refusal.reason, timestampMs: timestampMs))
    }

    /// Counts the request's token, and keeps the request if that is asked for.
    private func accepted(
        _ request: GatewayRequest, _ deviceToken: UnsafeRawBufferPointer
    ) -> Answer {
        counters.add(to: .requests)
        counters.add(TokenDigest.fnv1a64(deviceToken), to: .digest)
        counters.add(to: .accepted)
        acceptedRequests.keep(request)
        let isSandbox = registry.snapshot.registry.environment == .sandbox
        return Answer(
            status: 200, messageID: messageID(for: request),
            uniqueID: isSandbox ? uniqueIDs.next() : nil,
            body: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// The request's own id where it has a good one, otherwise a fresh one.
    func messageID(for request: GatewayRequest) -> UnsafeRawBufferPointer {
        let upperCase = registry.snapshot.registry.inferences.acceptsUpperCaseMessageID
        guard let given = request.messageID.value,
            GatewayJudge.isMessageID(request.messageID, upperCase: upperCase)
        else { return messageIDs.next() }
        return given
    }
}
