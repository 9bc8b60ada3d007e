internal import APNS
internal import EventLoop
internal import HTTP2
internal import Measure
internal import Transport

/// Requests: sent when they are due, and what their answers mean.
extension LoadWorker {
    /// How often a request may come back unprocessed before it counts as failed.
    static let refusalsMax = 5
    /// Requests in a row without an answer that make a connection count as dead.
    static let timeoutsInARowMax = 3

    /// Sends what is due, until nothing is or no connection has room.
    func sendDue() {
        for _ in 0..<Self.sendsPerTurnMax {
            let nowNs = loop.nowNs
            let resends = again.first >= 0
            guard resends || nextPlannedNs <= nowNs else {
                note(nil, nowNs: nowNs)
                if nextPlannedNs < .max { wake(atNs: nextPlannedNs, nowNs: nowNs) }
                return
            }
            guard let connection = connectionWithRoom(), resends || !slots.isFull,
                resends ? sendAgain(on: connection, nowNs: nowNs) : sendNext(on: connection, nowNs)
            else { return note(obstacle(), nowNs: nowNs) }
            note(nil, nowNs: nowNs)
        }
        wake(atNs: 0, nowNs: loop.nowNs)
    }

    private func connectionWithRoom() -> LoadConnection? {
        for _ in 0..<pool.count {
            if nextConnection >= pool.count { nextConnection = 0 }
            let candidate = pool[nextConnection]
            nextConnection += 1
            if candidate.hasRoom(bodyBytes: body.count) { return candidate }
        }
        return nil
    }

    /// Streams count before the rest: they are what most tests run out of first.
    private func obstacle() -> Obstacle {
        var found = Obstacle.connection
        for connection in pool where connection.stage == .open {
            found = connection.obstacle(bodyBytes: body.count)
            guard found == .streams else { continue }
            counters.set(UInt64(connection.streamsAllowed), to: .streamsAllowed)
            break
        }
        return found
    }

    private func sendNext(on connection: LoadConnection, _ nowNs: UInt64) -> Bool {
        let index = slots.take(RequestSlot(number: nextNumber, plannedNs: nextPlannedNs))
        guard submit(index, on: connection, nowNs: nowNs) else {
            slots.release(index)
            return false
        }
        counters.add(1, to: .sent)
        lastSentNs = nowNs
        if nowNs - nextPlannedNs > LoadSummary.latenessNs {
            firstLateNs = min(firstLateNs, nextPlannedNs)
        }
        nextNumber += stride
        planNext()
        return true
    }

    private func sendAgain(on connection: LoadConnection, nowNs: UInt64) -> Bool {
        let index = again.first
        again.remove(index, in: slots)
        guard submit(index, on: connection, nowNs: nowNs) else {
            again.append(index, in: slots)
            return false
        }
        counters.add(1, to: .again)
        return true
    }

    private func submit(
        _ index: SlotIndex, on connection: LoadConnection, nowNs: UInt64
    ) -> Bool {
        let slot = slots[index]
        tokens.write(request: slot.pointee.number, to: tokenText)
        guard let stream = submit(UInt32(bitPattern: index), on: connection) else { return false }
        slot.pointee.submittedNs = nowNs
        slot.pointee.connection = connection.id
        slot.pointee.stream = stream.rawValue
        inFlight.append(index, in: slots)
        counters.add(1, to: .inFlight)
        return true
    }

    /// Submits a request for the token in `tokenText`.
    private func submit(_ request: UInt32, on connection: LoadConnection) -> StreamID? {
        let stream = body.withUnsafeBytes { body in
            connection.session.submit(
                request: request, path: UnsafeRawBufferPointer(tokenText),
                values: UnsafeBufferPointer(start: nil, count: 0), body: body)
        }
        if stream != nil { connection.connection?.setNeedsFlush() }
        return stream
    }

    // MARK: Answers

    /// The one terminal event of a request.
    func requestEnded(
        _ index: SlotIndex, with answer: borrowing Answer, on connection: LoadConnection
    ) {
        let nowNs = loop.nowNs
        inFlight.remove(index, in: slots)
        counters.add(UInt64.max, to: .inFlight)  // one less: it wraps
        switch answer.kind {
        case .response:
            connection.timeoutsInARow = 0
            answered(index, with: answer, nowNs: nowNs)
        case .unprocessed:
            unprocessed(index)
        case .unknown:
            let code: FinalCode =
                if isClosing { LoadCounters.unanswered } else if connection.isCancelling {
                    .unknownTimeout
                } else if connection.hasEnded { .unknownConnectionLost } else {
                    .unknownStreamReset
                }
            finish(index, status: 0, code: code)
        }
    }

    private func answered(_ index: SlotIndex, with answer: borrowing Answer, nowNs: UInt64) {
        let slot = slots[index].pointee
        let latencyNs = nowNs - slot.plannedNs
        recent.record(latencyNs)
        guard answer.status == 200 else {
            failed.record(latencyNs)
            let body = answer.body
            let reason = UnsafeRawBufferPointer(rebasing: body[Reasons.reason(inBody: body).reason])
            let code = Reasons.code(status: answer.status, reason: reason)
            return finish(index, status: answer.status, code: code)
        }
        latency.record(latencyNs)
        service.record(nowNs - slot.submittedNs)
        lag.record(slot.submittedNs - slot.plannedNs)
        counters.add(1, to: .accepted)
        slots.release(index)
    }

    /// The server has certainly not looked at it: it goes again, and its latency goes on.
    private func unprocessed(_ index: SlotIndex) {
        let slot = slots[index]
        slot.pointee.refusals += 1
        guard slot.pointee.refusals <= Self.refusalsMax, !isDraining else {
            return finish(index, status: 0, code: LoadCounters.refused)
        }
        again.append(index, in: slots)
    }

    /// Counts a request that failed.
    func finish(_ index: SlotIndex, status: UInt16, code: FinalCode?) {
        counters.countFailure(status: status, code: code)
        slots.release(index)
    }

    /// Gives up requests whose deadline has passed; they are in the list in the order of their
    /// start.
    func expireRequests(nowNs: UInt64) {
        let requestNs = state.options.requestMsMax * 1_000_000
        while inFlight.first >= 0 {
            let slot = slots[inFlight.first].pointee
            guard nowNs - min(nowNs, slot.submittedNs) >= requestNs else { return }
            guard let connection = pool.first(where: { $0.id == slot.connection }) else { return }
            connection.cancel(StreamID(rawValue: slot.stream))
            if connection.timeoutsInARow >= Self.timeoutsInARowMax {
                connection.connection?.close(.timedOut(.open))
            }
        }
    }

    // MARK: Warm-up

    /// Sends the request that opens a connection.
    func warmUp(_ connection: LoadConnection) {
        connection.needsWarmUp = false
        tokens.write(request: UInt64(connection.id), to: tokenText)
        if submit(LoadConnection.warmUpRequest, on: connection) != nil {
            counters.add(1, to: .warmUps)
        }
    }

    func warmUpEnded(with answer: borrowing Answer, on connection: LoadConnection) {
        guard answer.kind == .response else { return }  // the tick sends another
        let body = answer.body
        let reason = UnsafeRawBufferPointer(rebasing: body[Reasons.reason(inBody: body).reason])
        switch Reasons.classify(status: answer.status, reason: reason) {
        case .final:
            connection.open()
            connectionIsOpen()
        case .transient:
            break  // as above
        case .configuration, .providerTokenExpired, .providerTokenUpdates:
            let code = Reasons.classify(status: answer.status, reason: reason).code
            let text = "\(code.reason)".isEmpty ? "" : " \(code.reason)"
            fail(
                LoadError(
                    .connection,
                    "\(state.options.endpoint): the server refuses the first request with "
                        + "\(answer.status)\(text): \(code.advice)"))
        }
    }
}
