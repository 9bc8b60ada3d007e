internal import APNS
internal import Glibc
internal import JSON

/// `unregistered.csv`: the tokens to remove from the sender's lists, made from the failure lines.
///
/// Columns: `token,row,reason,invalid_since`. A cell that a spreadsheet would take for a formula
/// gets an apostrophe in front.
enum UnregisteredList {
    private static let mark = "\"outcome\":\"unregistered\""

    /// - Parameter acceptedRows: with none, `BadDeviceToken` says more about the environment than
    ///   about the tokens, and such rows are left out.
    /// - Parameter counts: whether a line counts; after an ending that has found no defect, all do.
    static func write(
        from failures: String, to path: String, acceptedRows: UInt64,
        where counts: (JSONNode) -> Bool = { _ in true }
    ) throws(SendError) {
        guard let source = fopen(failures, "re") else {
            throw .file(.stopped, "read the file", failures, code: errno)
        }
        defer { fclose(source) }
        let newPath = path + ".new"
        unlink(newPath)
        let target = try AppendFile(path: newPath)
        var lines = Array("token,row,reason,invalid_since\n".utf8)
        var text: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(text) }
        while case let count = getline(&text, &capacity, source), count > 0, let text {
            guard let node = unregistered(text, count: count), counts(node),
                let entry = entry(node, acceptedRows: acceptedRows)
            else { continue }
            lines += entry
            if lines.count > 60_000 {
                try target.append(lines)
                lines.removeAll(keepingCapacity: true)
            }
        }
        try target.append(lines)
        guard rename(newPath, path) == 0 else {
            throw .file(.stopped, "replace the file", path, code: errno)
        }
    }

    /// - Parameter text: a line with its end and a zero byte after it, as `getline` gives it.
    private static func unregistered(_ text: UnsafePointer<CChar>, count: Int) -> JSONNode? {
        guard strstr(text, mark) != nil else { return nil }
        return try? JSONDocument.parse(
            UnsafeRawBufferPointer(start: text, count: count), dialect: .strict)
    }

    private static func entry(_ node: JSONNode, acceptedRows: UInt64) -> [UInt8]? {
        guard let token = node["token"]?.asString, let row = node["row"]?.asInt,
            let reason = node["reason"]?.asString
        else { return nil }
        if acceptedRows == 0, reason == FinalCode.badDeviceToken.reason { return nil }
        let since = node["invalidSince"]?.asString ?? ""
        if isOlder(since, than: node["registeredAt"]?.asString ?? "") { return nil }
        return Array("\(cell(token)),\(row),\(cell(reason)),\(since)\n".utf8)
    }

    /// Whether APNs speaks of a time before the app gave the sender this token (anew).
    private static func isOlder(_ invalidSince: String, than registeredAt: String) -> Bool {
        guard let invalid = Timestamp(rfc3339: invalidSince),
            let registered = Timestamp(rfc3339: registeredAt)
        else { return false }
        return invalid.milliseconds < registered.milliseconds
    }

    /// By scalars: CR LF is one character to Swift, and so is a sign with an accent on it.
    private static func cell(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        if let first = text.unicodeScalars.first, formulaStarts.contains(first) {
            scalars.append("'")
        }
        var needsQuotes = false
        for scalar in text.unicodeScalars {
            if scalar == "\"" { scalars.append("\"") }
            needsQuotes = needsQuotes || ",\"\n\r".unicodeScalars.contains(scalar)
            scalars.append(scalar)
        }
        return needsQuotes ? "\"\(String(scalars))\"" : String(scalars)
    }

    /// What begins a formula in one spreadsheet or another (the signs of East Asian keyboards,
    /// too), or is dropped in front of one.
    private static let formulaStarts = "=+-@\t\r\n\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".unicodeScalars
}
