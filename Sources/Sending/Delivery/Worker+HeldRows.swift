internal import APNS
internal import Synchronization

/// Answers that concern the whole campaign.
extension Worker {
    var heldRowCount: Int { held.count + heldConfiguration.count }

    /// Holds a row whose answer every other row would get, too: a 200 makes it one about the row,
    /// the fifth such answer in a row, on whatever connections, stops the run.
    func holdConfiguration(_ index: SlotIndex, _ failure: FailureLine) {
        if state.isStopping {
            leaveOpen(index, as: OpenState.handedBack)
            return slots.release(index)
        }
        releaseClearedRows()
        leaveOpen(index, as: OpenState.handedBack)
        heldConfiguration.append(index, failure, in: slots)
        let (fires, clearings) = state.configurationAnswers.withLock { answers in
            state.hasConfigurationAnswers.store(true, ordering: .relaxed)
            return (answers.count(), answers.clearings)
        }
        configurationClearings = clearings
        if fires { stopForConfiguration() }
    }

    /// A 200, of any worker, shows that the campaign is not wrong as a whole.
    func clearConfigurationAnswers() {
        state.configurationAnswers.withLock { answers in
            answers.clear()
            state.hasConfigurationAnswers.store(false, ordering: .relaxed)
        }
        releaseClearedRows()
    }

    /// Decides rows that were held before the latest 200.
    func releaseClearedRows() {
        guard !heldConfiguration.isEmpty, !state.isStopping,
            state.configurationAnswers.withLock({ $0.clearings }) != configurationClearings
        else { return }
        while !heldConfiguration.isEmpty {
            let (index, failure) = heldConfiguration.removeFirst(in: slots)
            failure.withLine { decide(index, $0) }
        }
    }

    /// The reading is over for this worker; when it is for all, so is what could fire a rule.
    /// A campaign of which rows were accepted cannot be wrong as a whole; one that knows nothing
    /// but configuration answers is.
    func settleReading() {
        guard state.chunks.isOver(for: index) else { return }
        if state.configurationAnswers.withLock({ $0.inARow }) > 0, !state.hasAccepted {
            // Whoever holds such a row stops the run, and nobody makes anything final.
            if !heldConfiguration.isEmpty { stopForConfiguration() }
            return
        }
        while !heldConfiguration.isEmpty {
            let (index, failure) = heldConfiguration.removeFirst(in: slots)
            failure.withLine { finish(index, $0) }
        }
        while !held.isEmpty { finishFirstHeld() }
        flushJournal()
        state.chunks.settle(index)
    }

    private func stopForConfiguration() {
        let index = heldConfiguration.last
        let slot = slots[index].pointee
        let code = FinalCode(rawValue: slot.heldCode)
        let advice =
            code != .rejectedOther
            ? code.advice : "look up what Apple says about it, correct the campaign and send again."
        stopByRule(
            """
            \(state.endpoint) refuses requests with \(slot.heldStatus) \
            \(heldConfiguration.reason(of: index, in: slots)): \(advice)
            """)
    }

    /// Leaves held rows open. Those of a rule that has fired are marked so.
    func handBackHeldRows() {
        while !heldConfiguration.isEmpty {
            let (index, _) = heldConfiguration.removeFirst(in: slots)
            leaveOpen(index, as: OpenState.handedBack)
            slots.release(index)
        }
        while !held.isEmpty {
            let (index, _) = held.removeFirst(in: slots)
            leaveHeldOpen(index)
        }
    }
}
