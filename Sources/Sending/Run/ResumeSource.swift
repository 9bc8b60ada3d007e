internal import Campaign

/// Where the rows of a run that goes on are read again.
struct ResumeSource {
    /// A path, or "-" for standard input.
    let path: String
    /// Whether `path` is the copy of standard input whose end no start has seen.
    var isTornCopy = false
    /// Where rows are read for a second time, beside `path`.
    let copy: String

    /// The file that the user names now, or the one of the first start; for standard input, its
    /// copy, or the same input once more.
    init(
        _ options: SendOptions, _ record: RunRecord, _ earlier: EarlierPart, in folder: RunFolder
    ) throws(SendError) {
        let given = options.recipients ?? record.input
        guard given == "-" else {
            path = given
            copy = given
            return
        }
        guard record.input == "-" else {
            throw SendError(
                .refused,
                """
                --recipients -: the run reads \(record.input); leave --recipients out, or name the \
                file that holds the same rows now
                """)
        }
        copy = folder.file("input")
        if earlier.inputHasEnded {
            path = copy
        } else if options.recipients == "-" {
            path = "-"
        } else {
            path = copy
            isTornCopy = true
        }
    }

    func open(_ cancellation: ReadCancellation) throws(SendError) -> RecipientReader {
        var spool: SpoolFile?
        if path == "-" {
            do throws(RecipientsError) { spool = try SpoolFile(resuming: copy) } catch {
                throw SendError(.refused, error.description)
            }
        }
        let reader = try RunSetup.open(path, spool: spool, mayBeTorn: isTornCopy, cancellation)
        guard path == "-" || reader.bytesTotal != nil else {
            throw SendError(
                .refused,
                "\(path): a run is resumed from a file that can be read again: write it to one")
        }
        return reader
    }

    /// A second reader of the rows that were handed out.
    func openCopy(_ cancellation: ReadCancellation) throws(SendError) -> RecipientReader {
        try RunSetup.open(copy, spool: nil, mayBeTorn: path == "-" || isTornCopy, cancellation)
    }
}
