internal import JSON

/// A notification as a person wants to read it: what the phone would show first, then how it would
/// tell of it, then the app's own fields.
///
/// The text comes from whoever may send, so what could steer a terminal is taken out.
package struct NotificationText {
    /// What stands before the first line, as a time of day.
    private let margin: String
    private var lines: [String] = []

    /// The lines for a notification as `SimulatedDevice` tells it, each with a line feed.
    ///
    /// - Parameters:
    ///   - line: the JSON object.
    ///   - margin: what stands before the first line; the others are indented to it.
    ///   - isReplacement: the device has shown one with the same collapse id before.
    package static func render(_ line: [UInt8], margin: String, isReplacement: Bool) -> String {
        guard let notification = try? JSONDocument.parse(line, dialect: .strict) else {
            return "\(margin)  (a notification that is no JSON)\n"
        }
        var text = NotificationText(margin: margin)
        text.add(notification, isReplacement: isReplacement)
        return text.rendered
    }

    /// The collapse id of a notification; nil when it has none.
    package static func collapseID(_ line: [UInt8]) -> String? {
        (try? JSONDocument.parse(line, dialect: .strict))?["collapseID"]?.asString
    }

    private init(margin: String) { self.margin = margin }

    private var rendered: String {
        let indent = String(repeating: " ", count: margin.count)
        var prefix = margin
        var text = ""
        for line in lines {
            text += "\(prefix)  \(line)\n"
            prefix = indent
        }
        return text
    }

    private mutating func add(_ notification: JSONNode, isReplacement: Bool) {
        let payload = notification["payload"]
        let aps = payload?["aps"]
        addAlert(aps?["alert"])
        if lines.isEmpty { lines.append("(nothing to show)") }
        var facts = Self.facts(notification, aps)
        if isReplacement, let id = notification["collapseID"]?.asString {
            facts.append("replaces the one before with collapse id \(Self.harmless(id))")
        }
        if !facts.isEmpty { lines.append(facts.joined(separator: ", ")) }
        for member in payload?.members ?? [] where member.key != "aps" {
            lines.append("\(Self.harmless(member.key)): \(Self.short(member.value))")
        }
    }

    private mutating func addAlert(_ alert: JSONNode?) {
        if let text = alert?.asString { return addText(text) }
        for key in ["title", "subtitle", "body"] {
            if let text = alert?[key]?.asString {
                addText(text)
            } else if let key = alert?[key == "body" ? "loc-key" : key + "-loc-key"]?.asString {
                // The phone would look it up in the app's own texts.
                addText("[\(key)]")
            }
        }
    }

    private mutating func addText(_ text: String) {
        // By code point: a CR and LF are one Character.
        for line in text.unicodeScalars.split(separator: "\n") {
            lines.append(Self.harmless(String(line)))
        }
    }

    /// "badge 3, sound default, priority 5": everything of `aps` beside the alert, and what is not
    /// usual of the rest.
    private static func facts(_ notification: JSONNode, _ aps: JSONNode?) -> [String] {
        var facts: [String] = []
        if let pushType = notification["pushType"]?.asString, pushType != "alert" {
            facts.append(harmless(pushType))
        }
        for member in aps?.members ?? [] where member.key != "alert" {
            facts.append("\(harmless(member.key)) \(short(member.value))")
        }
        if let priority = notification["priority"]?.asInt, priority != 10 {
            facts.append("priority \(priority)")
        }
        return facts
    }

    /// A text without its quotes, anything else as JSON.
    private static func short(_ node: JSONNode) -> String {
        if let text = node.asString { return harmless(text) }
        var writer = JSONWriter()
        writer.value(node)
        return harmless(String(decoding: writer.bytes, as: UTF8.self))
    }

    /// Control characters and those that turn the direction of text become U+FFFD.
    private static func harmless(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isHarmful =
                switch scalar.value {
                case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
                default: false
                }
            scalars.append(isHarmful ? "\u{FFFD}" : scalar)
        }
        return String(scalars)
    }
}
