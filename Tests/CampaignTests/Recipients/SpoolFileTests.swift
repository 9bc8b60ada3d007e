import Campaign
import Glibc
import TestSupport
import Testing

/// Standard input that comes again from its start, and the copy of which nobody knows whether it is
/// whole.
@Suite(.timeLimit(.minutes(5))) struct SpoolFileTests {
    private let folder = TemporaryDirectory()
    private var path: String { folder.path + "/input" }
    private static let content = "token\n" + (1...9).map { "row \($0)\n" }.joined()

    private func read(_ text: String) throws -> [String] {
        let pipe = TestPipe()
        pipe.send(text)
        pipe.finish()
        let reader = try RecipientReader(
            path: "-", descriptor: pipe.readEnd, format: nil, spool: try SpoolFile(resuming: path))
        return try reader.readAll(targetBytes: 64).rows.map(\.text)
    }

    /// However much of the input was copied when the run was killed, in the middle of a row too.
    @Test func whatIsMissingIsAppended() throws {
        for count in 0...Self.content.utf8.count {
            folder.write(Self.content.utf8.prefix(count), to: "input")
            #expect(try read(Self.content).count == 9)
            #expect(folder.read("input") == Array(Self.content.utf8))
        }
    }

    /// Nothing is handed out from the first piece on that differs, and the copy stays as it is.
    @Test func anotherInputIsNoticedBeforeItsRowsAreHandedOut() throws {
        let other = Self.content.replacing("row 7", with: "ROW 7")
        folder.write(Self.content, to: "input")
        let pipe = TestPipe()
        pipe.send(other)
        pipe.finish()
        let reader = try RecipientReader(
            path: "-", descriptor: pipe.readEnd, format: .csv, spool: try SpoolFile(resuming: path))
        let chunk = RecordChunk(targetBytes: 1)  // a row each
        for _ in 0..<6 { #expect(try reader.next(into: chunk)) }
        let error = #expect(throws: RecipientsError.self) { try reader.next(into: chunk) }
        #expect(error?.kind == .stopped)
        // Six bytes of header, six rows of six.
        #expect(error?.description.contains("it differs after 42 bytes") == true)
        #expect(chunk.recordCount == 0)
        #expect(folder.read("input") == Array(Self.content.utf8))
    }

    @Test func aShorterInputIsNoticed() throws {
        folder.write(Self.content, to: "input")
        let error = #expect(throws: RecipientsError.self) {
            try read(String(Self.content.dropLast(6)))
        }
        #expect(error?.kind == .stopped)
        #expect(error?.description.contains("ends after 54 bytes, and its copy has 60") == true)
    }

    @Test func aCopyThatIsMissingIsRefused() {
        let error = #expect(throws: RecipientsError.self) { try SpoolFile(resuming: path) }
        #expect(error?.kind == .refused)
    }

    /// The last record may be half of one: it is left alone, and the end is none.
    @Test(arguments: ["row 9", "row 9\r", "\"row 9\nno", "\"row 9\nno\"", ""])
    func ofATornCopyWholeRecordsAreRead(end: String) throws {
        let whole = "token\n\"a\nb\"\nc\n\n"
        let reader = try RecipientReader(
            path: folder.write(whole + end, to: "input"), format: nil, mayBeTorn: true)
        #expect(try reader.readAll().rows.map(\.text) == ["\"a\nb\"", "c"])
        #expect(!reader.isAtEnd)
        #expect(reader.isAtTornEnd)
    }
}
