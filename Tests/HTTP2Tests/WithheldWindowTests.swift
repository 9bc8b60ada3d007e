import HTTP2
import Testing

/// A server that stops to grant room for bodies.
@Suite struct WithheldWindowTests {
    @Test("without WINDOW_UPDATE a client comes to the end of the connection's window")
    func withheld() throws {
        let pair = try Pair()
        pair.server.withholdWindowUpdates()
        pair.serverRecorder.onRequest = { session, request in
            session.respond(to: request.stream, status: 200)
        }
        var sent: UInt32 = 0
        while pair.client.submit(
            sent, path: "token", values: [""], body: String(repeating: "x", count: 4_096)) != nil
        {
            sent += 1
            try pair.run()
        }
        // RFC 9113 section 6.9.2: 65,535 bytes at first, which 15 bodies of 4,096 leave 4,095 of.
        #expect(sent == 15)
        #expect(pair.clientRecorder.answers.count == 15)
    }
}
