import HTTP2
import Testing

/// The peer's header table, which it may make smaller and larger at any time (RFC 7541, section
/// 4.2): what the blocks say about it, and what they put into it.
@Suite struct HeaderTableTests {
    // The constants of `plainTemplate` in the table (RFC 7541, section 4.1): name, value and 32.
    private static let authorityBytes = UInt32(10 + 14 + 32)
    private static let topicBytes = UInt32(10 + 15 + 32)

    private func tableSize(_ sizes: UInt32...) -> RawFrame { .settings(sizes.map { (1, $0) }) }

    /// How the next request's fields are represented: updates of the size, then seven fields.
    private func nextBlock(_ server: RawServer) throws -> [Representation] {
        _ = server.take()
        server.client.submit(1, values: ["11111111"])
        let frames = server.take().filter { $0.kind == .headers }
        return Representation.list(try #require(frames.first).payload)
    }

    /// :authority and apns-topic.
    private func constants(_ block: [Representation]) -> [Representation] {
        let fields = block.filter { if case .sizeUpdate = $0 { false } else { true } }
        return [fields[2], fields[4]]
    }

    private let asInserted = [
        Representation.incremental(nameIndex: 1), .incremental(nameIndex: 0),
    ]
    private let asPlain = [Representation.unindexed(nameIndex: 1), .unindexed(nameIndex: 0)]
    private let asIndexed = [Representation.indexed(63), .indexed(62)]

    @Test func withoutATableNothingIsIndexed() throws {
        let server = try RawServer(settings: [(1, 0)])
        let first = try nextBlock(server)
        #expect(first.first == .sizeUpdate(0) && constants(first) == asPlain)
        let second = try nextBlock(server)
        #expect(second.count == 7 && constants(second) == asPlain)
    }

    @Test func aTableThatIsTakenAwayAndGivenBackIsFilledAnew() throws {
        let server = try RawServer()
        #expect(try constants(nextBlock(server)) == asInserted)
        #expect(try constants(nextBlock(server)) == asIndexed)

        try server.client.receive(tableSize(0))
        let without = try nextBlock(server)
        #expect(without.first == .sizeUpdate(0) && constants(without) == asPlain)

        try server.client.receive(tableSize(4_096))
        let with = try nextBlock(server)
        #expect(with.first == .sizeUpdate(4_096) && constants(with) == asInserted)
        #expect(try constants(nextBlock(server)) == asIndexed)
    }

    /// The smallest size between two blocks is said, then the final one.
    @Test(arguments: [true, false]) func downAndUpBetweenTwoBlocksIsSaid(inOneFrame: Bool) throws {
        let server = try RawServer()
        _ = try nextBlock(server)
        if inOneFrame {
            try server.client.receive(tableSize(3_000, 0, 2_000))
        } else {
            try server.client.receive(tableSize(3_000), tableSize(0), tableSize(2_000))
        }
        let block = try nextBlock(server)
        #expect(Array(block.prefix(2)) == [.sizeUpdate(0), .sizeUpdate(2_000)])
        #expect(constants(block) == asInserted)
        #expect(try constants(nextBlock(server)) == asIndexed)
    }

    @Test func whatDoesNotFitStaysALiteral() throws {
        let both = Self.authorityBytes + Self.topicBytes
        let server = try RawServer(settings: [(1, both - 1)])
        let expected = [Representation.incremental(nameIndex: 1), .unindexed(nameIndex: 0)]
        #expect(try constants(nextBlock(server)) == expected)
        #expect(try constants(nextBlock(server)) == [.indexed(62), .unindexed(nameIndex: 0)])
        try server.client.receive(tableSize(both))
        #expect(try constants(nextBlock(server)) == asInserted)
        #expect(try constants(nextBlock(server)) == asIndexed)
    }

    @Test func alargerTableIsNotUsedAndNotMentioned() throws {
        let server = try RawServer(settings: [(1, 1_000_000)])
        let block = try nextBlock(server)
        #expect(block.count == 7 && constants(block) == asInserted)
        try server.client.receive(tableSize(4_096), tableSize(UInt32.max))
        #expect(try constants(nextBlock(server)) == asIndexed)
    }

    /// The acknowledgement comes before the block that heeds what it acknowledges.
    @Test func theAcknowledgementGoesBeforeTheBlock() throws {
        let server = try RawServer()
        server.client.submit(1)
        try server.client.receive(tableSize(0))
        server.client.submit(2)
        let frames = server.take()
        #expect(frames.map(\.kind) == [.headers, .data, .settings, .headers, .data])
        #expect(frames[2] == .settingsAck)
        #expect(Representation.list(frames[0].payload).first == .indexed(3))
        #expect(Representation.list(frames[3].payload).first == .sizeUpdate(0))
    }

    /// A request that ends badly leaves the table as it is: its block has been read.
    @Test func resetsAndRefusalsLeaveTheTableAlone() throws {
        let server = try RawServer()
        let stream = try #require(server.client.submit(1))
        server.client.cancel(stream)
        server.client.submit(2)
        try server.client.receive(.reset(3, 7))
        #expect(try constants(nextBlock(server)) == asIndexed)
    }

    /// More constants than a table of 4,096 bytes holds: the rest are literals every time, and a
    /// real decoder reads them all.
    @Test func aTemplateLargerThanTheTableIsUnderstood() throws {
        let headers = (0..<60).map { ("x-\($0)", String(repeating: "v", count: 60)) }
        let template = RequestTemplate(
            authority: "localhost", pathPrefix: "/", headers: headers,
            authorization: String(repeating: "a", count: 300))
        var settings = ServerSettings()
        settings.headerListBytesMax = 16_384
        let pair = try Pair(settings: settings, template: template)
        for request: UInt32 in 0..<5 {
            #expect(pair.client.submit(request, path: "p", values: []) != nil)
            try pair.run()
        }
        let requests = pair.serverRecorder.requests
        #expect(requests.count == 5)
        #expect(requests.allSatisfy { $0.fields == requests[0].fields })
        for (name, value) in headers {
            #expect(requests[0].fields.contains("\(name): \(value)"))
        }
    }
}
