import HTTP2

/// An answer with its body copied.
struct RecordedAnswer: Equatable {
    var request: UInt32
    var kind: AnswerKind
    var status: UInt16 = 0
    var errorCode = HTTP2ErrorCode.noError
    var body = ""
    var retryAfterSeconds = -1
}

/// A delegate that writes everything down, and does what a test asks on each answer.
final class ClientRecorder: ClientSessionDelegate {
    var answers: [RecordedAnswer] = []
    var goAways: [GoAway] = []
    var settingsCount = 0
    var pongCount = 0
    var onAnswer: ((ClientSession, RecordedAnswer) -> Void)?
    var onSettings: ((ClientSession) -> Void)?

    func session(_ session: ClientSession, request: UInt32, endedWith answer: borrowing Answer) {
        let recorded = RecordedAnswer(
            request: request, kind: answer.kind, status: answer.status,
            errorCode: answer.errorCode, body: String(decoding: answer.body, as: UTF8.self),
            retryAfterSeconds: answer.retryAfterSeconds)
        answers.append(recorded)
        onAnswer?(session, recorded)
    }

    func sessionSettingsChanged(_ session: ClientSession) {
        settingsCount += 1
        onSettings?(session)
    }

    func session(_ session: ClientSession, didReceiveGoAway goAway: GoAway) {
        goAways.append(goAway)
    }

    func sessionDidReceivePong(_ session: ClientSession) { pongCount += 1 }
}

/// A request with its bytes copied.
struct RecordedRequest: Equatable {
    var stream: StreamID
    var method: String
    var path: String
    var body: String
    var bodyBytes: Int
    var fields: [String]
}

/// A delegate that writes requests down and answers them as a test asks.
final class ServerRecorder: ServerSessionDelegate {
    var requests: [RecordedRequest] = []
    var closed: [(stream: StreamID, code: HTTP2ErrorCode)] = []
    var onRequest: ((ServerSession, ServerRequest) -> Void)?

    func session(_ session: ServerSession, received request: ServerRequest) {
        requests.append(
            RecordedRequest(
                stream: request.stream, method: text(request.method), path: text(request.path),
                body: text(request.body), bodyBytes: request.bodyBytes,
                fields: (0..<request.fieldCount).map {
                    text(request.name(at: $0)) + ": " + text(request.value(at: $0))
                }))
        onRequest?(session, request)
    }

    func session(
        _ session: ServerSession, streamClosed stream: StreamID, errorCode: HTTP2ErrorCode
    ) {
        closed.append((stream, errorCode))
    }
}

func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }

extension HTTP2Session {
    /// All bytes that wait in the output, taken away.
    func takeOutput() -> [UInt8] {
        pump()
        let bytes = Array(output.readable)
        output.consume(bytes.count)
        return bytes
    }

    func receive(_ bytes: [UInt8]) throws(HTTP2Error) {
        var failure: HTTP2Error?
        bytes.withUnsafeBytes { bytes in
            do throws(HTTP2Error) { try receive(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    func receive(_ frames: RawFrame...) throws(HTTP2Error) {
        try receive(frames.flatMap(\.bytes))
    }
}

extension ClientSession {
    /// Submits a request given as texts.
    @discardableResult
    func submit(
        _ request: UInt32, path: String = "00ff", values: [String] = [""], body: String = "{}"
    ) -> StreamID? {
        let path = Array(path.utf8)
        let body = Array(body.utf8)
        let joined = Array(values.joined().utf8)
        return path.withUnsafeBytes { path in
            body.withUnsafeBytes { body in
                joined.withUnsafeBytes { joined in
                    var start = 0
                    let parts = values.map { value in
                        defer { start += value.utf8.count }
                        return UnsafeRawBufferPointer(
                            rebasing: joined[start..<start + value.utf8.count])
                    }
                    return parts.withUnsafeBufferPointer {
                        submit(request: request, path: path, values: $0, body: body)
                    }
                }
            }
        }
    }
}

extension ServerSession {
    @discardableResult
    func respond(to stream: StreamID, _ status: UInt16, body: String = "") -> Bool {
        let body = Array(body.utf8)
        return body.withUnsafeBytes { respond(to: stream, status: status, body: $0) }
    }
}

/// A template with one constant header, one per-request header and a provider token.
let plainTemplate = RequestTemplate(
    authority: "localhost:2197", pathPrefix: "/3/device/",
    headers: [("apns-topic", "com.example.app")], perRequestHeaders: ["apns-id"],
    authorization: "bearer abc")
