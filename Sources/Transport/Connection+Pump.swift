internal import EventLoop
internal import Glibc
internal import HTTP2
internal import TLS

/// The hot part: bytes from the socket to the session and back.
extension Connection {
    /// Bytes that one connection may read or write in a turn before the others have theirs.
    private static let turnBytesMax = 1 << 20
    /// Bytes of one `SSL_write`: a full TLS record, beyond which nothing is gained.
    private static let recordBytesMax = 16_384
    /// How often the delegate may refill the output within one turn.
    private static let refillsMax = 8

    func becameReady(_ ready: Readiness) {
        switch state {
        case .handshaking: handshake()
        case .open:
            if ready.contains(.writable) { isBlocked = false }
            if ready.contains(.readable) || readWantsWrite {
                read()
            } else {
                setNeedsFlush()
            }
        case .connecting, .closed: break
        }
    }

    /// Goes on with what one turn did not allow.
    func resume() {
        isUnfinished = false
        if isOpen { read() }
    }

    /// Reads until the socket would block or the turn's share is used up.
    func read() {
        var turnBytes = 0
        while isOpen, !isReadingPaused {
            let (count, pause) = fillReadBuffer()
            if count > 0 {
                turnBytes += count
                feed(count)
            }
            guard isOpen else { break }
            switch pause {
            case nil where turnBytes < Connection.turnBytesMax: continue
            case nil: goOnNextTurn()
            case .wouldBlock: break
            case .end: return peerEnded()
            case .failed(let failure):
                isBroken = true
                return close(failure)
            }
            break
        }
        setNeedsFlush()
    }

    /// The connection's part of the end of a turn.
    func flush() {
        isDirty = false
        guard isOpen else { return }
        isFlushing = true
        defer { isFlushing = false }
        var turnBytes = 0
        for _ in 0..<Connection.refillsMax where turnBytes < Connection.turnBytesMax {
            delegate?.connectionDidFlush(self)
            guard isOpen else { return }
            let written = isBlocked ? 0 : writeOutput(bytesMax: Connection.turnBytesMax - turnBytes)
            guard isOpen else { return }
            turnBytes += written
            guard written > 0, !isBlocked else { return settle() }
        }
        goOnNextTurn()
    }

    func goOnNextTurn() {
        guard !isUnfinished else { return }
        isUnfinished = true
        flusher?.addUnfinished(self)
    }

    /// A last try to send what the session still has, then TLS's goodbye. Never waits.
    func sayGoodbye() {
        if !isBlocked {
            session.pump()
            while session.output.count > 0, case .bytes(let count)? = try? writeRecord() {
                session.output.consume(count)
            }
        }
        stream?.shutdown()
    }

    // MARK: - Reading

    /// Why reading paused.
    private enum Pause {
        case wouldBlock
        case end
        case failed(ConnectionFailure)
    }

    /// Fills the shared buffer record by record, so that the session sees many small records as
    /// one piece. Without a pause the buffer is full.
    private func fillReadBuffer() -> (count: Int, pause: Pause?) {
        guard let stream, let buffer = flusher?.readBuffer else { return (0, .wouldBlock) }
        var count = 0
        readWantsWrite = false
        while buffer.count - count >= Connection.recordBytesMax {
            do throws(TLSError) {
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                switch try stream.read(into: rest) {
                case .bytes(let more): count += more
                case .wantsRead: return (count, .wouldBlock)
                case .wantsWrite:
                    readWantsWrite = true
                    watcher?.setInterest([.readable, .writable])
                    return (count, .wouldBlock)
                case .end: return (count, .end)
                }
            } catch {
                return (count, .failed(failure(error)))
            }
        }
        return (count, nil)
    }

    private func feed(_ count: Int) {
        bytesReceived &+= UInt64(count)
        guard let flusher else { return }
        let bytes = UnsafeRawBufferPointer(rebasing: flusher.readBuffer[..<count])
        if let holdBytes { holdBytes(bytes) } else { feedSession(bytes) }
    }

    func feedSession(_ bytes: UnsafeRawBufferPointer) {
        do throws(HTTP2Error) {
            try withSession { session throws(HTTP2Error) in try session.receive(bytes) }
        } catch {
            close(.protocolError(error))
        }
        closeIfRequested()
    }

    private func peerEnded() {
        if let failure = session.failure { return close(.protocolError(failure)) }
        // Open streams will never be answered, whatever goodbye the peer has said; with none open
        // it may go without one, unless it goes before its first word (its SETTINGS), which serves
        // nobody.
        let isIdle = session.openStreamCount == 0 && bytesReceived > 0
        close(session.isFinished || isIdle ? nil : .peerClosed)
    }

    // MARK: - Writing

    /// Writes until the session has nothing more, the socket blocks or `bytesMax` are reached;
    /// returns how much went out.
    private func writeOutput(bytesMax: Int) -> Int {
        var written = 0
        while isOpen, written < bytesMax {
            pump()
            guard isOpen, session.output.count > 0 else { break }
            do throws(TLSError) {
                switch try writeRecord() {
                case .bytes(let count):
                    session.output.consume(count)
                    bytesSent &+= UInt64(count)
                    written += count
                case .wantsWrite, .wantsRead:
                    isBlocked = true
                    return written
                case .end:
                    writeFailed(.peerClosed)
                }
            } catch {
                writeFailed(failure(error))
            }
        }
        return written
    }

    private func writeRecord() throws(TLSError) -> TLSResult {
        guard let stream else { return .end }
        let bytes = session.output.readable
        return try stream.write(
            UnsafeRawBufferPointer(rebasing: bytes.prefix(Connection.recordBytesMax)))
    }

    private func pump() {
        // The typed throw is the closure's form only: pumping has no way to fail.
        try? withSession { session throws(HTTP2Error) in session.pump() }
        closeIfRequested()
    }

    /// The peer may have said why before it closed: answers and a GOAWAY can wait in the socket
    /// while a write already fails. They are read first.
    private func writeFailed(_ failure: ConnectionFailure) {
        note(failure)
        read()
        isBroken = true
        close(failure)
    }

    /// Nothing more goes out in this turn: asks for what it waits for, or ends when all is done.
    private func settle() {
        if session.isFinished, session.output.count == 0 {
            return close(session.failure.map { .protocolError($0) })
        }
        let reading: Readiness = isReadingPaused ? [] : .readable
        watcher?.setInterest(isBlocked || readWantsWrite ? reading.union(.writable) : reading)
    }

    private func failure(_ error: TLSError) -> ConnectionFailure {
        switch error.kind {
        case .socket(EPIPE), .peerClosed: .peerClosed
        case .socket: .io(error.text)
        default: .tls(error)
        }
    }
}
