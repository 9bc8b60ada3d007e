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
        json.member("opened", opened.rfc3339)
        json.member("seconds", seconds, decimals: 3)
        if let address {
            json.member("address", address.description)
        }
        for (key, value) in [
            ("requests", requests), ("answered", answered),
            ("lastStreamSent", Int(streamSent)), ("lastStreamAnswered", Int(streamAnswered)),
        ] {
            json.member(key, value)
        }
        json.member("bytesSent", bytesSent)
        json.member("bytesReceived", bytesReceived)
        json.member("end", end)
        if let goAway { write(goAway, to: &json) }
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private func write(_ goAway: GoAway, to json: inout JSONWriter) {
        json.key("goAway")
        json.beginObject()
        json.member("code", goAway.errorCode.description)
        if !goAway.reason.isEmpty {
            json.member("reason", goAway.reason)
        }
        json.member("lastStream", goAway.lastStreamID)
        json.endObject()
    }
}
