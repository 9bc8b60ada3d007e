internal import APNS
internal import Campaign
internal import Synchronization

/// Shares of failures that stop the run; see ``StopRules``.
///
/// A 200 costs an addition here. The lock that the workers share is taken for each failure but 410,
/// for every 64th 200, and ten times a second; and for each answer while the first are watched,
/// which is a thousand times in a run.
extension Worker {
    func noteAccepted() {
        if state.hasConfigurationAnswers.load(ordering: .relaxed), !state.isStopping {
            clearConfigurationAnswers()
        }
        acceptedUntold += 1
        if watchesFirst || acceptedUntold >= StopRules.acceptedBatchMax { tellAccepted() }
    }

    /// On every tick: what the others were answered makes rows final here, too, and time passes.
    func watchStopRules() {
        guard !state.isStopping else { return }
        if let deadline = state.deadline, deadline.hasPassed(Timestamp.now()) {
            return state.stop(.deadline(deadline.stop))
        }
        tellAccepted()
    }

    /// A failure that ends its row, unless it can still fire a rule: then the row is held.
    func decide(_ index: SlotIndex, _ failure: FailureLine) {
        let kind = StopRules.Failure(failure.code)
        if state.isStopping { return decideWhileStopping(index, failure, kind) }
        guard canFire(kind) else {
            if watchesFirst { _ = tell(kind) }
            if state.isStopping { return decideWhileStopping(index, failure, kind) }
            return finish(index, failure)
        }
        leaveOpen(index, as: OpenState.waitingForRetry)
        slots[index].pointee.heldUntil = .max
        held.append(index, failure, in: slots)
        let until = tell(kind)
        slots[index].pointee.heldUntil = until
        releaseHeldRows()
    }

    func finishFirstHeld() {
        let (index, failure) = held.removeFirst(in: slots)
        failure.withLine { finish(index, $0) }
    }

    /// Leaves a row open whose answer is known and not final.
    func leaveHeldOpen(_ index: SlotIndex) {
        let isHandedBack = state.ruleHasFired.load(ordering: .acquiring)
        leaveOpen(
            index, as: isHandedBack ? OpenState.handedBack : OpenState.waitingForRetry)
        slots.release(index)
    }

    func stopByRule(_ text: String) {
        state.ruleHasFired.store(true, ordering: .releasing)
        fail(SendError(.stopped, text))
    }

    private func canFire(_ kind: StopRules.Failure) -> Bool {
        switch kind {
        case .gone: false
        case .wrongEnvironment, .wrongTopic: watchesLast || watchesFirst
        case .other: watchesLast
        }
    }

    /// Answers that arrive during the drain. Nothing that a rule that has fired puts in doubt
    /// becomes final, least of all what would remove a token.
    private func decideWhileStopping(
        _ index: SlotIndex, _ failure: FailureLine, _ kind: StopRules.Failure
    ) {
        let prunes =
            failure.code.outcome == .unregistered && state.ruleHasFired.load(ordering: .acquiring)
        if prunes || canFire(kind) { leaveHeldOpen(index) } else { finish(index, failure) }
    }

    private func tellAccepted() {
        guard watchesFirst || watchesLast, acceptedUntold > 0 || !held.isEmpty,
            !state.isStopping
        else { return }
        _ = tell(nil)
    }

    /// Tells the rules what was answered, and does what they say.
    ///
    /// - Returns: how many answers must have come before the row of `failure` is final.
    private func tell(_ failure: StopRules.Failure?) -> UInt64 {
        let accepted = acceptedUntold
        acceptedUntold = 0
        let (until, answers, stillFirst, fired) = state.stopRules.withLock { rules in
            let wasFired = rules.fired != nil
            rules.accepted(accepted)
            let until = failure.map { rules.failed($0) } ?? 0
            let fired = !wasFired && rules.fired != nil ? rules : nil
            return (until, rules.answers, rules.watchesFirst, fired)
        }
        watchesFirst = stillFirst
        answersOfRun = answers
        if let fired { stopByRule(text(of: fired)) }
        releaseHeldRows()
        return until
    }

    /// Makes rows final whose answers have left the windows.
    private func releaseHeldRows() {
        while !held.isEmpty, !state.isStopping {
            let slot = slots[held.first].pointee
            guard slot.heldUntil <= answersOfRun else { return }
            let kind = StopRules.Failure(FinalCode(rawValue: slot.heldCode))
            guard kind == .other || !watchesFirst else { return }
            finishFirstHeld()
        }
    }

    private func text(of rules: StopRules) -> String {
        let goesOn = "then go on with --resume; no token of these rows was put on the prune list"
        switch rules.fired {
        case .badDeviceToken:
            let wrong = rules.wrongEnvironments + rules.wrongTopics
            let campaign = state.campaign
            let remedy =
                rules.wrongEnvironments >= rules.wrongTopics
                ? """
                the tokens are probably not of this environment: look at environment (now \
                "\(campaign.environment.rawValue)") and at the recipients
                """
                : """
                the tokens are probably of another app: look at topic (now "\(campaign.topic)") \
                and at the recipients
                """
            return """
                \(state.endpoint) answered \(wrong) of the first \(rules.firstAnswers) rows with \
                \(rules.wrongEnvironments) BadDeviceToken and \(rules.wrongTopics) \
                DeviceTokenNotForTopic (stopWhen.badDeviceToken): \(remedy); \(goesOn)
                """
        case .failures, nil:
            let share = rules.settings.failures
            return """
                \(rules.failuresInWindow) of the last \(share?.answers ?? 0) rows failed \
                (stopWhen.failures): look at the reasons in retries.ndjson and failures.ndjson, or \
                of the latest, \(latestFailure), and correct what they tell; \(goesOn)
                """
        }
    }

    private var latestFailure: String {
        guard !held.isEmpty else { return "which is the first" }
        let status = slots[held.last].pointee.heldStatus
        let reason = held.reason(of: held.last, in: slots)
        return status == 0 ? reason : "\(status) \(reason)"
    }
}

extension StopRules.Failure {
    init(_ code: FinalCode) {
        switch code {
        case .badDeviceToken: self = .wrongEnvironment
        case .deviceTokenNotForTopic: self = .wrongTopic
        default: self = code.outcome == .unregistered ? .gone : .other
        }
    }
}
