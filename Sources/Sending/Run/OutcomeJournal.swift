internal import APNS
internal import Glibc

/// Everything that a failure line says about a row. Pointers are borrowed for the call.
struct FailureLine {
    var row: UInt64
    var line: UInt64
    var code: FinalCode
    /// HTTP status; 0 when the row was not answered.
    var status: UInt16 = 0
    /// The reason as APNs wrote it; empty means the code's own.
    var reason = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Normalised device token; empty when the row has none that can be read.
    var token = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Whether the request carried the row's own `apns-id`.
    var hasAPNSID = false
    var attempts: UInt8 = 0
    /// With 410: since when APNs knows that the token is dead, milliseconds since 1970.
    var invalidSinceMs: Int64?
    /// Since when the sender knows the token, as the row says, milliseconds since 1970.
    var registeredAtMs: Int64?
    /// 1-based byte column of what makes the row invalid; 0 when there is none.
    var column = 0
    var detail: String?
}

/// One worker's pen: it writes failure lines before it stores the final bytes of their rows, so
/// that a final byte in the ledger always has its line.
///
/// - Thread: the worker's. - Limits: 64 KiB of lines and 1,024 rows per batch; full means
///   ``flush()``.
final class OutcomeJournal {
    private static let batchRowsMax = 1024
    private static let detailBytesMax = 512
    /// Longer than any line can be: token 512, reason 256 and detail 512, each escaped at worst
    /// sixfold.
    private static let lineBytesMax = 9 * 1024

    private let ledger: Ledger
    private let failures: AppendFile
    private let retries: AppendFile
    private let identity: RunIdentity
    private var failureLines = LineBuffer(capacity: 64 * 1024)
    private var retryLines = LineBuffer(capacity: 64 * 1024)
    private let finals: UnsafeMutablePointer<(row: UInt64, code: UInt8)>
    private var finalCount = 0
    private let reasonTexts: [[UInt8]]
    private let outcomeTexts: [[UInt8]]
    private var timeText: [UInt8] = []
    private var timeMs: Int64 = 0

    init(ledger: Ledger, failures: AppendFile, retries: AppendFile, identity: RunIdentity) {
        self.ledger = ledger
        self.failures = failures
        self.retries = retries
        self.identity = identity
        finals = .allocate(capacity: Self.batchRowsMax)
        reasonTexts = (0...255).map { Array(FinalCode(rawValue: $0).reason.utf8) }
        outcomeTexts = (0...255).map { Array(FinalCode(rawValue: $0).outcome.name.utf8) }
    }

    deinit { finals.deallocate() }

    /// Records a final outcome other than accepted. Its ledger byte follows at the next
    /// ``flush()``.
    func recordFailure(_ failure: FailureLine) throws(SendError) {
        if finalCount == Self.batchRowsMax || failureLines.free < Self.lineBytesMax { try flush() }
        append(failure, outcome: outcomeTexts[Int(failure.code.rawValue)], to: &failureLines)
        finals[finalCount] = (failure.row, failure.code.rawValue)
        finalCount += 1
    }

    /// Records an answer after which the row is tried again.
    func recordRetry(_ answer: FailureLine) throws(SendError) {
        if retryLines.free < Self.lineBytesMax { try flush() }
        append(answer, outcome: nil, to: &retryLines)
    }

    /// Writes what is recorded: first the lines, then the ledger bytes.
    func flush() throws(SendError) {
        if retryLines.count > 0 {
            try retries.append(retryLines.bytes)
            retryLines.removeAll()
        }
        guard finalCount > 0 else { return }
        try failures.append(failureLines.bytes)
        failureLines.removeAll()
        for index in 0..<finalCount { ledger.set(finals[index].code, row: finals[index].row) }
        finalCount = 0
    }

    private func append(_ failure: FailureLine, outcome: [UInt8]?, to lines: inout LineBuffer) {
        lines.append("{\"row\":")
        lines.append(failure.row)
        lines.append(",\"line\":")
        lines.append(failure.line)
        if let outcome { appendText(",\"outcome\":\"", outcome, to: &lines) }
        if failure.status != 0 {
            lines.append(",\"status\":")
            lines.append(UInt64(failure.status))
        }
        if failure.reason.count > 0 {
            lines.append(",\"reason\":\"")
            appendText(failure.reason, to: &lines)
            lines.append("\"")
        } else if case let reason = reasonTexts[Int(failure.code.rawValue)], !reason.isEmpty {
            appendText(",\"reason\":\"", reason, to: &lines)
        }
        if failure.token.count > 0 {
            lines.append(",\"token\":\"")
            lines.append(failure.token)
            lines.append("\"")
        }
        if failure.hasAPNSID { appendAPNSID(row: failure.row, to: &lines) }
        appendTime(Timestamp.now(), to: &lines)
        lines.append(",\"attempts\":")
        lines.append(UInt64(failure.attempts))
        if let since = failure.invalidSinceMs {
            let text = Array(Timestamp(milliseconds: since).rfc3339.utf8)
            appendText(",\"invalidSince\":\"", text, to: &lines)
        }
        if let since = failure.registeredAtMs {
            let text = Array(Timestamp(milliseconds: since).rfc3339.utf8)
            appendText(",\"registeredAt\":\"", text, to: &lines)
        }
        appendPlace(of: failure, to: &lines)
        lines.append("}\n")
    }

    private func appendPlace(of failure: FailureLine, to lines: inout LineBuffer) {
        if failure.column > 0 {
            lines.append(",\"column\":")
            lines.append(UInt64(failure.column))
        }
        if let detail = failure.detail {
            lines.append(",\"detail\":\"")
            Array(detail.utf8.prefix(Self.detailBytesMax)).withUnsafeBytes {
                appendText($0, to: &lines)
            }
            lines.append("\"")
        }
    }

    /// Appends text that may come from a peer or be cut in the middle of a character: what is no
    /// UTF-8 becomes U+FFFD, or the line would be no JSON.
    private func appendText(_ text: UnsafeRawBufferPointer, to lines: inout LineBuffer) {
        guard text.contains(where: { $0 >= 0x80 }) else { return lines.appendEscaped(text) }
        Array(String(decoding: text, as: UTF8.self).utf8).withUnsafeBytes {
            lines.appendEscaped($0)
        }
    }

    private func appendText(_ key: StaticString, _ text: [UInt8], to lines: inout LineBuffer) {
        lines.append(key)
        lines.append(text)
        lines.append("\"")
    }

    private func appendAPNSID(row: UInt64, to lines: inout LineBuffer) {
        lines.append(",\"apnsID\":\"")
        withUnsafeTemporaryAllocation(byteCount: APNSID.characters, alignment: 1) { text in
            identity.writeAPNSID(row: row, to: text)
            lines.append(UnsafeRawBufferPointer(text))
        }
        lines.append("\"")
    }

    /// The text of a millisecond is made once, however many lines share it.
    private func appendTime(_ time: Timestamp, to lines: inout LineBuffer) {
        if time.milliseconds != timeMs {
            timeMs = time.milliseconds
            timeText = Array(time.rfc3339.utf8)
        }
        appendText(",\"time\":\"", timeText, to: &lines)
    }
}
