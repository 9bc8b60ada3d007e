internal import APNS

/// Answers that concern the whole campaign.
extension Worker {
    /// Answers about the whole campaign that come without a 200 between them before the run stops.
    static let configurationAnswersMax = 5

    /// Holds a row whose answer every other row would get, too: a 200 makes it final, the fifth
    /// such answer in a row stops the run.
    func hold(_ index: SlotIndex, _ failure: FailureLine) {
        let slot = slots[index]
        if state.isStopping {
            leaveOpen(index, as: OpenState.handedBack)
            return slots.release(index)
        }
        slot.pointee.heldCode = failure.code.rawValue
        slot.pointee.heldStatus = failure.status
        heldReason = Array(failure.reason)
        held.append(index, in: slots)
        heldCount += 1
        if heldCount == Self.configurationAnswersMax { stopForConfiguration() }
    }

    func finishHeldRows() {
        while !held.isEmpty {
            let index = held.removeFirst(in: slots)
            let slot = slots[index].pointee
            let code = FinalCode(rawValue: slot.heldCode)
            var failure = FailureLine(row: 0, line: 0, code: code, status: slot.heldStatus)
            heldReason.withUnsafeBytes { reason in
                if code == .rejectedOther { failure.reason = reason }
                finish(index, failure)
            }
        }
        heldCount = 0
    }

    /// The input has ended and only held rows are left. A campaign of which rows were accepted
    /// cannot be wrong as a whole; otherwise nothing will come that could make them final.
    func decideHeldRowsAtEnd() {
        guard heldCount > 0 else { return }
        if state.hasAccepted { finishHeldRows() } else { stopForConfiguration() }
    }

    private func stopForConfiguration() {
        let slot = slots[held.last].pointee
        let code = FinalCode(rawValue: slot.heldCode)
        let isKnown = code != .rejectedOther
        let reason = isKnown ? code.reason : String(decoding: heldReason, as: UTF8.self)
        let advice =
            isKnown
            ? code.advice : "look up what Apple says about it, correct the campaign and send again."
        fail(
            SendError(
                .stopped,
                "\(state.endpoint) refuses requests with \(slot.heldStatus) \(reason): \(advice)"))
    }

    /// Leaves held rows open, marked as handed back by the stop.
    func handBackHeldRows() {
        while !held.isEmpty {
            let index = held.removeFirst(in: slots)
            leaveOpen(index, as: OpenState.handedBack)
            slots.release(index)
        }
        heldCount = 0
    }
}
