import Campaign
import TestSupport
import Testing

/// The checksum of a chunk, which later readings of the file are compared with.
struct RecordChunkTests {
    private func checksum(_ rows: String) throws -> UInt64 {
        let folder = TemporaryDirectory()
        let reader = try RecipientReader(
            path: folder.write("token\n" + rows, to: "r.csv"), format: .csv)
        let chunk = RecordChunk()
        _ = try reader.next(into: chunk)
        return chunk.checksum()
    }

    private func xxh64(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { XXHash64.checksum($0, seed: seed) }
    }

    // The first four are the examples of the README of python-xxhash 3, the last was made with it.
    @Test func theChecksumIsXXH64() {
        #expect(xxh64([]) == 0xEF46_DB37_51D8_E999)
        #expect(xxh64(Array("a".utf8)) == 0xD24E_C4F1_A98C_6E5B)
        #expect(xxh64(Array("xxhash".utf8), seed: 20_141_025) == 0xB559_B98D_844E_0635)
        let sentence = "Nobody inspects the spammish repetition"
        #expect(xxh64(Array(sentence.utf8)) == 0xFBCE_A83C_8A37_8BF1)
        let all = Array(UInt8.min...UInt8.max)
        #expect(xxh64(all + all + all, seed: .max) == 0x63DE_20FF_B02C_EF5E)
    }

    // Made with python-xxhash, of the rows with their number of bytes as the seed.
    @Test func theChecksumOfAChunkIsWrittenToDiskAndNeverChanges() throws {
        let rows = (1...10).map { "row \($0),x\n" }.joined()
        #expect(try checksum(rows) == 0x5441_F2A9_CFA4_3C8A)
        #expect(try checksum("y") == 0x7BF1_F340_A033_65B0)
    }

    @Test func everyBitOfTheRecordsCounts() throws {
        let rows = Array("0123456789abcdefghijklmnopqrstuvwxyz,0123456789".utf8)
        var seen: Set<UInt64> = []
        for index in rows.indices {
            for bit in 0..<7 {
                var changed = rows
                changed[index] ^= 1 << UInt8(bit)
                seen.insert(try checksum(String(decoding: changed, as: UTF8.self)))
            }
        }
        #expect(seen.count == rows.count * 7)
    }

    @Test func whatIsNotKeptStillCounts() throws {
        #expect(try checksum("\na\n") != checksum("a\n"))
        #expect(try checksum("a") != checksum("a\n"))
        let long = String(repeating: "x", count: 70_000)
        #expect(try checksum(long) != checksum(long + "x"))
    }
}
