internal import JSON

/// A notification as a phone would show it, drawn with characters, and beneath it what a phone does
/// not show: sound, badge, the app's own fields.
struct PhoneText {
    /// As wide as a phone's text is at most; the rest would be air.
    private static let columnsMax = 50
    /// A phone shows four lines and the rest on a tap; a text of more is shown whole up to here.
    private static let linesMax = 24

    private let payload: JSONNode?
    private let topic: String
    private let columns: Int

    /// The lines; `columns` is the width to keep within.
    static func lines(payload: [UInt8], topic: String, columns: Int) -> [String] {
        let phone = PhoneText(
            payload: try? JSONDocument.parse(payload, dialect: .strict), topic: topic,
            columns: max(20, min(columns, columnsMax)))
        return phone.box + phone.facts
    }

    private var aps: JSONNode? { payload?["aps"] }

    // MARK: What is shown

    private var box: [String] {
        let inner = columns - 4
        let app = ScreenText.padded(ScreenText.harmless(topic), to: inner - 4)
        var shown = texts.flatMap { ScreenText.wrapped($0, to: inner) }
        if shown.isEmpty { shown = ScreenText.wrapped("(\(nothingShown))", to: inner) }
        if shown.count > Self.linesMax { shown = shown.prefix(Self.linesMax - 1) + ["…"] }
        let edge = String(repeating: "─", count: inner + 2)
        return ["╭\(edge)╮"]
            + ([app + " now"] + shown).map { "│ \(ScreenText.padded($0, to: inner)) │" }
            + ["╰\(edge)╯"]
    }

    private var texts: [String] {
        let alert = aps?["alert"]
        if let text = alert?.asString { return [text] }
        return ["title", "subtitle", "body"].compactMap { key in
            if let text = alert?[key]?.asString { return text }
            // The phone looks it up in the app's own texts.
            let prefix = key == "body" ? "" : key + "-"
            guard let name = alert?[prefix + "loc-key"]?.asString else { return nil }
            let values = alert?[prefix + "loc-args"]?.elements?.map(Self.short) ?? []
            return "[\(([name] + values).joined(separator: ", "))]"
        }.filter { !$0.isEmpty }
    }

    private var nothingShown: String {
        aps?["content-available"] != nil
            ? "nothing to see: the app is woken in the background"
            : "nothing to see but what the app shows"
    }

    // MARK: What is not

    private var facts: [String] {
        let words = ["thread-id": "thread", "interruption-level": "level"]
        let ofAPS = (aps?.members ?? []).filter { $0.key != "alert" }.map { member in
            "\(words[member.key] ?? member.key): \(Self.short(member.value))"
        }
        let ofApp = (payload?.members ?? []).filter { $0.key != "aps" }.map { member in
            "\(member.key): \(Self.short(member.value))"
        }
        return (ofAPS + ofApp).map { ColumnWidth.truncated(ScreenText.harmless($0), to: columns) }
    }

    /// A text without its quotes, anything else as JSON.
    private static func short(_ node: JSONNode) -> String {
        if let text = node.asString { return text }
        var writer = JSONWriter()
        writer.value(node)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
