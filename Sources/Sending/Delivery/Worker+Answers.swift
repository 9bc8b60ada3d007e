internal import APNS
internal import Campaign
internal import HTTP2
internal import Transport

/// What becomes of a row when its request ends.
extension Worker {
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
                if onlyRetriesAreLeft, slots[index].pointee.attempts > 1 {
                    budget.countAcceptedRetryAtEnd()
                }
                finishAccepted(index)
                noteAccepted()
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

    func countAttempt(_ index: SlotIndex) {
        let slot = slots[index]
        slot.pointee.attempts += 1
        slot.pointee.refusals = 0
        counters.add(1, to: .attempts)
        if slot.pointee.attempts > 1 || slot.pointee.pass != .first {
            counters.add(1, to: .retries)
        }
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
            decide(index, failure)
        case .transient(let code):
            countAnswer(index, on: connection, endsWarmUp: false)
            failure.code = code
            if code.handling == .transientReconnect {
                connection.drain(because: "it answered \(code.status) \(code.reason)")
            }
            tryAgain(index, failure, retryAfterSeconds: answer.retryAfterSeconds)
        case .configuration(let code):
            countAnswer(index, on: connection, endsWarmUp: false)
            failure.code = code
            holdConfiguration(index, failure)
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
    func complete(_ failure: inout FailureLine, of index: SlotIndex) {
        let slot = slots[index].pointee
        failure.row = slot.row
        failure.line = slot.line
        let before = state.retryRules.attemptsBefore(slot.pass)
        failure.attempts = UInt8(clamping: Int(slot.attempts) + before)
        failure.hasAPNSID = state.campaign.usesAPNSID
        if failedRows.read(slots.record(of: index)) == nil {
            failure.token = failedRows.token
            failure.registeredAtMs = failedRows.registeredAtMs
        }
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
