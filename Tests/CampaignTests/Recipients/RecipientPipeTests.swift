import Campaign
import Glibc
import TestSupport
import Testing

/// Standard input: waiting, spooling, cancelling.
@Suite(.timeLimit(.minutes(5)))
struct RecipientPipeTests {
    private let folder = TemporaryDirectory()
    private let pipe = TestPipe()
    private var spool: String { folder.path + "/recipients" }
    private var spooled: String? {
        folder.read("recipients").map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func aSlowPipeHandsOutItsWholeRecordsAfterFiftyMilliseconds() throws {
        pipe.send("\u{FEFF}token,x\na,1\n\nb,2\nc,")
        let reader = try RecipientReader(
            path: "-", descriptor: pipe.readEnd, format: .csv, spool: try SpoolFile(creating: spool)
        )
        #expect(reader.bytesTotal == nil)
        #expect(spooled == "\u{FEFF}token,x\n")
        let chunk = RecordChunk()
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try reader.next(into: chunk))
        #expect(clock.now - start >= .milliseconds(50))
        #expect(chunk.rows.map(\.text) == ["a,1", "b,2"])
        #expect(spooled == "\u{FEFF}token,x\na,1\n\nb,2\n")
        #expect(!reader.isAtEnd)

        pipe.send("3\r\n\n")
        pipe.finish()
        #expect(try reader.next(into: chunk))
        #expect(chunk.rows.map(\.text) == ["c,3"])
        #expect(chunk.firstRow == 3 && chunk.firstLine == 5)
        #expect(try !reader.next(into: chunk))
        #expect(reader.isAtEnd)
        #expect(spooled == "\u{FEFF}token,x\na,1\n\nb,2\nc,3\r\n\n")
        try reader.spool?.sync()
    }

    @Test func theSpoolIsAWholeCopyThatOnlyItsOwnerReads() throws {
        let content =
            "token\n" + String(repeating: "some row of text\n\n", count: 20_000)
            + String(repeating: "x", count: 500_000) + "\nlast"
        let (pipe, bytes) = (pipe, Array(content.utf8))
        let writer = TestThread {
            pipe.send(bytes)
            pipe.finish()
        }
        let reader = try RecipientReader(
            path: "-", descriptor: pipe.readEnd, format: .csv, spool: try SpoolFile(creating: spool)
        )
        #expect(try reader.readAll().rows.count == 20_002)
        writer.join()
        #expect(folder.read("recipients") == bytes)
        var status = stat()
        #expect(stat(spool, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func aSpoolThatExistsIsNotOverwritten() throws {
        folder.write("precious", to: "recipients")
        pipe.send("token\n")
        let error = try #require(throws: RecipientsError.self) {
            try RecipientReader(
                path: "-", descriptor: pipe.readEnd, format: .csv,
                spool: try SpoolFile(creating: spool))
        }
        #expect(error.kind == .refused && error.file == spool)
        #expect(spooled == "precious")
        pipe.finish()
    }

    @Test func aDiskThatIsFullStopsTheReaderBeforeAnythingOfTheChunkIsHandedOut() async {
        // A limit of the process stands in for the disk, so this happens in a process of its own;
        // it holds only while `next` runs, because the test's record of events is a file too.
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let folder = TemporaryDirectory()
            let pipe = TestPipe()
            pipe.send("token\n" + String(repeating: "0123456789\n", count: 20))
            pipe.finish()
            let reader = try RecipientReader(
                path: "-", descriptor: pipe.readEnd, format: .csv,
                spool: try SpoolFile(creating: folder.path + "/recipients"))
            let chunk = RecordChunk(targetBytes: 6 * 32)  // room for 6 records
            #expect(try withFileLimit(100) { try reader.next(into: chunk) })
            #expect(chunk.recordCount == 6)
            for _ in 0..<2 {
                let error = #expect(throws: RecipientsError.self) {
                    try withFileLimit(100) { try reader.next(into: chunk) }
                }
                #expect(error?.kind == .stopped)
                #expect(chunk.recordCount == 0)
            }
            // Whole records only: what was written of the second chunk is gone again.
            #expect(folder.read("recipients")?.count == 6 + 6 * 11)
        }
    }

    @Test func anEndlessLineNeedsNoMemory() async {
        // In a process of its own, where nothing else takes memory meanwhile.
        await #expect(processExitsWith: .success) {
            let pipe = TestPipe()
            let writer = TestThread {
                pipe.send("token\nfirst\n")
                let mebibyte = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
                for _ in 0..<256 { pipe.send(mebibyte) }
                pipe.send("\nlast\n")
                pipe.finish()
            }
            let reader = try RecipientReader(path: "-", descriptor: pipe.readEnd, format: .csv)
            let before = anonymousKiB()
            let rows = try reader.readAll().rows
            #expect(rows.map(\.line) == [2, 3, 4])
            #expect(rows.map(\.bytes.count) == [5, 65_536, 4])
            #expect(reader.bytesRead == (256 << 20) + 18)
            #expect(before > 0 && anonymousKiB() < before + 16_384)
            writer.join()
        }
    }

    @Test func aCancellationEndsAWaitForRows() throws {
        let cancellation = ReadCancellation()
        pipe.send("token\n")
        let reader = try RecipientReader(
            path: "-", descriptor: pipe.readEnd, format: .csv, cancellation: cancellation)
        let canceller = TestThread { cancellation.cancel() }
        let chunk = RecordChunk()
        #expect(try !reader.next(into: chunk))
        #expect(!reader.isAtEnd && chunk.recordCount == 0)
        #expect(try !reader.next(into: chunk))
        canceller.join()
        pipe.finish()
    }

    @Test func aCancellationEndsAWaitForTheHeader() throws {
        let cancellation = ReadCancellation()
        let canceller = TestThread { cancellation.cancel() }
        pipe.send("tok")
        let error = try #require(throws: RecipientsError.self) {
            try RecipientReader(
                path: "-", descriptor: pipe.readEnd, format: .csv, cancellation: cancellation)
        }
        #expect(error.kind == .interrupted)
        canceller.join()
        pipe.finish()
    }

    @Test func aCancellationEndsTheReadingOfAFile() throws {
        let cancellation = ReadCancellation()
        let path = folder.write("token\n" + String(repeating: "row\n", count: 1000), to: "r.csv")
        let reader = try RecipientReader(path: path, format: .csv, cancellation: cancellation)
        let chunk = RecordChunk(targetBytes: 40)
        #expect(try reader.next(into: chunk))
        cancellation.cancel()
        #expect(try !reader.next(into: chunk))
        #expect(!reader.isAtEnd)
    }

    @Test func anEmptyPipeIsRefused() throws {
        pipe.finish()
        let error = try #require(throws: RecipientsError.self) {
            try RecipientReader(path: "-", descriptor: pipe.readEnd, format: .ndjson)
        }
        #expect(error.description.hasPrefix("standard input: it is empty; "))
    }

    @Test func aPipeThatDoesNotBlockIsWaitedFor() throws {
        _ = fcntl(pipe.readEnd, F_SETFL, O_NONBLOCK)
        let pipe = pipe
        let writer = TestThread {
            for piece in ["to", "ken\n", "a", "\n"] { pipe.send(piece) }
            pipe.finish()
        }
        let reader = try RecipientReader(path: "-", descriptor: pipe.readEnd, format: .csv)
        #expect(try reader.readAll().rows.map(\.text) == ["a"])
        writer.join()
    }
}

/// Runs the body while no file of this process can grow beyond so many bytes.
private func withFileLimit<Result>(_ bytes: UInt, _ body: () throws -> Result) rethrows -> Result {
    let fileSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    var old = rlimit()
    getrlimit(fileSize, &old)
    var new = rlimit(rlim_cur: rlim_t(bytes), rlim_max: old.rlim_max)
    setrlimit(fileSize, &new)
    defer { setrlimit(fileSize, &old) }
    return try body()
}

/// Anonymous memory of this process in KiB; 0 where the kernel does not tell.
private func anonymousKiB() -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, file) != nil {
        let text = String(
            decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        if text.hasPrefix("RssAnon:") { return Int(text.filter(\.isNumber)) ?? 0 }
    }
    return 0
}
