internal import APNS
internal import Campaign
internal import HTTP2
internal import Transport

/// Rows on their way out: judged, rendered, submitted.
extension Worker {
    /// Fills the connections that have room, in turn, until rows, room or rate run out.
    func fill() {
        var judged = 0
        while true {
            guard let connection = connectionWithRoom() else { return waitForConnectionRate() }
            let waitNs = rateWaitNs()
            guard waitNs == 0 else { return turnAgain(afterNs: waitNs) }
            guard stageRow(judged: &judged) else { return }
            guard submitStaged(preferring: connection) else { return }
        }
    }

    /// The next connection that can take a request of unknown size; nil when none can.
    private func connectionWithRoom() -> PooledConnection? {
        connection(forBodyBytes: 0)
    }

    private func connection(
        forBodyBytes bodyBytes: Int, otherThan avoided: Int32 = -1
    ) -> PooledConnection? {
        for _ in 0..<pool.count {
            if nextConnection >= pool.count { nextConnection = 0 }
            let candidate = pool[nextConnection]
            if candidate.id != avoided, candidate.hasRoom(bodyBytes: bodyBytes, nowNs: nowNs) {
                return candidate
            }
            nextConnection += 1
        }
        return nil
    }

    /// When the connections' own rate holds rows back, the loop must come back as soon as it
    /// allows.
    private func waitForConnectionRate() {
        guard state.plan.connectionRate > 0, hasRowsToSend else { return }
        var waitNs = UInt64.max
        for connection in pool where connection.waitsForRate {
            let ns = connection.limiter.waitNs(nowNs: nowNs)
            if ns > 0 { waitNs = min(waitNs, ns) }
        }
        if waitNs < .max { turnAgain(afterNs: waitNs) }
    }

    /// Whether rows wait for nothing but a connection.
    var hasRowsToSend: Bool { staged >= 0 || !ready.isEmpty || chunk != nil }

    /// Makes sure that a rendered row is staged: one that goes again, or the next of the file.
    private func stageRow(judged: inout Int) -> Bool {
        if staged >= 0 { return true }
        if !ready.isEmpty { return stageAgain(ready.removeFirst(in: slots)) }
        while judged < Self.recordsPerTurnMax {
            guard !slots.isFull, let record = nextRecordOfInput() else { return false }
            judged += 1
            if judge(record) { return true }
        }
        turnAgain(afterNs: 0)
        return false
    }

    /// Renders a row that was sent before. It was rendered once already, so it can be again.
    private func stageAgain(_ slot: SlotIndex) -> Bool {
        guard retriedRows.read(slots.record(of: slot)) == nil, retriedRows.render() == nil else {
            fail(SendError(.internal, "row \(slots[slot].pointee.row) cannot be rendered again"))
            slots.release(slot)
            return false
        }
        staged = slot
        stagedIn = retriedRows
        return true
    }

    private struct InputRecord {
        /// Of the chunk.
        var index: Int
        var row: UInt64
        var line: UInt64
        var bytes: UnsafeRawBufferPointer
        var problem: FinalCode?
        /// Whether the run has sent it before, and got no answer.
        var isInDoubt: Bool
        var pass: RetryRules.Pass
    }

    /// Takes the next chunk when there is one.
    func takeChunk() {
        guard let (next, reading) = state.chunks.take() else { return }
        chunk = next
        nextRecord = 0
        recordAhead = -1
        // What was known of the server before a long pause does not count after it.
        if reading.number != self.reading.number { connectFailures = ConnectFailures() }
        onlyRetriesAreLeft = false
        self.reading = reading
    }

    private func nextRecordOfInput() -> InputRecord? {
        while true {
            if chunk == nil { takeChunk() }
            guard let chunk else { return nil }
            if hasRecordLeft(chunk) {
                let row = chunk.firstRow + UInt64(nextRecord)
                let index = nextRecord
                nextRecord += 1
                let problem = chunk.records[index].problemCode
                let byte = isNew(row) ? OpenState.untouched : state.ledger.state(row: row)
                return InputRecord(
                    index: index, row: row, line: chunk.line(at: index),
                    bytes: chunk.record(at: index),
                    problem: problem == 0 ? nil : FinalCode(rawValue: problem),
                    isInDoubt: byte == OpenState.inDoubt,
                    pass: reading.number == 0 ? .first : RetryRules.Pass(rawValue: byte) ?? .first)
            }
            giveBackFinishedChunk()
        }
    }

    /// Whether nobody can have done anything about the row yet.
    private func isNew(_ row: UInt64) -> Bool {
        reading.number == 0 && row > state.earlier.rows
    }

    /// Whether the chunk has another row to send; those that are final, and those that wait for
    /// another pass, are passed over.
    private func hasRecordLeft(_ chunk: RecordChunk) -> Bool {
        while nextRecord < chunk.recordCount {
            let row = chunk.firstRow + UInt64(nextRecord)
            guard row <= state.rowLimit else { return false }
            if isNew(row) || state.ledger.isOpen(row: row, in: reading.mask) { return true }
            nextRecord += 1
        }
        return false
    }

    /// Gives the chunk back when its last row is on its way. Also called where no connection is
    /// open: rows that are all done must not wait for one.
    func giveBackFinishedChunk() {
        guard let chunk, staged < 0, !hasRecordLeft(chunk) else { return }
        state.chunks.giveBack(chunk)
        self.chunk = nil
    }

    /// Judges a record in the fixed order: readable, token, suppressed, rendered and sized,
    /// duplicate.
    ///
    /// - Returns: true when the row is staged; false when it has its outcome.
    private func judge(_ record: InputRecord) -> Bool {
        if let problem = record.problem {
            finishInvalid(record, RowProblem(problem), token: nil)
            return false
        }
        if let problem = read(record) {
            finishInvalid(record, problem, token: nil)
            return false
        }
        let rows = freshRows  // counts one reference instead of one at each use
        if let list = state.suppressed, list.contains(rows.token) {
            // One that an earlier start has sent, before it was listed, stays unknown.
            let code = record.isInDoubt ? FinalCode.unknownConnectionLost : .suppressed
            finishUnsent(
                FailureLine(row: record.row, line: record.line, code: code, token: rows.token))
            return false
        }
        if let problem = rows.render() {
            finishInvalid(record, problem, token: rows.token)
            return false
        }
        if let duplicates = state.duplicates, !duplicates.claim(freshKey, row: record.row) {
            finishUnsent(
                FailureLine(
                    row: record.row, line: record.line, code: .duplicate, token: rows.token))
            return false
        }
        if record.isInDoubt, state.campaign.retry.onUnknown == .skip {
            var failure = FailureLine(
                row: record.row, line: record.line, code: .unknownConnectionLost,
                token: rows.token)
            failure.hasAPNSID = state.campaign.usesAPNSID
            finishUnsent(failure)
            return false
        }
        staged = slots.take(row: record.row, line: record.line, record: record.bytes)
        slots[staged].pointee.isInDoubt = record.isInDoubt
        slots[staged].pointee.pass = record.pass
        stagedIn = rows
        return true
    }

    /// Reads a record into `freshRows`, and the next one of the chunk into `rowsAhead`: so its
    /// entry among the duplicates is there in time.
    private func read(_ record: InputRecord) -> RowProblem? {
        if record.index == recordAhead {
            swap(&freshRows, &rowsAhead)
            freshKey = keyAhead
        } else {
            if let problem = freshRows.read(record.bytes) { return problem }
            if let duplicates = state.duplicates { freshKey = duplicates.key(of: freshRows.token) }
        }
        recordAhead = -1
        if let duplicates = state.duplicates, let chunk {
            readAhead(record.index + 1, of: chunk, duplicates)
        }
        return nil
    }

    /// A record with a problem is read again when its turn comes.
    private func readAhead(_ index: Int, of chunk: RecordChunk, _ duplicates: DuplicateTable) {
        guard index < chunk.recordCount, chunk.records[index].problemCode == 0,
            rowsAhead.read(chunk.record(at: index)) == nil
        else { return }
        recordAhead = index
        keyAhead = duplicates.key(of: rowsAhead.token)
    }

    private func finishInvalid(
        _ record: InputRecord, _ problem: RowProblem, token: UnsafeRawBufferPointer?
    ) {
        var failure = FailureLine(
            row: record.row, line: record.line + UInt64(problem.lineDelta), code: problem.code)
        if let token { failure.token = token }
        failure.column = problem.column
        failure.detail = problem.detail
        finishUnsent(failure)
    }

    private func finishUnsent(_ failure: FailureLine) {
        do throws(SendError) { try journal.recordFailure(failure) } catch { fail(error) }
        counters.countFinal(failure.code)
    }

    /// Submits the staged row where its body fits.
    ///
    /// - Returns: false when it fits nowhere now; it stays staged.
    private func submitStaged(preferring preferred: PooledConnection) -> Bool {
        let rows = stagedIn
        let body = rows.payload
        guard
            let target = target(forBodyBytes: body.count, preferring: preferred),
            let stream = submit(staged, rows, body: body, on: target)
        else { return false }
        let slot = slots[staged]
        // Nothing has been handed to the socket yet: that happens at the end of this turn.
        state.ledger.set(OpenState.inDoubt, row: slot.pointee.row)
        slot.pointee.submittedNs = nowNs
        slot.pointee.connection = target.id
        slot.pointee.stream = stream.rawValue
        slot.pointee.tokenVersion = Int32(truncatingIfNeeded: headers.tokenVersion)
        inFlight.append(staged, in: slots)
        if rows !== retriedRows { budget.countSend() }
        limiter.take(nowNs: nowNs)
        paceLimiter.take(nowNs: nowNs)
        seen.sent += 1
        target.noteSubmitted(stream, nowNs: nowNs)
        staged = -1
        return true
    }

    /// A row that a connection left without an answer goes to another one, if any has room.
    private func target(
        forBodyBytes bodyBytes: Int, preferring preferred: PooledConnection
    ) -> PooledConnection? {
        let avoided = slots[staged].pointee.avoided
        if preferred.id != avoided, preferred.hasRoom(bodyBytes: bodyBytes, nowNs: nowNs) {
            return preferred
        }
        if let other = connection(forBodyBytes: bodyBytes, otherThan: avoided) { return other }
        return avoided < 0 ? nil : connection(forBodyBytes: bodyBytes)
    }

    private func submit(
        _ slot: SlotIndex, _ rows: RowReader, body: UnsafeRawBufferPointer,
        on target: PooledConnection
    ) -> StreamID? {
        if state.campaign.usesAPNSID {
            state.identity.writeAPNSID(row: slots[slot].pointee.row, to: apnsIDText)
            headerValues[0] = UnsafeRawBufferPointer(apnsIDText)
        } else {
            headerValues[0] = UnsafeRawBufferPointer(start: nil, count: 0)
        }
        headerValues[1] = rows.collapseID
        return target.session.submit(
            request: UInt32(bitPattern: slot), path: rows.token,
            values: UnsafeBufferPointer(
                start: headerValues, count: RequestHeaders.perRequest.count),
            body: body)
    }
}
