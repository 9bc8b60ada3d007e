internal import APNS
internal import EventLoop
internal import HTTP2
internal import Transport

/// How long a connection that does not read is kept before it is closed: nothing else would ever
/// end it.
private let halfOpenNs: UInt64 = 120_000_000_000

extension MockConnection {
    /// The connection is open: the faults of connections that are due strike, the others later.
    func applyConnectionFaults() {
        guard let workerFaults else { return }
        if faults.roundTripNs > 0, let connection {
            heldBytes = HeldBytes(connection, delayNs: faults.roundTripNs, worker: worker)
        }
        if faults.closesAfterTLS { return close() }
        for (index, rule) in workerFaults.rules.enumerated()
        where rule.trigger.isPerConnection && rule.action.kind.row.moment != .connection {
            let beginNs = workerFaults.beginNs(index)
            if beginNs <= loop.nowNs {
                applyConnectionFault(index)
            } else {
                _ = worker.delays.add(atNs: beginNs) { [weak self] in
                    self?.applyConnectionFault(index)
                }
            }
        }
    }

    private func applyConnectionFault(_ index: Int) {
        guard let workerFaults, isOpen else { return }
        let noToken = UnsafeRawBufferPointer(start: nil, count: 0)
        guard workerFaults.strikes(index, token: noToken, nowNs: loop.nowNs) else { return }
        _ = apply(workerFaults.rules[index].action, at: nil)
        connection?.setNeedsFlush()
    }

    /// Lets the faults strike at a request. True: it is to be processed as usual; false: that is
    /// all that happens to it, and it has been noted.
    ///
    /// Without faults this costs one comparison.
    func passesFaults(_ request: GatewayRequest, on stream: StreamID) -> Bool {
        guard let workerFaults else { return true }
        guard !isLeftOut(stream) else {
            noteUnanswered(request)
            return false
        }
        let token = request.deviceToken ?? UnsafeRawBufferPointer(start: nil, count: 0)
        switch strike(workerFaults, token: token, at: stream) {
        case .isOver:
            noteUnanswered(request)
            return false
        case .answers(let answer):
            faults.lastStream = stream.rawValue
            give(answer, to: request)
            return false
        case .passes:
            faults.lastStream = stream.rawValue
            return true
        }
    }

    /// Lets every rule have its turn; what the first that decides the request makes of it.
    private func strike(
        _ workerFaults: WorkerFaults, token: UnsafeRawBufferPointer, at stream: StreamID
    ) -> Effect {
        var result = Effect.passes
        var isDecided = false
        let nowNs = loop.nowNs
        for (index, rule) in workerFaults.rules.enumerated() where !rule.trigger.isPerConnection {
            // The first that decides the request is the only one: others of its sort are not asked.
            guard !isDecided || !rule.action.decidesRequest,
                workerFaults.strikes(index, token: token, nowNs: nowNs)
            else { continue }
            if case .latency(let delay) = rule.action {
                underWay.delayNs += workerFaults.draw(delay, for: index)
            }
            let effect = apply(rule.action, at: stream)
            if rule.action.decidesRequest {
                underWay.fault = rule.action.kind
            } else {
                underWay.fault = underWay.fault ?? rule.action.kind
            }
            if case .passes = effect { continue }
            isDecided = true
            result = effect
        }
        if !isDecided, let stuck = faults.stuck {
            underWay.fault = .stuck
            return .answers(stuck)
        }
        return result
    }

    /// The connection no longer processes this stream.
    private func isLeftOut(_ stream: StreamID) -> Bool {
        guard faults.mutedBy == nil, stream.rawValue <= faults.lastAllowed else {
            underWay.fault = faults.mutedBy ?? .goAway
            if faults.unprocessedLeft > 0 {
                faults.unprocessedLeft -= 1
                if faults.unprocessedLeft == 0 { sendGoAway() }
            }
            return true
        }
        return false
    }

    private enum Effect {
        /// The request goes on.
        case passes
        case answers(FaultAnswer)
        /// The request ends here without an answer.
        case isOver
    }

    /// Does what a fault does; `stream` is nil for one that strikes a connection.
    private func apply(_ action: FaultAction, at stream: StreamID?) -> Effect {
        switch action {
        case .status(let answer): return .answers(answer)
        case .tokenRate: return .answers(FaultAnswer(status: 429, reason: "TooManyRequests"))
        case .stuck(let answer):
            faults.stuck = answer
            return .passes
        case .settings(let changes):
            change(changes)
            return .passes
        case .noWindowUpdate:
            session.withholdWindowUpdates()
            return .passes
        case .goAway(let goAway): return begin(goAway, at: stream)
        case .reset(let code):
            if let stream { session.reset(stream, code) }
            return .isOver
        case .silence: return .isOver
        case .halfOpen:
            stopReading()
            return .isOver
        case .cut:
            faults.mutedBy = .cut
            connection?.abort()
            return .isOver
        case .latency, .roundTrip, .hangUp, .slowHandshake, .connectionRate: return .passes
        }
    }

    private func stopReading() {
        faults.mutedBy = .halfOpen
        connection?.pauseReading()
        let isKept = worker.delays.add(atNs: loop.nowNs + halfOpenNs) { [weak self] in
            self?.close()
        }
        if !isKept { close() }
    }

    private func change(_ changes: FaultSettings) {
        var settings = session.announcedSettings
        if let streams = changes.streams {
            settings.concurrentStreamsMax = streams
            state.fixStreamsMax(streams)
        }
        if let window = changes.windowBytes { settings.initialWindowBytes = window }
        if let table = changes.tableBytes { settings.headerTableBytes = table }
        // What changes nothing is not announced again with every request.
        if settings != session.announcedSettings { session.updateSettings(settings) }
    }

    // MARK: GOAWAY

    private func begin(_ goAway: FaultGoAway, at stream: StreamID?) -> Effect {
        guard faults.goAway == nil, faults.lastAllowed == .max else { return .passes }
        faults.goAway = goAway
        if goAway.isGraceful {
            session.goAway(lastStream: .max)
            board.add(.goAways, of: place)
        }
        let isFirstProcessed = goAway.isGraceful || goAway.unprocessed == 0
        if isFirstProcessed, let stream { faults.lastStream = stream.rawValue }
        if !goAway.isGraceful {
            // Only what is not processed may be called so: those requests are yet to come, but
            // for the one at hand.
            faults.lastAllowed = faults.lastStream
            faults.unprocessedLeft = goAway.unprocessed - (stream == nil ? 0 : 1)
        }
        if !goAway.isGraceful, faults.unprocessedLeft <= 0 {
            sendGoAway()
        } else {
            let isKept = worker.delays.add(atNs: loop.nowNs + goAway.waitNs) { [weak self] in
                self?.sendGoAway()
                self?.connection?.setNeedsFlush()
            }
            if !isKept { sendGoAway() }
        }
        return isFirstProcessed ? .passes : .isOver
    }

    /// The GOAWAY that ends the connection, once.
    private func sendGoAway() {
        guard let goAway = faults.goAway else { return }
        faults.goAway = nil
        faults.unprocessedLeft = 0
        faults.lastAllowed = min(faults.lastAllowed, faults.lastStream)
        board.add(.goAways, of: place)
        if faults.lastAllowed > 0 {
            session.goAway(
                lastStream: StreamID(rawValue: faults.lastAllowed), goAway.code,
                debugData: goAway.debugData)
        } else {
            session.goAwayRefusingAll(goAway.code, debugData: goAway.debugData)
        }
    }

    // MARK: Answers

    /// Answers in the gateway's place.
    private func give(_ answer: FaultAnswer, to request: GatewayRequest) {
        worker.counters.add(to: .requests)
        state.noteAnswer(
            status: answer.status, isFirstToken: false, inferences: worker.gateway.inferences)
        if let reason = answer.reason, let known = GatewayReason.named(reason) {
            worker.counters.add(to: known)
        }
        var body = answer.reason.map { "{\"reason\":\"\($0)\"" } ?? ""
        if answer.status == 410, !body.isEmpty {
            body +=
                ",\"timestamp\":\(answer.timestampMs ?? worker.shared.clock.wallSeconds() * 1_000)"
        }
        if !body.isEmpty { body += "}" }
        Array(body.utf8).withUnsafeBytes { body in
            deliver(
                Gateway.Answer(
                    status: answer.status, messageID: worker.gateway.messageID(for: request),
                    body: body),
                to: request)
        }
    }
}
