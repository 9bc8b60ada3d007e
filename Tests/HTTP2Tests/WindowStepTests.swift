import HTTP2
import Testing

/// When a server gives body bytes back with WINDOW_UPDATE.
@Suite struct WindowStepTests {
    private let head = [
        (":method", "POST"), (":scheme", "https"), (":authority", "a"), (":path", "/3/device/0f"),
    ]

    /// The WINDOW_UPDATE frames after each of twelve DATA frames of 3,000 bytes.
    private func updates(stepBytes: Int) throws -> [[RawFrame]] {
        var settings = ServerSettings()
        settings.windowStepBytes = stepBytes
        let server = try ServerSession(settings: settings)
        try server.receive(RawFrame.clientPreface + RawFrame.settings().bytes)
        try server.receive(.headers(1, head))
        _ = server.takeOutput()
        let text = String(repeating: "x", count: 3_000)
        return try (1...12).map { index in
            try server.receive(.data(1, text, end: index == 12))
            var bytes = server.takeOutput()
            return RawFrame.takeAll(from: &bytes).filter { $0.kind == .windowUpdate }
        }
    }

    @Test("by itself a server waits for half of a window")
    func half() throws {
        // RFC 9113 section 6.9.2: 65,535 bytes, of which the eleventh frame is beyond the half.
        var expected = [[RawFrame]](repeating: [], count: 12)
        expected[10] = [.windowUpdate(0, 33_000), .windowUpdate(1, 33_000)]
        let updates = try updates(stepBytes: 0)
        #expect(updates.map { $0.sorted { $0.stream < $1.stream } } == expected)
    }

    @Test("a smaller step gives back as soon as that much has come")
    func step() throws {
        let updates = try updates(stepBytes: 4_096)
        for (index, frames) in updates.enumerated() {
            let both = [RawFrame.windowUpdate(0, 6_000), .windowUpdate(1, 6_000)]
            // Nothing more comes on a stream that the client has ended.
            let expected = index == 11 ? [both[0]] : index % 2 == 1 ? both : []
            #expect(frames.sorted { $0.stream < $1.stream } == expected, "frame \(index)")
        }
    }
}
