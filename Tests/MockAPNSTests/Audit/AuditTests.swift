import Foundation
import HTTP2
import JSON
import TestSupport
import Testing

@testable import MockAPNS

/// What can be seen of the local APNs from outside: statistics and log.
@Suite(.timeLimit(.minutes(5)))
struct AuditTests {
    private let folder = TemporaryDirectory()

    private func statistics(_ server: MockServer) throws -> JSONNode {
        try JSONDocument.parse(server.statsJSON(), dialect: .strict)
    }

    @Test("statistics tell of faults, of each connection, and of the service's own time")
    func statistics() throws {
        let server = try startMock(
            ["reset=CANCEL every=3", "latency=5ms every=4", "goaway every=6"], in: folder, seed: 9)
        defer { server.stop() }
        let first = try MockClient(server)
        #expect(try first.statuses(5) == [200, 200, 0, 200, 200])
        let second = try MockClient(server)
        try second.submit([SampleRequest.token, SampleRequest.token])
        try second.run { second.answers.count == 2 }
        first.session.ping()
        try first.run { first.pongs == 1 }
        let node = try statistics(server)
        #expect(node["seed"]?.asInt == 9)
        #expect(node["faults"]?.members?.map(\.key) == ["latency", "reset"])
        #expect(node["faults"]?["reset"]?.asInt == 2)
        #expect(node["latency"]?["count"]?.asInt == 5)
        let maxUs = try #require(node["latency"]?["maxUs"]?.asDouble)
        let p50Us = try #require(node["latency"]?["p50Us"]?.asDouble)
        #expect(maxUs >= 5_000 && p50Us > 0 && p50Us <= maxUs)
        let connections = try #require(node["perConnection"]?.elements)
        #expect(connections.map { $0["number"]?.asInt } == [1, 2])
        #expect(connections.map { $0["open"]?.asBool } == [true, true])
        #expect(connections.map { $0["requests"]?.asInt } == [5, 2])
        #expect(connections.map { $0["resets"]?.asInt } == [1, 1])
        #expect(connections[0]["streamsOpen"]?.asInt == 0)
        // A preface has 24 bytes, a frame's head 9.
        #expect(connections[0]["bytesReceived"]?.asInt ?? 0 > 24 + 5 * 18)
        #expect(connections[0]["bytesSent"]?.asInt ?? 0 > 5 * 9)
    }

    @Test("a closed connection stays in the statistics, with its GOAWAY")
    func closedConnection() throws {
        let server = try startMock(["goaway every=2"], in: folder)
        defer { server.stop() }
        let client = try MockClient(server)
        #expect(try client.statuses(2) == [200, 200])
        try client.runToEnd()
        while server.count(.connectionsClosed) == 0 { sched_yield() }
        let connection = try #require(try statistics(server)["perConnection"]?.elements?.first)
        #expect(connection["open"]?.asBool == false)
        #expect(connection["goAways"]?.asInt == 1 && connection["requests"]?.asInt == 2)
    }

    @Test("places of closed connections are used again, the oldest first")
    func places() {
        let board = ConnectionBoard(connectionsMax: 2)
        var places = ConnectionPlaces(board: board, worker: 1, workers: 3)
        let first = places.take()
        #expect(board.value(.number, of: first) == 2)
        places.giveBack(first)
        var seen: Set<Int> = []
        for _ in 0..<board.placeCount - 1 {
            let place = places.take()
            seen.insert(place)
            places.giveBack(place)
        }
        #expect(!seen.contains(first) && board.value(.number, of: first) == 2)
        #expect(places.take() == first)
        #expect(board.value(.number, of: first) == UInt64(2 + 3 * board.placeCount))
    }

    @Test("percentiles are those of the values, within a sixteenth")
    func percentiles() {
        let parts = [ServiceLatency(), ServiceLatency()]
        for value in 1...UInt64(10_000) { parts[Int(value % 2)].record(ns: value * 100) }
        let summary = ServiceLatency.summary(parts, shares: [0.5, 0.99, 1])
        #expect(summary.count == 10_000 && summary.maxNs == 1_000_000)
        for (found, exact) in zip(summary.percentilesNs, [500_000.0, 990_000, 1_000_000]) {
            #expect(Double(found) >= exact && Double(found) <= exact * 1.063)
        }
        #expect(ServiceLatency.summary([], shares: [0.5]).percentilesNs == [0])
        parts[0].record(ns: .max)
        #expect(ServiceLatency.summary(parts, shares: [1]).maxNs == .max)
    }

    // MARK: Log

    /// The lines of a log, read by Foundation.
    private func lines(_ path: String) throws -> [[String: Any]] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test("the log has a line for each request, whatever became of it, and is private")
    func log() throws {
        let path = folder.path + "/requests.ndjson"
        let server = try startMock(
            ["silence every=3", "status=410 timestamp=5 every=4"], in: folder
        ) { $0.logFile = path }
        let client = try MockClient(server)
        let bad = "x\"y"
        try client.submit([SampleRequest.token, bad, SampleRequest.token, SampleRequest.token])
        try client.run { client.answers.count == 3 }
        server.stop()
        let found = try lines(path)
        #expect(found.map { $0["stream"] as? Int } == [1, 3, 5, 7])
        #expect(found.map { $0["status"] as? Int } == [200, 400, 0, 200])
        #expect(found.map { $0["reason"] as? String } == [nil, "BadDeviceToken", nil, nil])
        #expect(found.map { $0["fault"] as? String } == [nil, nil, "silence", nil])
        #expect(found[0]["token"] as? String == SampleRequest.token)
        #expect(found[1]["token"] as? String == "x?y")
        #expect((found[0]["apnsId"] as? String)?.count == 36)
        #expect(found.allSatisfy { $0["connection"] as? Int == 1 && $0["bytes"] as? Int == 10 })
        let times = found.compactMap { $0["timeNs"] as? UInt64 }
        #expect(times.count == 4 && times == times.sorted())
        let wallMs = try #require(found[0]["wallMs"] as? Int64)
        #expect(abs(wallMs - wallClockSeconds() * 1_000) < 60_000)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("the log of several threads loses no line and mixes none")
    func logOfThreads() throws {
        let path = folder.path + "/requests.ndjson"
        let server = try startMock([], in: folder) {
            $0.logFile = path
            $0.threads = 3
        }
        let clients = try (0..<3).map { _ in try MockClient(server) }
        for _ in 0..<5 {
            for client in clients {
                try client.submit([String](repeating: SampleRequest.token, count: 100))
            }
            for client in clients { try client.run { client.session.openRequestCount == 0 } }
        }
        server.stop()
        let found = try lines(path)
        #expect(found.count == 1_500)
        let streams = found.map { "\($0["connection"] ?? "") \($0["stream"] ?? "")" }
        #expect(Set(streams).count == 1_500)
        #expect(Set(found.compactMap { $0["connection"] as? Int }) == [1, 2, 3])
    }

    @Test("a log that takes nothing makes workers wait, and loses no byte")
    func backPressure() throws {
        let path = folder.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let log = try RequestLog(path: path)
        // Far more than a pipe and two buffers hold.
        let blockCount = 128
        let isDone = Handover<Bool>()
        let writer = Thread {
            for number in 0..<blockCount {
                [UInt8](repeating: UInt8(number), count: 65_536).withUnsafeBytes { log.append($0) }
            }
            log.close()
            isDone.put(true)
        }
        writer.start()
        _ = fcntl(reader, F_SETFL, 0)
        var counts = [Int](repeating: 0, count: blockCount)
        var block = [UInt8](repeating: 0, count: 65_536)
        while counts.reduce(0, +) < blockCount * 65_536 {
            let count = read(reader, &block, block.count)
            try #require(count > 0)
            for byte in block[..<count] { counts[Int(byte)] += 1 }
        }
        #expect(isDone.take())
        #expect(counts.allSatisfy { $0 == 65_536 } && log.failure == nil)
    }

    @Test("a log on a full disk is given up and told, and requests are answered on")
    func fullDisk() throws {
        let server = try startMock([], in: folder) { $0.logFile = "/dev/full" }
        defer { server.stop() }
        let client = try MockClient(server)
        #expect(try client.statuses(1) == [200])
        while server.logFailure == nil { sched_yield() }
        #expect(server.logFailure?.contains("No space left on device") == true)
        #expect(try client.statuses(2) == [200, 200])
        #expect(try statistics(server)["logFailure"]?.asString?.contains("/dev/full") == true)
    }

    @Test("a log that cannot be opened is refused with what to do")
    func badLog() {
        let path = folder.path + "/none/requests.ndjson"
        let error = #expect(throws: MockError.self) {
            try startMock([], in: folder) { $0.logFile = path }
        }
        #expect(error?.description.contains("--log FILE") == true)
    }
}
