import Campaign
import Glibc
import TestSupport
import Testing

/// What is no recipients file at all.
struct RecipientOpeningTests {
    private func error(_ path: String, descriptor: Int32? = nil) -> RecipientsError? {
        do throws(RecipientsError) {
            _ = try RecipientReader(path: path, descriptor: descriptor, format: .csv)
            return nil
        } catch {
            return error
        }
    }

    @Test func aMissingFileIsRefused() {
        #expect(
            error("/nowhere/r.csv")?.description
                == "/nowhere/r.csv: there is no such file; check the path")
    }

    @Test func aFolderIsRefused() {
        let folder = TemporaryDirectory()
        #expect(
            error(folder.path)?.description
                == "\(folder.path): this is a folder, not a recipients file; name the file inside it"
        )
    }

    @Test func aPathThroughAFileIsRefusedInTheSystemsWords() {
        let folder = TemporaryDirectory()
        let path = folder.write("x", to: "file") + "/r.csv"
        #expect(error(path)?.message == "the file cannot be opened: Not a directory")
    }

    @Test func aFileWithoutReadPermissionIsRefused() {
        // Root may read everything; then there is nothing to see.
        guard geteuid() != 0 else { return }
        let folder = TemporaryDirectory()
        let path = folder.write("token\n", to: "r.csv")
        chmod(path, 0)
        #expect(error(path)?.message == "the file may not be read")
    }

    @Test func aClosedStandardInputIsRefused() {
        let found = error("-", descriptor: 1_000_000)
        #expect(
            found?.description == "standard input: it is closed; redirect a file or a pipe to it")
    }

    @Test(arguments: [RecipientFormat.csv, .ndjson])
    func anEmptyFileIsRefused(_ format: RecipientFormat) throws {
        let error = try #require(openingError([], format: format))
        #expect(error.kind == .refused)
        #expect(error.message == "it is empty")
    }

    @Test(
        arguments: [
            (
                [0x1F, 0x8B, 0x08],
                "gzip data, which is not yet supported; unpack it on the way: zcat"
            ),
            ([0x28, 0xB5, 0x2F, 0xFD, 0x24], "zstd data, which is not yet supported"),
            (
                [0xFF, 0xFE, 0x74, 0x00],
                "text in UTF-16, not in UTF-8; convert it: iconv -f UTF-16"
            ),
            (
                [0xFE, 0xFF, 0x00, 0x74],
                "text in UTF-16, not in UTF-8; convert it: iconv -f UTF-16"
            ),
            ([0x50, 0x4B, 0x03, 0x04, 0x14], "a ZIP archive or a spreadsheet, not text"),
        ] as [([UInt8], String)])
    func whatIsNoTextIsRefusedWithTheWayToConvertIt(_ bytes: [UInt8], _ text: String) throws {
        for format in [RecipientFormat.csv, .ndjson] {
            let error = try #require(openingError(bytes, format: format))
            #expect(error.description.contains(": this is \(text)"))
        }
    }

    @Test func theFormatFollowsTheFileName() {
        #expect(RecipientFormat(fileName: "a/b.CSV") == .csv)
        #expect(RecipientFormat(fileName: "b.ndjson") == .ndjson)
        #expect(RecipientFormat(fileName: "b.jsonl") == .ndjson)
        #expect(RecipientFormat(fileName: "b.csv.gz") == nil)
    }
}
