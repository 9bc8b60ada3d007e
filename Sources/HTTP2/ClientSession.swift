/// The client's side of a connection: POST requests made from one template.
///
/// A request is serialised when it is submitted, and gets exactly one terminal event: at the
/// headers of a 200; otherwise when its stream ends, is reset, refused or cancelled, or the
/// connection ends. Events are collected while frames are read, and delivered after, so that the
/// delegate may use the session freely.
///
/// The frames and header blocks are written and read here, because nearly all of a request is known
/// beforehand; nghttp2 reads the header blocks of the responses.
///
/// *Thread*: one. *Limits*: `streamsMax` streams, fixed at creation; one body of at most
/// `bodyBytesMax` that waits for the peer's stream window.
package final class ClientSession: HTTP2Session {
    /// The largest body of a request: it fits one frame, whatever the peer's limit is.
    package static let bodyBytesMax = FrameHead.payloadBytesMax
    /// What is kept of the body of a response.
    package static let answerBodyBytesMax = 4_096
    /// RFC 9113, section 6.5.2, as we announce it: a larger list of response headers ends the
    /// connection.
    static let headerListBytesMax = 16_384
    /// GOAWAY frames told apart within one `receive`; of more, only the last counts.
    static let goAwaysKeptMax = 4
    static let goAwayDebugBytesMax = 4_096
    /// With fewer stream numbers left, the session drains (RFC 9113, section 5.1.1).
    static let streamIDLast: Int32 = 0x7FFF_FFFF - 64
    /// Output that requests leave free for other frames.
    static let controlBytesMax = 4_096

    package let output: OutputBuffer
    /// Looked at once for all that a call has to tell: a weak reference costs more than others.
    package weak var delegate: (any ClientSessionDelegate)?

    let streams: ClientStreams
    let blocks: RequestBlockWriter
    private let streamsMax: Int

    // What the peer has said.
    var hasSettings = false
    let peerSettings = PeerSettings()
    let sendWindows = SendWindows()
    /// Streams above it are refused, or 0x7FFFFFFF.
    var goAwayLastStream = Int32.max

    // What arrives.
    let reader = FrameReader()
    let inflater: HeaderInflater
    let headerBlock = HeaderBlock()
    var received = ReceiveWindow()
    var emptyFramesInARow = 0

    // What is to be told after the frames that have arrived.
    var settingsChanged = false
    var pongArrived = false
    var goAwayArrived = false
    var goAways: [GoAway] = []

    // What is to be sent.
    let control: ControlFrames
    let body = PendingBody()
    /// A stream's window is to be opened, as soon as the output has room.
    var isStreamCreditDue = false
    var nextStream: Int32 = 1

    /// Why the connection cannot go on.
    var cause: HTTP2Error?
    var pingPayload: UInt64 = 0
    var pingIsOut = false
    private(set) var hasSentGoAway = false
    private(set) var hasEnded = false

    /// Makes a session; its preface and SETTINGS come with the first `pump`.
    ///
    /// *Limits*: at most `streamsMax` streams at a time, whatever the peer allows.
    package init(
        template: RequestTemplate, outputCapacityBytes: Int = 65_536, streamsMax: Int = 1_500
    ) throws(HTTP2Error) {
        precondition(outputCapacityBytes >= 2 * NGHTTP2Handle.pieceBytesMax)
        inflater = try HeaderInflater()
        output = OutputBuffer(capacityBytes: outputCapacityBytes)
        streams = ClientStreams(capacity: streamsMax)
        blocks = RequestBlockWriter(template)
        control = ControlFrames(streamsMax: streamsMax)
        self.streamsMax = streamsMax
    }

    // MARK: State

    /// The peer's first SETTINGS are here.
    package var isReady: Bool { hasSettings }

    /// No request can be submitted any more: GOAWAY came or was sent, the connection failed or
    /// ended, or stream numbers run out.
    package var isDraining: Bool {
        goAwayArrived || hasSentGoAway || hasEnded || cause != nil
            || nextStream > Self.streamIDLast
    }

    /// Streams that count against the peer's limit; an answered one may count until its end
    /// arrives.
    package var openStreamCount: Int { streams.openCount }

    /// Requests whose terminal event has not been delivered.
    package var openRequestCount: Int { streams.undeliveredCount }

    /// Streams that the peer allows at a time, by its latest SETTINGS.
    package var peerStreamsMax: Int { Int(peerSettings.concurrentStreamsMax) }

    /// Body bytes that the peer takes on the connection as a whole before it grants more.
    package var connectionWindow: Int { max(0, sendWindows.connectionBytes) }

    /// Body bytes of the one request that waits for its stream's window.
    package var windowBlockedBytes: Int { body.leftBytes }

    package var failure: HTTP2Error? { cause }

    package var isFinished: Bool {
        guard !hasEnded else { return true }
        guard output.count == 0, !control.isWaiting else { return false }
        return cause != nil || (goAwayArrived || hasSentGoAway) && streams.openCount == 0
    }

    /// The streams that may be open now.
    var streamLimit: Int { min(streamsMax, peerStreamsMax) }

    // MARK: Requests

    /// Takes a new value for the `authorization` header, from the next request on.
    package func replaceAuthorization(_ value: String) { blocks.replaceAuthorization(value) }

    /// Resets a stream. Its request ends at once, as unknown, or with the status if one had
    /// arrived; nothing happens to a request that is over.
    package func cancel(_ stream: StreamID) {
        guard !hasEnded, let slot = streams.slot(of: stream.rawValue) else { return }
        reset(slot, .cancel)
        deliver()
    }

    /// Asks the peer for a sign of life; one ping is out at a time.
    package func ping() {
        guard !pingIsOut, !hasEnded, cause == nil else { return }
        pingIsOut = true
        pingPayload &+= 1
        control.ping(pingPayload)
    }

    /// Ends politely: no more requests, the open ones go on. The GOAWAY names stream 0, because the
    /// server opened none.
    package func goAway() {
        guard !hasSentGoAway, !hasEnded, cause == nil else { return }
        hasSentGoAway = true
        control.sayGoodbye(.noError)
    }

    /// Lets a test come near the end of the stream numbers. *Limits*: odd, larger than any used.
    package func skipStreamNumbers(to next: Int32) {
        precondition(next & 1 == 1 && next >= nextStream)
        nextStream = next
    }

    // MARK: Bytes

    /// As `HTTP2Session` says; what was thrown once is thrown again.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        if let cause { throw cause }
        guard !hasEnded else { return }
        do { try readFrames(bytes) } catch { fail(error) }
        sendFrames()
        deliver()
        if let cause { throw cause }
    }

    /// As `HTTP2Session` says.
    package func pump() {
        guard !hasEnded else { return }
        if nextStream > Self.streamIDLast { goAway() }
        sendFrames()
        deliver()
    }

    /// As `HTTP2Session` says; what is done to the session afterwards does nothing.
    package func connectionEnded() {
        guard !hasEnded else { return }
        hasEnded = true
        body.drop()
        let code = cause?.code ?? .noError
        for slot in 0..<streams.capacity where streams[slot].isUsed {
            let neverLeft = streams[slot].outputOffset >= output.consumedTotal
            streams.decide(
                slot, errorCode: code, withoutStatus: neverLeft ? .unprocessed : .unknown)
            streams.close(slot)
        }
        deliver()
    }

    /// Ends the connection for an error, of which the peer is told.
    func fail(_ error: HTTP2Error) {
        guard cause == nil else { return }
        cause = error
        body.drop()
        control.sayGoodbye(error.code)
    }

    /// Ends a stream from our side: its request is over, and the stream as soon as the output has
    /// room.
    func reset(_ slot: Int, _ code: HTTP2ErrorCode) {
        streams.decide(slot, errorCode: code, withoutStatus: .unknown)
        guard streams[slot].isOpen, streams[slot].resetCode == nil else { return }
        streams[slot].resetCode = code
        if streams[slot].streamID == body.stream { body.drop() }
        control.reset(streams[slot].streamID)
    }

    /// The stream is over for both sides.
    func close(_ slot: Int) {
        if streams[slot].streamID == body.stream { body.drop() }
        streams.close(slot)
    }

    /// Tells the delegate what the frames have left.
    private func deliver() {
        guard settingsChanged || pongArrived || !goAways.isEmpty || streams.hasDecided else {
            return
        }
        if let delegate { return deliver(to: delegate) }
        settingsChanged = false
        pongArrived = false
        goAways = []
        while streams.popDecided() != nil {}
    }

    /// The delegate may use the session in turn, and end it.
    private func deliver(to delegate: any ClientSessionDelegate) {
        if settingsChanged {
            settingsChanged = false
            delegate.sessionSettingsChanged(self)
        }
        while !goAways.isEmpty {
            delegate.session(self, didReceiveGoAway: goAways.removeFirst())
        }
        if pongArrived {
            pongArrived = false
            delegate.sessionDidReceivePong(self)
        }
        while let stream = streams.popDecided() {
            let isResponse = stream.kind == .response
            let kept = isResponse ? Int(stream.bodyBytes) : 0
            let answer = Answer(
                kind: stream.kind, status: isResponse ? stream.status : 0,
                errorCode: stream.errorCode,
                body: streams.body(streams.lastPopped, byteCount: kept),
                retryAfterSeconds: isResponse ? Int(stream.retryAfterSeconds) : -1)
            delegate.session(self, request: stream.request, endedWith: answer)
        }
    }
}

@available(*, unavailable) extension ClientSession: Sendable {}
