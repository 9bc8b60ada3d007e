internal import APNS
internal import Campaign
internal import Synchronization

/// Rows that go again: what `RetryRules` say is done here.
extension Worker {
    /// How often a row may be refused in a row, by connections that go on, before it is given up.
    static let refusalsMax = 30

    /// After a failure that may pass.
    ///
    /// - Parameter isFree: whether the retry is not paid for by the budget.
    func tryAgain(
        _ index: SlotIndex, _ failure: FailureLine, retryAfterSeconds: Int = -1,
        isFree: Bool = false
    ) {
        let slot = slots[index]
        let kind = RetryRules.Failure(status: failure.status)
        if kind == .tooManyRequests { slot.pointee.tooManyRequests += 1 }
        var rules = state.retryRules
        rules.hasLaterPasses = state.canReadAgain.load(ordering: .relaxed)
        let row = RetryRules.Row(
            pass: slot.pointee.pass, attempts: Int(slot.pointee.attempts),
            tooManyRequests: Int(slot.pointee.tooManyRequests), isInDoubt: slot.pointee.isInDoubt)
        switch rules.decide(
            kind, of: row, retryAfterSeconds: retryAfterSeconds, random: .random(in: 0...1))
        {
        case .exhausted: decide(index, failure)
        case .wait(let ns):
            recordRetry(index, failure)
            wait(index, ns: ns, isFree: isFree)
        case .later(let pass, let ns):
            recordRetry(index, failure)
            let dueNs = nowNs + ns
            state.laterPasses.withLock { $0.note(pass, dueNs: dueNs) }
            leaveOpen(index, as: pass.rawValue)
            slots.release(index)
        }
    }

    private func recordRetry(_ index: SlotIndex, _ failure: FailureLine) {
        var answer = failure
        complete(&answer, of: index)
        do throws(SendError) { try journal.recordRetry(answer) } catch { fail(error) }
        counters.countRetried(failure.code)
    }

    /// The request was written and there is no answer: it may or may not have been processed.
    ///
    /// Rows that were lost together with their connection are free: how fast connections are opened
    /// again bounds them, and an outage costs no more than its own time.
    func requestLost(_ index: SlotIndex, _ cause: LostRequest, detail: String?) {
        slots[index].pointee.isInDoubt = true
        if state.isStopping { return slots.release(index) }  // stays in doubt in the ledger
        var failure = FailureLine(row: 0, line: 0, code: cause.unknownCode)
        failure.detail = detail
        if state.campaign.retry.onUnknown == .skip {
            // No failure that a stop rule counts: nobody knows whether it is one.
            finish(index, failure)
        } else {
            failure.code = cause.exhaustedCode
            tryAgain(index, failure, isFree: cause == .connection)
        }
    }

    /// The request was certainly not processed: it goes again at once, without having spent an
    /// attempt.
    ///
    /// - Parameter code: what the row ends with when that happens to it again and again.
    func requestUnprocessed(
        _ index: SlotIndex, _ code: FinalCode, on connection: PooledConnection
    ) {
        let slot = slots[index]
        let wasAnswered = slot.pointee.attempts > 0 || slot.pointee.pass != .first
        leaveOpen(index, as: wasAnswered ? OpenState.waitingForRetry : OpenState.untouched)
        if state.isStopping { return slots.release(index) }
        // A connection that goes takes its whole freight along: that is nothing against the row.
        if connection.isLeaving { return ready.append(index, in: slots) }
        connection.wasRefused(
            code.status == 0 ? "REFUSED_STREAM" : "\(code.status) \(code.reason): \(code.advice)",
            submittedNs: slot.pointee.submittedNs, nowNs: nowNs)
        slot.pointee.refusals += 1
        let refusals = Int(slot.pointee.refusals)
        if refusals > Self.refusalsMax {
            decide(index, FailureLine(row: 0, line: 0, code: code, status: code.status))
        } else if refusals <= 3 {
            ready.append(index, in: slots)
        } else {
            delayed.insert(index, dueNs: nowNs + jitter(baseMs: 100, doublings: refusals - 3))
        }
    }

    private func wait(_ index: SlotIndex, ns: UInt64, isFree: Bool) {
        leaveOpen(index, as: OpenState.waitingForRetry)
        if state.isStopping { return slots.release(index) }
        (isFree ? delayed : retries).insert(index, dueNs: nowNs + ns)
    }

    /// Notes in the ledger how a row stands that has no outcome yet. A row that was in doubt once
    /// stays so.
    func leaveOpen(_ index: SlotIndex, as openState: UInt8) {
        let slot = slots[index].pointee
        state.ledger.set(slot.isInDoubt ? OpenState.inDoubt : openState, row: slot.row)
    }

    /// A random time up to `baseMs` doubled `doublings` times, at most 30 s.
    func jitter(baseMs: UInt64, doublings: Int) -> UInt64 {
        let boundMs = min(baseMs << UInt64(min(doublings, 16)), 30_000)
        return UInt64.random(in: boundMs / 4...boundMs) * 1_000_000
    }
}
