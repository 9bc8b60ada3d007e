internal import EventLoop
internal import HTTP2
internal import JSON

/// What is told of a connection that has ended: one line of `connections.ndjson`.
struct ConnectionRecord {
    /// When it was begun.
    var opened: Timestamp
    var seconds: Double
    /// The address that took it; nil when none did.
    var address: SocketAddress?
    var requests: Int
    var answered: Int
    /// The numbers of the latest streams that a request went out on and that was answered; 0: none.
    var streamSent: Int32
    var streamAnswered: Int32
    var bytesSent: UInt64
    var bytesReceived: UInt64
    /// The first cause, in words.
    var end: String
    var goAway: GoAway?

    /// The line, with its end.
    var line: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("opened")
        json.string(opened.rfc3339)
        json.key("seconds")
        json.number((seconds * 1000).rounded() / 1000)
        if let address {
            json.key("address")
            json.string(address.description)
        }
        for (key, value) in [
            ("requests", requests), ("answered", answered),
            ("lastStreamSent", Int(streamSent)), ("lastStreamAnswered", Int(streamAnswered)),
        ] {
            json.key(key)
            json.number(value)
        }
        json.key("bytesSent")
        json.number(bytesSent)
        json.key("bytesReceived")
        json.number(bytesReceived)
        json.key("end")
        json.string(end)
        if let goAway { write(goAway, to: &json) }
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private func write(_ goAway: GoAway, to json: inout JSONWriter) {
        json.key("goAway")
        json.beginObject()
        json.key("code")
        json.string(goAway.errorCode.description)
        if !goAway.reason.isEmpty {
            json.key("reason")
            json.string(goAway.reason)
        }
        json.key("lastStream")
        json.number(goAway.lastStreamID)
        json.endObject()
    }
}
