internal import APNS
internal import Synchronization

/// The books of a run, kept twice: what the workers have counted, row by row, must be what the
/// ledger says. A row that was lost or decided twice shows here, also after an interruption.
extension RunEnding {
    /// - Returns: what is wrong; nil when all is well, or a failing disk explains a difference.
    func miscount(_ counts: [UInt64]) -> String? {
        if case .failure = state.stopCause, !state.ruleHasFired.load(ordering: .relaxed) {
            return nil
        }
        for byte in OpenState.firstFinal...UInt8.max {
            let counted = state.counters.reduce(state.earlier.counts[Int(byte)]) {
                $0 + $1.finalCount(byte)
            }
            guard counted != counts[Int(byte)] else { continue }
            let code = FinalCode(rawValue: byte)
            return """
                \(counted) rows were counted as \(code.outcome.name) \(code.reason) and the ledger \
                has \(counts[Int(byte)]): a defect of Peal
                """
        }
        return nil
    }
}
