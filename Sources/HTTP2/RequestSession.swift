internal import CNghttp2

/// Hears of the answers of a request session. The calls come from inside `receive`, `pump` and
/// `connectionEnded`, on the session's thread, and may submit.
package protocol RequestSessionDelegate: AnyObject {
    /// The headers of an answer are here; its body follows.
    func session(_ session: RequestSession, stream: StreamID, answeredWith status: UInt16)

    /// The next bytes of an answer's body. *Ownership*: valid during the call only.
    func session(
        _ session: RequestSession, stream: StreamID, received bytes: UnsafeRawBufferPointer)

    /// The stream is over: complete when `errorCode` is `noError` and the connection still stands.
    func session(_ session: RequestSession, streamEnded stream: StreamID, errorCode: HTTP2ErrorCode)
}

/// The client's side of a connection for requests of any kind with answers of any length: a phone's
/// open stream of notifications, a page that is read.
///
/// It is made for few requests and copies freely; `ClientSession` is the one for many alike.
///
/// *Thread*: one. *Limits*: `streamsMax` requests open at a time, 16 KiB of a request's body; of an
/// answer only what is in one read is held.
package final class RequestSession: HTTP2Session {
    package static let streamsMax = 16
    package static let bodyBytesMax = 16_384

    package let output: OutputBuffer
    package weak var delegate: (any RequestSessionDelegate)?

    let handle: NGHTTP2Handle
    /// Why the connection cannot go on.
    var cause: HTTP2Error?
    private(set) var hasEnded = false
    /// The peer has not yet answered the last `ping`.
    package private(set) var isPingOut = false
    private var isInsideNGHTTP2 = false
    /// Requests that are not over, with what is left of their bodies.
    var bodies: [Int32: ArraySlice<UInt8>] = [:]
    /// Whether the headers that arrive are those of an answer, and their status.
    var headStatus: UInt16 = 0

    /// Makes a session; its preface and SETTINGS come with the first `pump`.
    package init() throws(HTTP2Error) {
        let handle = try NGHTTP2Handle(role: .client, addCallbacks: addRequestCallbacks)
        self.handle = handle
        output = OutputBuffer(capacityBytes: 65_536)
        // Unretained: the handle, and so nghttp2, lives no longer than this object.
        nghttp2_session_set_user_data(self.handle.raw, Unmanaged.passUnretained(self).toOpaque())
        var settings = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)
        let result = nghttp2_submit_settings(self.handle.raw, 0, &settings, 1)
        guard result == 0 else { throw NGHTTP2Handle.error(result) }
    }

    package var failure: HTTP2Error? { cause }
    package var openStreamCount: Int { bodies.count }

    package var isFinished: Bool {
        hasEnded || (output.count == 0 && !handle.wantsRead && !handle.wantsWrite)
    }

    /// Submits a request, which leaves with the next `pump`; nil when the session cannot take one
    /// now.
    package func submit(
        method: String, authority: String, path: String, headers: [(String, String)] = [],
        body: [UInt8] = []
    ) -> StreamID? {
        guard !hasEnded, cause == nil, bodies.count < Self.streamsMax,
            body.count <= Self.bodyBytesMax
        else { return nil }
        let fields =
            [
                (":method", method), (":scheme", "https"), (":authority", authority),
                (":path", path),
            ] + headers.map { ($0.0.lowercased(), $0.1) }
        var provider = nghttp2_data_provider()
        provider.read_callback = readRequestBody
        let stream = withFields(fields) { list in
            withUnsafePointer(to: &provider) { provider in
                nghttp2_submit_request(
                    handle.raw, nil, list.baseAddress, list.count, body.isEmpty ? nil : provider,
                    nil)
            }
        }
        guard stream > 0 else { return nil }
        bodies[stream] = body[...]
        return StreamID(rawValue: stream)
    }

    /// Asks the peer for a sign of life: `isPingOut` is true until it comes. One is out at a time.
    package func ping() {
        guard !isPingOut, !hasEnded else { return }
        isPingOut = nghttp2_submit_ping(handle.raw, 0, nil) == 0
    }

    /// The peer has answered a ping.
    func onPong() { isPingOut = false }

    /// Ends politely: no more requests, the open ones go on.
    package func goAway() {
        guard !hasEnded else { return }
        nghttp2_submit_goaway(handle.raw, 0, 0, HTTP2ErrorCode.noError.rawValue, nil, 0)
    }

    /// Takes bytes from the peer; see `HTTP2Session`.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        precondition(!isInsideNGHTTP2, "receive was called from inside a session")
        if let cause { throw cause }
        guard !hasEnded else { return }
        var thrown: HTTP2Error?
        isInsideNGHTTP2 = true
        do { try handle.receive(bytes) } catch { thrown = error }
        isInsideNGHTTP2 = false
        if let thrown, cause == nil {
            cause = thrown
            nghttp2_session_terminate_session(handle.raw, thrown.code.rawValue)
        }
        pump()
        if let cause { throw cause }
    }

    /// Moves frames into `output`.
    package func pump() {
        guard !isInsideNGHTTP2, !hasEnded else { return }
        isInsideNGHTTP2 = true
        defer { isInsideNGHTTP2 = false }
        do { _ = try handle.send(into: output) } catch { if cause == nil { cause = error } }
    }

    /// Every open request gets its end.
    package func connectionEnded() {
        guard !hasEnded else { return }
        hasEnded = true
        let open = bodies.keys.sorted()
        bodies = [:]
        for stream in open {
            delegate?.session(
                self, streamEnded: StreamID(rawValue: stream),
                errorCode: cause?.code ?? .cancel)
        }
    }

    /// Lends the fields in nghttp2's form, which copies them.
    private func withFields<Result>(
        _ fields: [(String, String)], _ body: (UnsafeBufferPointer<nghttp2_nv>) -> Result
    ) -> Result {
        var bytes = fields.flatMap { Array($0.0.utf8) + Array($0.1.utf8) }
        return bytes.withUnsafeMutableBufferPointer { bytes in
            var offset = 0
            let list = fields.map { name, value in
                defer { offset += name.utf8.count + value.utf8.count }
                return nghttp2_nv(
                    name: bytes.baseAddress.map { $0 + offset },
                    value: bytes.baseAddress.map { $0 + offset + name.utf8.count },
                    namelen: name.utf8.count, valuelen: value.utf8.count, flags: 0)
            }
            return list.withUnsafeBufferPointer(body)
        }
    }
}

@available(*, unavailable) extension RequestSession: Sendable {}
