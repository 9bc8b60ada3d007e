internal import Campaign

/// The files that every client sends from: Peal's campaign, and the same as constants for others.
final class CampaignFiles {
    let folder: String
    let shape: Shape
    /// What the constant clients send: as many bytes as Peal's rendered payloads have on average.
    let bodyPath: String
    let bodyBytes: Int
    private let work: WorkFolder

    static let topic = "com.example.app"
    /// Those of a campaign's requests, but for `authorization`.
    static let headers = [
        ("apns-topic", topic), ("apns-push-type", "alert"), ("apns-priority", "10"),
        ("apns-expiration", "0"),
    ]

    init(_ work: WorkFolder, shape: Shape, name: String) throws {
        self.work = work
        self.shape = shape
        folder = work.makeFolder("campaign-\(name)")
        let path = folder + "/campaign.json"
        try writeFile(path, Self.manifest(shape, padding: 0))
        let bare = try Self.averageBody(path, work)
        let padding = max(0, shape.bodyBytes - Int(bare.rounded()))
        try writeFile(path, Self.manifest(shape, padding: padding))
        bodyBytes = Int(bare.rounded()) + padding
        bodyPath = folder + "/body"
        let frame = #"{"aps":{"alert":{"body":""}}}"#
        let text = String(repeating: "x", count: max(1, bodyBytes - frame.utf8.count))
        try writeFile(bodyPath, #"{"aps":{"alert":{"body":""# + text + #""}}}"#)
    }

    /// A recipients file of unique tokens.
    func recipients(_ count: Int) throws(Failure) -> String {
        try makeRecipients(count, format: "csv", in: work)
    }

    /// Its tokens alone, one per line, for clients that read no CSV.
    func tokens(_ count: Int) throws -> String {
        let path = "\(work.path)/tokens-\(count)"
        if fileExists(path) { return path }
        var text: [UInt8] = []
        for line in bytesOfFile(try recipients(count)).split(separator: 10).dropFirst() {
            text += line.prefix { $0 != UInt8(ascii: ",") } + [10]
        }
        try writeFile(path, text)
        return path
    }

    private static func manifest(_ shape: Shape, padding: Int) -> String {
        let pad = String(repeating: ".", count: padding)
        let alert =
            shape.isPersonalised
            ? """
            title: "Spring sale, {{first_name|just for you}}",
            body: "{{discount}} % off at our store in {{city|your town}}, today only.\(pad)"
            """
            : """
            title: "Spring sale, just for you", body: "30 % off at our store, today only.\(pad)"
            """
        return """
            { name: "benchmark", topic: "\(topic)", pushType: "alert", priority: 10, expiration: 0,
              environment: "sandbox", credentials: "development", recipients: "recipients.csv",
              duplicates: "skip", pacing: { mode: "unlimited" },
              payload: { aps: { alert: { \(alert) }, sound: "default" } } }
            """
    }

    /// What `RowReader` renders for the rows, on average.
    private static func averageBody(_ path: String, _ work: WorkFolder) throws -> Double {
        let rows = 5_000
        let campaign = try Campaign.load(path)
        let file = try makeRecipients(rows, format: "csv", in: work)
        let reader = try RecipientReader(path: file, format: .csv)
        let rowReader = try RowReader(campaign: campaign, format: .csv, header: reader.header)
        let chunk = RecordChunk()
        var total = 0
        while try reader.next(into: chunk) {
            for index in 0..<chunk.recordCount {
                guard rowReader.read(chunk.record(at: index)) == nil, rowReader.render() == nil
                else {
                    throw Failure("row \(index + 1) of \(file) cannot be rendered")
                }
                total += rowReader.payload.count
            }
        }
        return Double(total) / Double(rows)
    }
}
