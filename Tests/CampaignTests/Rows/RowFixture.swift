import APNS
import Campaign
import Foundation
import JSON

/// What became of one row.
struct RenderedRow: Equatable {
    var payload = ""
    var collapseID = ""
    var code: FinalCode?
    var column = 0
    var detail: String?
}

let goodToken = String(repeating: "0aF1", count: 16)

/// Reads rows of a campaign that `CampaignFixture` makes.
final class RowFixture {
    let reader: RowReader

    /// `columns` nil: NDJSON.
    init(_ changes: [String: String?], columns: [String]?) throws {
        let campaign = try CampaignFixture(changes).load()
        reader = try RowReader(
            campaign: campaign, format: columns == nil ? .ndjson : .csv,
            header: columns.map { CSVHeader(names: $0) })
    }

    func row(_ record: String) -> RenderedRow { row(Array(record.utf8)) }

    func row(_ record: [UInt8]) -> RenderedRow {
        record.withUnsafeBytes { bytes in
            if let problem = reader.read(bytes) ?? reader.render() {
                return RenderedRow(
                    code: problem.code, column: problem.column, detail: problem.detail)
            }
            return RenderedRow(
                payload: String(decoding: reader.payload, as: UTF8.self),
                collapseID: String(decoding: reader.collapseID, as: UTF8.self))
        }
    }

    /// A CSV row of the good token and `fields`, each in quotes.
    func csv(_ fields: String...) -> RenderedRow {
        let quoted = fields.map { "\"" + $0.split("\"").joined(separator: "\"\"") + "\"" }
        return row(([goodToken] + quoted).joined(separator: ","))
    }

    /// An NDJSON row of the good token and `members`, such as `"a":1`.
    func json(_ members: String) -> RenderedRow {
        row("{\"token\":\"\(goodToken)\"\(members.isEmpty ? "" : ",")\(members)}")
    }
}

extension String {
    /// The parts between separators, by code points (Swift's own functions go by grapheme).
    fileprivate func split(_ separator: Unicode.Scalar) -> [String] {
        unicodeScalars.split(separator: separator, omittingEmptySubsequences: false)
            .map { String($0) }
    }
}

/// The JSON of a payload as Foundation, an independent program, reads it.
func foundationObject(_ json: String) throws -> [String: Any] {
    let value = try JSONSerialization.jsonObject(with: Data(json.utf8))
    return value as? [String: Any] ?? [:]
}
