/// When the rows that wait in the ledger are due: one time for all rows of a pass, so memory does
/// not grow with them. It is that of the row that has to wait longest; none is sent too early.
///
/// A run that goes on knows no times any more: these rows are due as soon as the others are done.
struct LaterPasses: Sendable {
    /// What is to be read again, and when.
    struct Next: Equatable {
        /// The ledger bytes whose rows are sent, as a bit each.
        var mask: UInt16
        var dueNs: UInt64
        var rows: UInt64
    }

    private var dueNs = [UInt64](repeating: 0, count: Int(OpenState.firstFinal))

    /// A row waits for `pass` until `rowDueNs`.
    mutating func note(_ pass: RetryRules.Pass, dueNs rowDueNs: UInt64) {
        dueNs[Int(pass.rawValue)] = max(dueNs[Int(pass.rawValue)], rowDueNs)
    }

    /// The pass that is due first, together with those that are due by then; nil when no row waits.
    ///
    /// - Parameter counts: rows by ledger byte, while no worker has a row.
    func next(_ counts: [UInt64], nowNs: UInt64) -> Next? {
        let waiting = RetryRules.Pass.later.filter { counts[Int($0.rawValue)] > 0 }
        guard let firstNs = waiting.map({ dueNs[Int($0.rawValue)] }).min() else { return nil }
        var next = Next(mask: 0, dueNs: firstNs, rows: 0)
        for pass in waiting where dueNs[Int(pass.rawValue)] <= max(firstNs, nowNs) {
            next.mask |= pass.mask
            next.rows += counts[Int(pass.rawValue)]
        }
        return next
    }

    /// The rows of these passes are being sent: the times of those that come to wait are new ones.
    mutating func begin(_ mask: UInt16) {
        for pass in RetryRules.Pass.later where mask & pass.mask != 0 {
            dueNs[Int(pass.rawValue)] = 0
        }
    }
}
