internal import APNS
internal import Campaign

/// Recipients for the micro cases, and the manifest that they belong to: the rows of
/// `tools/make-recipients`, seed 1.
final class Rows {
    let work: WorkFolder
    let count: Int
    let csvPath: String
    /// The rows without a quote in them.
    let plainPath: String
    let ndjsonPath: String

    init(_ work: WorkFolder, count: Int) throws {
        self.work = work
        self.count = count
        csvPath = try makeRecipients(count, format: "csv", in: work)
        ndjsonPath = try makeRecipients(count, format: "ndjson", in: work)
        plainPath = work.path + "/plain.csv"
        let lines = textFile(csvPath).split(separator: "\n").filter { !$0.contains("\"") }
        try writeFile(plainPath, lines.joined(separator: "\n") + "\n")
    }

    /// A campaign whose payload has three placeholders.
    func campaign() throws -> Campaign {
        let path = work.path + "/micro.json"
        try writeFile(
            path,
            """
            { name: "micro", topic: "com.example.app", credentials: "development",
              recipients: "rows.csv", payload: { aps: { alert: {
                title: "Spring sale, {{first_name|just for you}}",
                body: "{{discount}} % off at our store in {{city|your town}}, today only." },
                sound: "default" } } }
            """)
        return try Campaign.load(path)
    }

    /// All records of a file as chunks in memory.
    func chunks(of path: String) throws -> (chunks: [RecordChunk], header: CSVHeader?) {
        let reader = try RecipientReader(path: path, format: RecipientFormat(fileName: path))
        var chunks: [RecordChunk] = []
        while true {
            let chunk = RecordChunk()
            guard try reader.next(into: chunk) else { return (chunks, reader.header) }
            chunks.append(chunk)
        }
    }
}

/// Writes a recipients file of unique tokens, the same in every run, and returns its path. One that
/// is there is used again.
func makeRecipients(_ rows: Int, format: String, in work: WorkFolder) throws(Failure) -> String {
    let path = "\(work.path)/recipients-\(rows).\(format)"
    if fileExists(path) { return path }
    let child = try ChildProcess(
        [
            projectRoot + "/tools/make-recipients", String(rows), "--format", format, "--seed", "1",
            "--output", path,
        ], logs: work.newLogs("make-recipients"))
    try child.waitForSuccess()
    return path
}
