internal import CNghttp2

/// The server's side of a connection.
///
/// *Thread*: one. *Limits*: `ServerSettings.concurrentStreamsMax` streams; each holds at most 24
/// KiB of its request until that is complete, and its response until the client has taken it.
/// Requests with too large headers are answered with 431 and not told. Floods of resets, pings,
/// SETTINGS and CONTINUATION end the connection, as nghttp2 counts them.
package final class ServerSession: HTTP2Session {
    package let output: OutputBuffer
    package weak var delegate: (any ServerSessionDelegate)?

    /// The delegate while nghttp2 is at work, which asks for it twice for each request: a weak
    /// reference costs more to look at.
    private(set) var delegateAtWork: (any ServerSessionDelegate)?

    let handle: NGHTTP2Handle
    var settings: ServerSettings
    /// Why the connection cannot go on.
    var cause: HTTP2Error?
    /// GOAWAY frames that the owner asked for and that have not been sent yet; any other is
    /// nghttp2's, for an error of the client's.
    var ownGoAwayCount = 0
    private(set) var hasEnded = false
    // Of the stream limit; see ServerSession+StreamLimit.swift.
    var refusalsWaiting = 0
    var settingsWaiting = 0
    var isStreamLimitUnannounced = false
    private(set) var withholdsWindowUpdates = false
    /// Whose header fields arrive, between the beginning and the end of their frame; nil: nobody
    /// reads them. Unretained: all requests are held by the pool or by a stream, which gives its
    /// request up only through `dropRequest`.
    var requestArriving: Unmanaged<ServerRequest>?
    private var isInsideNGHTTP2 = false
    /// The first SETTINGS were submitted.
    private(set) var isAnnounced = false

    // Pools: no more objects than streams were ever open at once. nghttp2 refers to the streams
    // without owning them, so all are held here as long as the session lives.
    private var allStreams: [ServerStream] = []
    private var freeStreams: [ServerStream] = []
    private var freeRequests: [ServerRequest] = []
    private var openCount = 0
    private let list: UnsafeMutablePointer<nghttp2_nv>  // owned: scratch for a response's fields
    private let statusText: UnsafeMutablePointer<UInt8>  // owned: scratch, three digits
    private var frameWalker = ClientFrameWalker()
    private let unpacker = HeaderUnpacker()

    /// Makes a session; its SETTINGS come with the first `receive` or `pump`, until when they can
    /// still be changed unseen.
    package init(
        settings: ServerSettings, outputCapacityBytes: Int = 65_536
    ) throws(HTTP2Error) {
        precondition(outputCapacityBytes >= 2 * NGHTTP2Handle.pieceBytesMax)
        let handle = try NGHTTP2Handle(role: .server, addCallbacks: addServerCallbacks)
        self.handle = handle
        self.settings = settings
        output = OutputBuffer(capacityBytes: outputCapacityBytes)
        list = .allocate(capacity: ResponseHeaders.countMax + 1)
        statusText = .allocate(capacity: 3)
        // Unretained: the handle, and so nghttp2, lives no longer than this object.
        nghttp2_session_set_user_data(self.handle.raw, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        list.deallocate()
        statusText.deallocate()
    }

    package var failure: HTTP2Error? { cause }

    package var isFinished: Bool {
        hasEnded || (output.count == 0 && !handle.wantsRead && !handle.wantsWrite)
    }

    /// Streams that have begun and not ended, answered or not.
    package var openStreamCount: Int { openCount }

    // MARK: Answers

    /// Answers a request; false when its stream is over or answered already.
    ///
    /// *Ownership*: everything is borrowed for the call; the body is copied.
    @discardableResult
    package func respond(
        to stream: StreamID, status: UInt16, headers: ResponseHeaders = ResponseHeaders(),
        body: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) -> Bool {
        let source = body.isEmpty ? nil : readServerBody
        return submit(to: stream, status: status, headers: headers, readBody: source) {
            $0.setResponse(body)
        }
    }

    /// Submits a response whose body `readBody` reads from the stream's object, as `prepare` left
    /// it.
    func submit(
        to stream: StreamID, status: UInt16, headers: ResponseHeaders,
        readBody: nghttp2_data_source_read_callback?, prepare: (ServerStream) -> Void
    ) -> Bool {
        precondition(status >= 200 && status <= 999)
        guard let state = state(of: stream), !state.isAnswered else { return false }
        statusText[0] = UInt8(0x30 + status / 100)
        statusText[1] = UInt8(0x30 + status / 10 % 10)
        statusText[2] = UInt8(0x30 + status % 10)
        let text = UnsafeRawBufferPointer(start: statusText, count: 3)
        list[0] = Self.field(ResponseField(":status", text, isConstant: true))
        for index in 0..<headers.count { list[index + 1] = Self.field(headers[index]) }
        prepare(state)
        var provider = nghttp2_data_provider()
        // Unretained: the session holds all its stream objects.
        provider.source.ptr = Unmanaged.passUnretained(state).toOpaque()
        provider.read_callback = readBody
        let result = withUnsafePointer(to: &provider) { provider in
            nghttp2_submit_response(
                handle.raw, stream.rawValue, list, headers.count + 1,
                readBody == nil ? nil : provider)
        }
        state.isAnswered = result == 0
        return state.isAnswered
    }

    /// Resets a stream; nothing happens when it is over.
    package func reset(_ stream: StreamID, _ code: HTTP2ErrorCode) {
        guard state(of: stream) != nil else { return }
        nghttp2_submit_rst_stream(handle.raw, 0, stream.rawValue, code.rawValue)
    }

    /// Announces other settings; they hold once the client has acknowledged them, the stream limit
    /// at once.
    package func updateSettings(_ settings: ServerSettings) {
        guard !hasEnded else { return }
        self.settings = settings
        guard isAnnounced else { return }
        do { try announce(settings) } catch { if cause == nil { cause = error } }
    }

    /// The settings that were announced last. Not the stored property itself: one that other
    /// modules see costs a dynamic exclusivity check at each use, here for each header field.
    package var announcedSettings: ServerSettings { settings }

    /// Sends no WINDOW_UPDATE any more, as a server that has stopped to take bodies: the client
    /// comes to an end of its windows.
    package func withholdWindowUpdates() { withholdsWindowUpdates = true }

    /// Tells the client to open no more streams. Those above `lastStream` were not processed and
    /// are dropped; nil: the last one that was received. `StreamID.max` without an error announces
    /// a shutdown and refuses nothing yet (RFC 9113, section 6.8).
    package func goAway(
        lastStream: StreamID? = nil, _ code: HTTP2ErrorCode = .noError, debugData: [UInt8] = []
    ) {
        guard !hasEnded else { return }
        if lastStream == .max, code == .noError, debugData.isEmpty {
            if nghttp2_submit_shutdown_notice(handle.raw) == 0 { ownGoAwayCount += 1 }
            return
        }
        let last = lastStream?.rawValue ?? nghttp2_session_get_last_proc_stream_id(handle.raw)
        submitGoAway(last: last, code, debugData)
    }

    /// A GOAWAY that says that no stream at all was processed.
    package func goAwayRefusingAll(_ code: HTTP2ErrorCode, debugData: [UInt8] = []) {
        guard !hasEnded else { return }
        submitGoAway(last: 0, code, debugData)
    }

    private func submitGoAway(last: Int32, _ code: HTTP2ErrorCode, _ debugData: [UInt8]) {
        let result = nghttp2_submit_goaway(
            handle.raw, 0, last, code.rawValue, debugData, debugData.count)
        if result == 0 { ownGoAwayCount += 1 }
    }

    // MARK: Bytes

    /// As `HTTP2Session` says; what was thrown once is thrown again.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        precondition(!isInsideNGHTTP2, "receive was called from inside a session")
        if let cause { throw cause }
        guard !hasEnded else { return }
        announceOnce()
        var thrown: HTTP2Error?
        enter()
        do { try receiveFrames(bytes) } catch { thrown = error }
        leave()
        if let thrown, cause == nil {
            cause = thrown
            nghttp2_session_terminate_session(handle.raw, thrown.code.rawValue)
        }
        pump()
        if let cause { throw cause }
    }

    /// Hands the client's bytes on, with zeros for the last-stream-ids of its GOAWAY frames and
    /// plain header strings.
    private func receiveFrames(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        let zeros: StaticString = "\0\0\0\0"
        var rest = bytes
        while !rest.isEmpty {
            let (plain, lastStream, headers) = frameWalker.next(rest)
            try handle.receive(UnsafeRawBufferPointer(rebasing: rest[..<plain]))
            try handle.receive(UnsafeRawBufferPointer(start: zeros.utf8Start, count: lastStream))
            rest = UnsafeRawBufferPointer(rebasing: rest[(plain + lastStream)...])
            guard headers > 0 else { continue }
            let frame = UnsafeRawBufferPointer(rebasing: rest[..<headers])
            try handle.receive(unpacker.unpack(frame) ?? frame)
            rest = UnsafeRawBufferPointer(rebasing: rest[headers...])
        }
    }

    /// As `HTTP2Session` says; nothing happens inside of a callback of the session's.
    package func pump() {
        guard !isInsideNGHTTP2, !hasEnded else { return }
        announceOnce()
        enter()
        defer { leave() }
        do {
            _ = try handle.send(into: output, clearing: Self.limitMark)
        } catch {
            if cause == nil { cause = error }
        }
    }

    private func enter() {
        isInsideNGHTTP2 = true
        delegateAtWork = delegate
    }

    private func leave() {
        isInsideNGHTTP2 = false
        delegateAtWork = nil
    }

    /// As `HTTP2Session` says; what is done to the session afterwards does nothing.
    package func connectionEnded() {
        guard !hasEnded else { return }
        hasEnded = true
        // By index: a delegate's call may not add streams, for the session has ended.
        for index in allStreams.indices where allStreams[index].isOpen {
            close(allStreams[index], cause?.code ?? .noError)
        }
    }

    // MARK: Streams

    /// An object for a new stream.
    func open(_ stream: Int32) -> ServerStream {
        let state: ServerStream
        if let pooled = freeStreams.popLast() {
            state = pooled
        } else {
            state = ServerStream()
            allStreams.append(state)
        }
        state.begin(stream, freeRequests.popLast() ?? ServerRequest())
        openCount += 1
        return state
    }

    /// The request is of no more use: its memory goes back to the pool.
    func dropRequest(_ state: ServerStream) {
        guard let request = state.request else { return }
        state.request = nil
        // Another stream's header block may be only half here.
        let isArriving = requestArriving?._withUnsafeGuaranteedRef { $0 === request } ?? false
        if isArriving { requestArriving = nil }
        freeRequests.append(request)
    }

    func close(_ state: ServerStream, _ code: HTTP2ErrorCode) {
        guard state.isOpen else { return }
        let stream = StreamID(rawValue: state.id)
        dropRequest(state)
        state.end()
        freeStreams.append(state)
        openCount -= 1
        let delegate = isInsideNGHTTP2 ? delegateAtWork : delegate
        delegate?.session(self, streamClosed: stream, errorCode: code)
    }

    func state(of stream: StreamID) -> ServerStream? {
        guard !hasEnded,
            let data = nghttp2_session_get_stream_user_data(handle.raw, stream.rawValue)
        else { return nil }
        let state = Unmanaged<ServerStream>.fromOpaque(data).takeUnretainedValue()
        return state.isOpen && state.id == stream.rawValue ? state : nil
    }

    private func announceOnce() {
        guard !isAnnounced else { return }
        isAnnounced = true
        do { try announce(settings) } catch { if cause == nil { cause = error } }
    }

    private func announce(_ settings: ServerSettings) throws(HTTP2Error) {
        precondition((0..<Self.limitMark).contains(settings.concurrentStreamsMax))
        func entry(_ id: nghttp2_settings_id, _ value: Int) -> nghttp2_settings_entry {
            nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: UInt32(value))
        }
        let entries = [
            entry(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, settings.headerTableBytes),
            entry(
                NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                settings.concurrentStreamsMax + Self.limitMark),
            entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.initialWindowBytes),
            entry(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, settings.frameBytesMax),
            entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, settings.headerListBytesMax),
        ]
        var result = nghttp2_submit_settings(handle.raw, 0, entries, entries.count)
        guard result == 0 else { throw NGHTTP2Handle.error(result) }
        settingsWaiting += 1
        result = nghttp2_session_set_local_window_size(
            handle.raw, 0, 0, Int32(settings.connectionWindowBytes))
        guard result == 0 else { throw NGHTTP2Handle.error(result) }
    }

    private static func field(_ field: ResponseField) -> nghttp2_nv {
        precondition(field.name.hasPointerRepresentation)
        // nghttp2 reads through these pointers; a name lives as long as the program, a value is
        // copied.
        let value = UnsafeMutableRawPointer(mutating: field.value.baseAddress)
        // What differs from response to response only churns the compression's table.
        let flags =
            field.isConstant
            ? NGHTTP2_NV_FLAG_NO_COPY_NAME
            : nghttp2_nv_flag(
                NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
        return nghttp2_nv(
            name: UnsafeMutablePointer(mutating: field.name.utf8Start),
            value: value?.assumingMemoryBound(to: UInt8.self),
            namelen: field.name.utf8CodeUnitCount, valuelen: field.value.count,
            flags: UInt8(flags.rawValue))
    }
}

@available(*, unavailable) extension ServerSession: Sendable {}
