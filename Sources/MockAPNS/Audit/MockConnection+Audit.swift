internal import APNS
internal import EventLoop
internal import HTTP2
internal import Transport

/// A request between its arrival and its answer.
struct RequestUnderWay {
    var stream: StreamID
    var startNs: UInt64
    /// What faults add to it.
    var delayNs: UInt64 = 0
    var fault: FaultKind?
}

/// A copy of an answer that has to wait: the gateway's own is gone with the next request.
private struct HeldAnswer {
    private let status: UInt16
    private let messageID: [UInt8]
    private let uniqueID: [UInt8]?
    private let body: [UInt8]

    init(_ answer: Gateway.Answer) {
        status = answer.status
        messageID = Array(answer.messageID)
        uniqueID = answer.uniqueID.map { Array($0) }
        body = Array(answer.body)
    }

    func withAnswer(_ use: (Gateway.Answer) -> Void) {
        messageID.withUnsafeBytes { messageID in
            (uniqueID ?? []).withUnsafeBytes { uniqueBytes in
                body.withUnsafeBytes { body in
                    use(
                        Gateway.Answer(
                            status: status, messageID: messageID,
                            uniqueID: uniqueID == nil ? nil : uniqueBytes, body: body))
                }
            }
        }
    }
}

extension MockConnection {
    /// A request to the provider API is whole.
    func begin(_ stream: StreamID) {
        underWay = RequestUnderWay(stream: stream, startNs: loop.nowNs)
        board.add(.requests, of: place)
    }

    /// Gives an answer to the request under way, at once or when its delay is over; notes it.
    func deliver(_ answer: Gateway.Answer, to request: GatewayRequest) {
        note(request, answer)
        let underWay = underWay
        guard underWay.delayNs > 0, hold(answer, underWay) else {
            send(answer, on: underWay.stream)
            latency.record(ns: loop.nowNs - underWay.startNs)
            return
        }
    }

    /// Notes that the request under way gets no answer.
    func noteUnanswered(_ request: GatewayRequest) { note(request, nil) }

    /// Keeps a copy of the answer for later; false when too many wait.
    private func hold(_ answer: Gateway.Answer, _ underWay: RequestUnderWay) -> Bool {
        let copy = HeldAnswer(answer)
        let isKept = worker.delays.add(atNs: underWay.startNs + underWay.delayNs) { [weak self] in
            guard let self else { return }
            copy.withAnswer { send($0, on: underWay.stream) }
            connection?.setNeedsFlush()
            latency.record(ns: loop.nowNs - underWay.startNs)
        }
        if !isKept { worker.counters.add(to: .delaysRefused) }
        return isKept
    }

    /// Writes the request's line, where a log is kept.
    private func note(_ request: GatewayRequest, _ answer: Gateway.Answer?) {
        guard let log else { return }
        log.add(
            LogLines.Entry(
                monotonicNs: underWay.startNs, wallMs: wallClockMilliseconds(),
                connection: board.value(.number, of: place),
                stream: underWay.stream.rawValue, token: request.deviceToken,
                status: answer?.status ?? 0, answerBody: answer?.body,
                messageID: answer?.messageID ?? request.messageID.value,
                bodyBytes: request.bodyBytes, fault: underWay.fault))
    }

    /// Publishes what has changed in this turn.
    func publish() {
        guard let connection else { return }
        board.set(UInt64(session.openStreamCount), .streamsOpen, of: place)
        board.set(connection.bytesReceived, .bytesReceived, of: place)
        board.set(connection.bytesSent, .bytesSent, of: place)
    }
}
