internal import APNS
internal import Campaign
internal import HTTP2
internal import Transport

/// What becomes of a row when its request ends.
extension Worker {
    /// How often a row may be refused in a row, by connections that go on, before it is given up.
    static let refusalsMax = 30

    /// The one terminal event of a request.
    func requestEnded(
        _ index: SlotIndex, with answer: borrowing Answer, on connection: PooledConnection
    ) {
        refreshClock()
        inFlight.remove(index, in: slots)
        let stream = slots[index].pointee.stream
        slots[index].pointee.stream = -1
        switch answer.kind {
        case .response:
            connection.noteResponse(stream: stream, status: answer.status, nowNs: nowNs)
            let latencyNs = nowNs - min(nowNs, slots[index].pointee.submittedNs)
            latencies.record(microseconds: latencyNs / 1000)
            noteResponse(latencyNs: latencyNs, status: answer.status)
            if answer.status == 200 {
                countAnswer(index, on: connection, endsWarmUp: true)
                if heldCount > 0, !state.isStopping { finishHeldRows() }
                finishAccepted(index)
            } else {
                requestFailed(index, with: answer, on: connection)
            }
        case .unprocessed:
            requestUnprocessed(index, .exhaustedStreamReset, on: connection)
        case .unknown:
            let cause = LostRequest(answer.errorCode, connection: connection)
            countAttempt(index)
            if cause == .timeout { seen.troubles += 1 }
            slots[index].pointee.avoided = connection.id
            requestLost(index, cause, detail: cause.detail(answer.errorCode, on: connection))
        }
    }

    /// An answer about the row or the campaign.
    private func countAnswer(
        _ index: SlotIndex, on connection: PooledConnection, endsWarmUp: Bool
    ) {
        connection.wasAnswered(endsWarmUp: endsWarmUp)
        noteAnswer(on: connection)
        countAttempt(index)
    }

    private func countAttempt(_ index: SlotIndex) {
        let slot = slots[index]
        slot.pointee.attempts += 1
        slot.pointee.refusals = 0
        counters.add(1, to: .attempts)
        if slot.pointee.attempts > 1 { counters.add(1, to: .retries) }
    }

    private func finishAccepted(_ index: SlotIndex) {
        state.ledger.set(FinalCode.accepted.rawValue, row: slots[index].pointee.row)
        counters.countFinal(.accepted)
        slots.release(index)
    }

    // MARK: Answers other than 200

    private func requestFailed(
        _ index: SlotIndex, with answer: borrowing Answer, on connection: PooledConnection
    ) {
        let body = answer.body
        let found = Reasons.reason(inBody: body)
        let reason = UnsafeRawBufferPointer(rebasing: body[found.reason])
        var failure = FailureLine(row: 0, line: 0, code: .accepted, status: answer.status)
        failure.reason = reason
        failure.invalidSinceMs = found.timestampMs
        switch Reasons.classify(status: answer.status, reason: reason) {
        case .final(let code):
            countAnswer(index, on: connection, endsWarmUp: true)
            failure.code = code
            finish(index, failure)
        case .transient(let code):
            countAnswer(index, on: connection, endsWarmUp: false)
            failure.code = code
            if code.handling == .transientReconnect {
                connection.drain(because: "it answered \(code.status) \(code.reason)")
            }
            retryOrExhaust(index, failure)
        case .configuration(let code):
            countAnswer(index, on: connection, endsWarmUp: false)
            failure.code = code
            hold(index, failure)
        case .providerTokenExpired:
            providerTokenExpired(index, on: connection)
        case .providerTokenUpdates:
            headers.tokenUpdatesRefused(version: Int(slots[index].pointee.tokenVersion))
            requestUnprocessed(index, .tooManyProviderTokenUpdates, on: connection)
        }
    }

    /// The connection will take no other token: it is replaced, and the row goes again (B52).
    private func providerTokenExpired(_ index: SlotIndex, on connection: PooledConnection) {
        do throws(SendError) {
            try headers.tokenExpired(
                version: Int(slots[index].pointee.tokenVersion), at: state.endpoint)
            renewProviderToken()
        } catch {
            fail(error)
        }
        requestUnprocessed(index, .expiredProviderToken, on: connection)
        connection.drain(because: "it takes no newer provider token")
    }

    /// Records a final outcome with its failure line.
    func finish(_ index: SlotIndex, _ failure: FailureLine) {
        var failure = failure
        complete(&failure, of: index)
        do throws(SendError) { try journal.recordFailure(failure) } catch { fail(error) }
        counters.countFinal(failure.code)
        slots.release(index)
    }

    /// Adds what the slot knows of its row. The token is read again from the record: failures are
    /// rare, and a slot need not hold it.
    private func complete(_ failure: inout FailureLine, of index: SlotIndex) {
        let slot = slots[index].pointee
        failure.row = slot.row
        failure.line = slot.line
        failure.attempts = slot.attempts
        failure.hasAPNSID = state.campaign.usesAPNSID
        if failedRows.read(slots.record(of: index)) == nil { failure.token = failedRows.token }
    }

    private func retryOrExhaust(_ index: SlotIndex, _ failure: FailureLine) {
        let attempts = Int(slots[index].pointee.attempts)
        guard attempts < state.campaign.retry.attempts else { return finish(index, failure) }
        var answer = failure
        complete(&answer, of: index)
        do throws(SendError) { try journal.recordRetry(answer) } catch { fail(error) }
        counters.countRetried(failure.code)
        wait(index, ns: retryDelayNs(after: failure.status, attempts: attempts))
    }

    /// The request was written and there is no answer: it may or may not have been processed.
    private func requestLost(_ index: SlotIndex, _ cause: LostRequest, detail: String?) {
        slots[index].pointee.isInDoubt = true
        if state.isStopping { return slots.release(index) }  // stays in doubt in the ledger
        var failure = FailureLine(row: 0, line: 0, code: cause.unknownCode)
        failure.detail = detail
        if state.campaign.retry.onUnknown == .skip { return finish(index, failure) }
        failure.code = cause.exhaustedCode
        retryOrExhaust(index, failure)
    }

    /// The request was certainly not processed: it goes again at once, without having spent an
    /// attempt.
    ///
    /// - Parameter code: what the row ends with when that happens to it again and again.
    private func requestUnprocessed(
        _ index: SlotIndex, _ code: FinalCode, on connection: PooledConnection
    ) {
        let slot = slots[index]
        leaveOpen(
            index, as: slot.pointee.attempts > 0 ? OpenState.waitingForRetry : OpenState.untouched)
        if state.isStopping { return slots.release(index) }
        // A connection that goes takes its whole freight along: that is nothing against the row.
        if connection.isLeaving { return ready.append(index, in: slots) }
        connection.wasRefused(
            code.status == 0 ? "REFUSED_STREAM" : "\(code.status) \(code.reason): \(code.advice)",
            submittedNs: slot.pointee.submittedNs, nowNs: nowNs)
        slot.pointee.refusals += 1
        let refusals = Int(slot.pointee.refusals)
        if refusals > Self.refusalsMax {
            finish(index, FailureLine(row: 0, line: 0, code: code, status: code.status))
        } else if refusals <= 3 {
            ready.append(index, in: slots)
        } else {
            delayed.insert(index, dueNs: nowNs + jitter(baseMs: 100, doublings: refusals - 3))
        }
    }

    private func wait(_ index: SlotIndex, ns: UInt64) {
        leaveOpen(index, as: OpenState.waitingForRetry)
        if state.isStopping { return slots.release(index) }
        delayed.insert(index, dueNs: nowNs + ns)
    }

    /// Notes in the ledger how a row stands that has no outcome yet. A row that was in doubt once
    /// stays so.
    func leaveOpen(_ index: SlotIndex, as openState: UInt8) {
        let slot = slots[index].pointee
        state.ledger.set(slot.isInDoubt ? OpenState.inDoubt : openState, row: slot.row)
    }

    /// A delay that grows with the attempts: the manifest's for server errors, from one second for
    /// 429, from a quarter of one for a lost connection; always with jitter, so that rows do not
    /// come back together.
    private func retryDelayNs(after status: UInt16, attempts: Int) -> UInt64 {
        switch status {
        case 500...599:
            let seconds = Double.random(in: state.campaign.retry.serverErrorDelaySeconds)
            return UInt64(seconds * Double(attempts) * 1e9)
        case 0: return jitter(baseMs: 250, doublings: attempts)
        default: return jitter(baseMs: 1000, doublings: attempts)
        }
    }

    /// A random time up to `baseMs` doubled `doublings` times, at most 30 s.
    func jitter(baseMs: UInt64, doublings: Int) -> UInt64 {
        let boundMs = min(baseMs << UInt64(min(doublings, 16)), 30_000)
        return UInt64.random(in: boundMs / 4...boundMs) * 1_000_000
    }
}

/// Why a request that was written has no answer.
enum LostRequest {
    case timeout, connection, reset

    init(_ errorCode: HTTP2ErrorCode, connection: PooledConnection) {
        if connection.isCancelling {
            self = .timeout
        } else {
            self = connection.hasEnded ? .connection : .reset
        }
    }

    /// What is known of the cause; nil: no more than the code says.
    func detail(_ errorCode: HTTP2ErrorCode, on connection: PooledConnection) -> String? {
        switch self {
        case .timeout: nil
        case .connection: connection.end
        case .reset: "the server reset the stream: \(errorCode)"
        }
    }

    var unknownCode: FinalCode {
        switch self {
        case .timeout: .unknownTimeout
        case .connection: .unknownConnectionLost
        case .reset: .unknownStreamReset
        }
    }

    var exhaustedCode: FinalCode {
        switch self {
        case .timeout: .exhaustedTimeout
        case .connection: .exhaustedConnectionLost
        case .reset: .exhaustedStreamReset
        }
    }
}
