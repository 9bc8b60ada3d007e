import HTTP2
import Testing

/// A client session whose server is the test itself, frame by frame.
final class RawServer {
    let client: ClientSession
    let recorder = ClientRecorder()
    private var unread: [UInt8] = []
    private var sawPreface = false

    /// Makes the session and gives it the server's first SETTINGS.
    init(
        settings: [(UInt16, UInt32)] = [], streamsMax: Int = 100, template: RequestTemplate? = nil
    ) throws {
        client = try ClientSession(template: template ?? plainTemplate, streamsMax: streamsMax)
        client.delegate = recorder
        try client.receive(.settings(settings))
        _ = take()
    }

    /// The frames that the client has sent since the last call.
    func take() -> [RawFrame] {
        unread += client.takeOutput()
        if !sawPreface {
            #expect(unread.starts(with: RawFrame.clientPreface))
            unread.removeFirst(RawFrame.clientPreface.count)
            sawPreface = true
        }
        return RawFrame.takeAll(from: &unread)
    }
}
