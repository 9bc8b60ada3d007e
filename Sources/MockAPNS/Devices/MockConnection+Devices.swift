internal import Glibc
internal import HTTP2
internal import Transport

/// A connection's part in serving devices.
extension MockConnection {
    /// Answers a request to the pages of the devices.
    func answerDevice(_ request: ServerRequest) {
        let answer = worker.devicePages.answer(
            method: request.method, path: request.path, body: request.body,
            nowMs: wallClockMilliseconds())
        switch answer {
        case .json(let status, let json):
            json.withUnsafeBytes { respond(to: request.stream, status, body: $0) }
        case .notifications(let token):
            sendNotifications(to: token, on: request.stream)
        }
    }

    /// Asks the body of an open answer for bytes, and has them sent.
    func resume(_ stream: StreamID) {
        session.resume(stream)
        connection?.setNeedsFlush()
    }

    /// Leaves the answer open; the device gets over it what waits for it, and all that comes.
    private func sendNotifications(to token: DeviceTokenKey, on stream: StreamID) {
        guard let registry = worker.devicePages.registry else { return }
        let link = DeviceLink(token: token, mailbox: worker.mailbox)
        let standing = registry.connect(link, nowSeconds: wallClockSeconds())
        guard standing == .registered else {
            let isGone = standing != .unknown
            let refusal =
                isGone
                ? DevicePages.error(410, "this device was unregistered; register again")
                : DevicePages.error(404, DevicePages.unknownToken)
            guard case .json(let status, let json) = refusal else { return }
            return json.withUnsafeBytes { respond(to: stream, status, body: $0) }
        }
        let body = DeviceStream(
            link: link, registry: registry, stream: stream, connection: self,
            streams: worker.deviceStreams)
        worker.deviceStreams.add(body)
        var headers = ResponseHeaders()
        headers.add(ResponseField("content-type", "application/x-ndjson"))
        if !session.respond(to: stream, status: 200, headers: headers, streaming: body) {
            body.streamEnded()
        }
    }
}

/// The time of day in milliseconds since 1970.
func wallClockMilliseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}
