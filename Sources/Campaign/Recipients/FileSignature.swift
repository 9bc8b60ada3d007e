/// Recognises files that are not text in UTF-8 by their first bytes.
enum FileSignature {
    /// Bytes that decide.
    static let bytesMax = 4

    /// Bytes of a UTF-8 byte order mark at the front (3, or 0 without one).
    static func markBytes(of front: UnsafeRawBufferPointer) -> Int {
        front.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    }

    /// Why a file that begins so cannot be read; nil when nothing speaks against it.
    static func refusal(of front: UnsafeRawBufferPointer, file: String) -> RecipientsError? {
        if front.starts(with: [0x1F, 0x8B]) {
            return compressed(file, name: "gzip", tool: "zcat")
        }
        if front.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
            return compressed(file, name: "zstd", tool: "zstdcat")
        }
        if front.starts(with: [0xFF, 0xFE]) || front.starts(with: [0xFE, 0xFF]) {
            return RecipientsError(
                .refused, file: file, message: "this is text in UTF-16, not in UTF-8",
                remedy: "convert it: iconv -f UTF-16 -t UTF-8")
        }
        if front.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
            return RecipientsError(
                .refused, file: file, message: "this is a ZIP archive or a spreadsheet, not text",
                remedy: "unpack it, or export the sheet as CSV in UTF-8")
        }
        return nil
    }

    private static func compressed(_ file: String, name: String, tool: String) -> RecipientsError {
        RecipientsError(
            .refused, file: file, message: "this is \(name) data, which is not yet supported",
            remedy: "unpack it on the way: \(tool) FILE | peal send CAMPAIGN --recipients -")
    }
}
