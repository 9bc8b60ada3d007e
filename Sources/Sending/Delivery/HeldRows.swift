internal import APNS

/// Rows whose failures are known and not final yet. They stay in their slots.
///
/// - Thread: the worker's.
/// - Limits: the slots; a text is kept only where the code does not tell it.
struct HeldRows {
    private var rows = SlotQueue()
    private(set) var count = 0
    private var texts: [SlotIndex: [UInt8]] = [:]

    var first: SlotIndex { rows.first }
    var last: SlotIndex { rows.last }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ index: SlotIndex, _ failure: FailureLine, in slots: RowSlots) {
        slots[index].pointee.heldCode = failure.code.rawValue
        slots[index].pointee.heldStatus = failure.status
        if Self.needsText(failure.code) { texts[index] = Array(failure.reason) }
        rows.append(index, in: slots)
        count += 1
    }

    /// What the server wrote as the reason of a row.
    func reason(of index: SlotIndex, in slots: RowSlots) -> String {
        texts[index].map { String(decoding: $0, as: UTF8.self) }
            ?? FinalCode(rawValue: slots[index].pointee.heldCode).reason
    }

    /// Takes the first row out.
    mutating func removeFirst(in slots: RowSlots) -> (index: SlotIndex, failure: HeldFailure) {
        let index = rows.removeFirst(in: slots)
        count -= 1
        let slot = slots[index].pointee
        return (
            index,
            HeldFailure(
                code: FinalCode(rawValue: slot.heldCode), status: slot.heldStatus,
                reason: texts.removeValue(forKey: index))
        )
    }

    private static func needsText(_ code: FinalCode) -> Bool {
        code == .rejectedOther || code == .exhaustedOther
    }
}

/// The failure of a row that was held.
struct HeldFailure {
    let code: FinalCode
    let status: UInt16
    /// The bytes of a reason that the code does not tell.
    let reason: [UInt8]?

    /// Calls `body` with the failure line, without what its slot knows.
    func withLine(_ body: (FailureLine) -> Void) {
        (reason ?? []).withUnsafeBytes { bytes in
            body(FailureLine(row: 0, line: 0, code: code, status: status, reason: bytes))
        }
    }
}
