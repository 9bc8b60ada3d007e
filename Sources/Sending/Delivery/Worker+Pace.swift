internal import Transport

/// The adaptive pace: fed with what this worker sees, on every tick.
extension Worker {
    func noteResponse(latencyNs: UInt64, status: UInt16) {
        seen.answers += 1
        seen.latencyMinNs = min(seen.latencyMinNs, latencyNs)
        if status == 429 || status >= 500 { seen.troubles += 1 }
    }

    /// How long the rates of worker and run let no request start; 0: one may.
    func rateWaitNs() -> UInt64 {
        let paceNs = paceLimiter.waitNs(nowNs: nowNs)
        if paceNs > 0 && hasRowsToSend { seen.wasHeldBack = true }
        return max(paceNs, limiter.waitNs(nowNs: nowNs))
    }

    func adaptPace() {
        guard pace != nil else { return }
        let elapsedNs = nowNs - min(nowNs, paceObservedNs)
        paceObservedNs = nowNs
        pace?.observe(
            seen, connections: Int(counters.value(.connectionsOpen)), elapsedNs: elapsedNs,
            nowNs: nowNs)
        seen = PaceObservation()
        if let pace { paceLimiter.setRate(perSecond: pace.rate) }
    }
}
