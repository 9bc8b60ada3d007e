internal import CNghttp2

/// The client's side of a connection: POST requests made from one template.
///
/// A request is serialised when it is submitted, and gets exactly one terminal event: at the
/// headers of a 200; otherwise when its stream ends, is reset, refused or cancelled, or the
/// connection ends. Events are collected while nghttp2 reads or writes, and delivered after, so
/// that the delegate may use the session freely.
///
/// *Thread*: one. *Limits*: `streamsMax` streams, fixed at creation; one body of at most
/// `bodyBytesMax` that waits for the peer's stream window.
package final class ClientSession: HTTP2Session {
    /// The largest body of a request.
    package static let bodyBytesMax = 16_384
    /// What is kept of the body of a response.
    package static let answerBodyBytesMax = 4_096
    /// RFC 9113, section 6.5.2, as we announce it: a larger list of response headers ends the
    /// connection.
    static let headerListBytesMax = 16_384
    /// GOAWAY frames told apart within one `receive`; of more, only the last counts.
    static let goAwaysKeptMax = 4
    static let goAwayDebugBytesMax = 4_096
    /// With fewer stream numbers left, the session drains (RFC 9113, section 5.1.1).
    private static let streamIDLast: UInt32 = 0x7FFF_FFFF - 64

    package let output: OutputBuffer
    package weak var delegate: (any ClientSessionDelegate)?

    let handle: NGHTTP2Handle
    let streams: ClientStreams
    private let fields: RequestFields
    private let streamsMax: Int
    let pending: UnsafeMutableRawPointer  // owned: bodyBytesMax, what the stream window held up

    // What nghttp2's callbacks leave for the time after them.
    var hasSettings = false
    var settingsChanged = false
    var pongArrived = false
    var goAwayArrived = false
    var goAways: [GoAway] = []
    /// Why the connection cannot go on.
    var cause: HTTP2Error?
    var headerListBytes = 0
    var headerSlot: Int?

    // The body that nghttp2 reads: the caller's during `submit`, then what is pending of it.
    var bodyStart: UnsafeRawPointer?
    var bodyLeft = 0
    var bodyStream: Int32 = 0
    /// The stream of the pending body was answered in full: nobody needs the rest.
    var bodyIsUnwanted = false

    private var hasSentGoAway = false
    private var pingIsOut = false
    private var hasEnded = false
    private var isInsideNGHTTP2 = false

    /// Makes a session; its preface and SETTINGS come with the first `pump`.
    ///
    /// *Limits*: at most `streamsMax` streams at a time, whatever the peer allows.
    package init(
        template: RequestTemplate, outputCapacityBytes: Int = 65_536, streamsMax: Int = 1_500
    ) throws(HTTP2Error) {
        precondition(outputCapacityBytes >= 2 * NGHTTP2Handle.pieceBytesMax)
        let handle = try NGHTTP2Handle(role: .client, addCallbacks: addClientCallbacks)
        self.handle = handle
        output = OutputBuffer(capacityBytes: outputCapacityBytes)
        streams = ClientStreams(capacity: streamsMax)
        fields = RequestFields(template)
        self.streamsMax = streamsMax
        pending = .allocate(byteCount: Self.bodyBytesMax, alignment: 64)
        // Unretained: the handle, and so nghttp2, lives no longer than this object.
        nghttp2_session_set_user_data(self.handle.raw, Unmanaged.passUnretained(self).toOpaque())
        var settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: UInt32(Self.headerListBytesMax)),
        ]
        let result = nghttp2_submit_settings(self.handle.raw, 0, &settings, settings.count)
        guard result == 0 else { throw NGHTTP2Handle.error(result) }
    }

    deinit { pending.deallocate() }

    // MARK: State

    /// The peer's first SETTINGS are here.
    package var isReady: Bool { hasSettings }

    /// No request can be submitted any more: GOAWAY came or was sent, the connection failed or
    /// ended, or stream numbers run out.
    package var isDraining: Bool {
        goAwayArrived || hasSentGoAway || hasEnded || cause != nil
            || nghttp2_session_get_next_stream_id(handle.raw) > Self.streamIDLast
    }

    /// Streams that count against the peer's limit; an answered one may count until its end
    /// arrives.
    package var openStreamCount: Int { streams.openCount }

    /// Requests whose terminal event has not been delivered.
    package var openRequestCount: Int { streams.undeliveredCount }

    /// Streams that the peer allows at a time, by its latest SETTINGS.
    package var peerStreamsMax: Int {
        Int(
            nghttp2_session_get_remote_settings(
                handle.raw, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// Body bytes that the peer takes on the connection as a whole before it grants more.
    package var connectionWindow: Int {
        max(0, Int(nghttp2_session_get_remote_window_size(handle.raw)))
    }

    /// Body bytes of the one request that waits for its stream's window.
    package var windowBlockedBytes: Int { bodyLeft }

    package var failure: HTTP2Error? { cause }

    package var isFinished: Bool {
        hasEnded || (output.count == 0 && !handle.wantsRead && !handle.wantsWrite)
    }

    // MARK: Requests

    /// Whether a request with such a body would be taken now: the session is ready and not
    /// draining, the peer's stream limit and connection window have room, no body waits for its
    /// stream's window, and the output has room.
    package func canSubmit(bodyBytes: Int) -> Bool {
        hasSettings && bodyLeft == 0 && bodyBytes <= Self.bodyBytesMax
            && streams.openCount < min(streamsMax, peerStreamsMax) && streams.freeCount > 0
            && connectionWindow >= bodyBytes
            && output.free >= roomBytes(bodyBytes: bodyBytes, valueBytes: 512) && !isDraining
    }

    /// Serialises a request into `output` and names its stream; nil: not now, nothing happened.
    ///
    /// `path` follows the template's prefix; `values` belong to the template's `perRequestHeaders`,
    /// an empty one leaves its header out. What the peer's stream window does not take of the body
    /// is kept and sent when it opens. *Ownership*: all three are borrowed for the call. *Limits*:
    /// 1,024 bytes of path, `bodyBytesMax` of body; the output must hold all at once.
    package func submit(
        request: UInt32, path: UnsafeRawBufferPointer,
        values: UnsafeBufferPointer<UnsafeRawBufferPointer>, body: UnsafeRawBufferPointer
    ) -> StreamID? {
        let valueBytes = values.reduce(0) { $0 + $1.count }
        guard canSubmit(bodyBytes: body.count), !isInsideNGHTTP2, sendFrames(),
            output.free >= roomBytes(bodyBytes: body.count, valueBytes: valueBytes)
        else { return nil }
        let slot = streams.take(request: request, outputOffset: output.appendedTotal)
        bodyStart = body.baseAddress
        bodyLeft = body.count
        bodyIsUnwanted = false
        var provider = nghttp2_data_provider()
        provider.read_callback = readClientBody
        let stream = fields.withList(path: path, values: values) { list, count in
            let stream = withUnsafePointer(to: &provider) { provider in
                nghttp2_submit_request(
                    handle.raw, nil, list, count, body.isEmpty ? nil : provider,
                    streams.reference(slot))
            }
            guard stream > 0 else { return stream }
            streams[slot].streamID = stream
            bodyStream = stream
            _ = sendFrames()
            return stream
        }
        guard stream > 0 else {
            bodyLeft = 0
            streams.takeBack(slot)
            return nil
        }
        keepPendingBody()
        drainIfNumbersRunOut()
        return StreamID(rawValue: stream)
    }

    /// Takes a new value for the `authorization` header, from the next request on.
    package func replaceAuthorization(_ value: String) { fields.replaceAuthorization(value) }

    /// Resets a stream. Its request ends at once, as unknown, or with the status if one had
    /// arrived; nothing happens to a request that is over.
    package func cancel(_ stream: StreamID) {
        let reference = nghttp2_session_get_stream_user_data(handle.raw, stream.rawValue)
        guard let slot = streams.slot(of: reference, stream: stream.rawValue) else { return }
        nghttp2_submit_rst_stream(
            handle.raw, 0, stream.rawValue, HTTP2ErrorCode.cancel.rawValue)
        streams.decide(slot, errorCode: .cancel, withoutStatus: .unknown)
        deliver()
    }

    /// Asks the peer for a sign of life; one ping is out at a time.
    package func ping() {
        guard !pingIsOut, !hasEnded else { return }
        pingIsOut = nghttp2_submit_ping(handle.raw, 0, nil) == 0
    }

    /// Ends politely: no more requests, the open ones go on. The GOAWAY names stream 0, because the
    /// server opened none.
    package func goAway() {
        guard !hasSentGoAway, !hasEnded else { return }
        hasSentGoAway = true
        nghttp2_submit_goaway(handle.raw, 0, 0, HTTP2ErrorCode.noError.rawValue, nil, 0)
    }

    /// Lets a test come near the end of the stream numbers. *Limits*: odd, larger than any used.
    package func skipStreamNumbers(to next: Int32) {
        let result = nghttp2_session_set_next_stream_id(handle.raw, next)
        precondition(result == 0)
    }

    // MARK: Bytes

    /// As `HTTP2Session` says; what was thrown once is thrown again.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        precondition(!isInsideNGHTTP2, "receive was called from inside a session")
        if let cause { throw cause }
        guard !hasEnded else { return }
        var thrown: HTTP2Error?
        isInsideNGHTTP2 = true
        do { try handle.receive(bytes) } catch { thrown = error }
        isInsideNGHTTP2 = false
        if let thrown { fail(thrown) }
        if bodyIsUnwanted, bodyLeft > 0 {
            nghttp2_submit_rst_stream(
                handle.raw, 0, bodyStream, HTTP2ErrorCode.cancel.rawValue)
            bodyLeft = 0
        }
        _ = sendFrames()
        deliver()
        if let cause { throw cause }
    }

    /// As `HTTP2Session` says; nothing happens inside of a callback of the session's.
    package func pump() {
        guard !isInsideNGHTTP2, !hasEnded else { return }
        drainIfNumbersRunOut()
        _ = sendFrames()
        deliver()
    }

    /// As `HTTP2Session` says; what is done to the session afterwards does nothing.
    package func connectionEnded() {
        guard !hasEnded else { return }
        hasEnded = true
        bodyLeft = 0
        let code = cause?.code ?? .noError
        for slot in 0..<streams.capacity where streams[slot].isUsed {
            let neverLeft = streams[slot].outputOffset >= output.consumedTotal
            streams.decide(
                slot, errorCode: code, withoutStatus: neverLeft ? .unprocessed : .unknown)
            streams.close(slot)
        }
        deliver()
    }

    // MARK: Helpers

    /// Ends the connection for an error of the library's, or for the one that a callback had found.
    private func fail(_ error: HTTP2Error) {
        let code = (cause ?? error).code
        if cause == nil { cause = error }
        nghttp2_session_terminate_session(handle.raw, code.rawValue)
    }

    /// Moves frames into the output; true when none is left.
    private func sendFrames() -> Bool {
        isInsideNGHTTP2 = true
        defer { isInsideNGHTTP2 = false }
        do { return try handle.send(into: output) } catch {
            if cause == nil { cause = error }
            return false
        }
    }

    /// Output bytes that must be free before a request: nghttp2's largest piece for the last step,
    /// and the request itself with the headers of its frames.
    private func roomBytes(bodyBytes: Int, valueBytes: Int) -> Int {
        NGHTTP2Handle.pieceBytesMax + fields.blockBytesMax(valueBytes: valueBytes) + bodyBytes + 64
    }

    /// Copies what the stream window held up, because the caller's body ends with the call.
    private func keepPendingBody() {
        guard bodyLeft > 0, let start = bodyStart else { return }
        pending.copyMemory(from: start, byteCount: bodyLeft)
        bodyStart = UnsafeRawPointer(pending)
    }

    private func drainIfNumbersRunOut() {
        if nghttp2_session_get_next_stream_id(handle.raw) > Self.streamIDLast { goAway() }
    }

    /// Tells the delegate what the callbacks left. It may use the session in turn, and end it.
    private func deliver() {
        let delegate = delegate
        if settingsChanged {
            settingsChanged = false
            delegate?.sessionSettingsChanged(self)
        }
        while !goAways.isEmpty {
            delegate?.session(self, didReceiveGoAway: goAways.removeFirst())
        }
        if pongArrived {
            pongArrived = false
            pingIsOut = false
            delegate?.sessionDidReceivePong(self)
        }
        while let stream = streams.popDecided() {
            let isResponse = stream.kind == .response
            let kept = isResponse ? Int(stream.bodyBytes) : 0
            let answer = Answer(
                kind: stream.kind, status: isResponse ? stream.status : 0,
                errorCode: stream.errorCode,
                body: streams.body(streams.lastPopped, byteCount: kept),
                retryAfterSeconds: isResponse ? Int(stream.retryAfterSeconds) : -1)
            delegate?.session(self, request: stream.request, endedWith: answer)
        }
    }
}

@available(*, unavailable) extension ClientSession: Sendable {}
