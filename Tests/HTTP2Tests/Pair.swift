import HTTP2
import TestSupport

/// A client and a server session, joined in memory: what one writes, the other reads in pieces of
/// any size.
final class Pair {
    let client: ClientSession
    let server: ServerSession
    let clientRecorder = ClientRecorder()
    let serverRecorder = ServerRecorder()
    /// The size of the next piece; whole outputs by default.
    var pieceBytes: () -> Int = { Int.max }

    init(
        settings: ServerSettings = ServerSettings(), template: RequestTemplate = plainTemplate,
        streamsMax: Int = 1_500
    ) throws {
        client = try ClientSession(template: template, streamsMax: streamsMax)
        server = try ServerSession(settings: settings)
        client.delegate = clientRecorder
        server.delegate = serverRecorder
        try run()
    }

    /// Moves bytes until neither side has any.
    func run() throws {
        while try step() {}
    }

    /// Moves one piece each way; false when nothing moved.
    func step() throws -> Bool {
        let sent = try move(from: client, to: server)
        let received = try move(from: server, to: client)
        return sent || received
    }

    private func move(from: any HTTP2Session, to: any HTTP2Session) throws -> Bool {
        from.pump()
        let count = min(from.output.count, pieceBytes())
        guard count > 0 else { return false }
        let piece = Array(from.output.readable.prefix(count))
        from.output.consume(count)
        try to.receive(piece)
        return true
    }
}
