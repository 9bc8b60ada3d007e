/// Writes HTML that is well-formed XML, too. Text and values of attributes are always escaped:
/// there is no other way to write them, so nothing from outside can become markup.
struct HTMLWriter {
    /// What was written so far.
    private(set) var text = "<!DOCTYPE html>\n"

    /// Writes an element with what `body` writes between its tags.
    mutating func element(
        _ name: StaticString, _ attributes: KeyValuePairs<String, String> = [:],
        _ body: (inout HTMLWriter) -> Void
    ) {
        begin(name, attributes)
        text += ">"
        body(&self)
        text += "</\(name)>"
        if Self.isBlock(name) { text += "\n" }
    }

    /// Writes an element with text in it.
    mutating func element(
        _ name: StaticString, _ attributes: KeyValuePairs<String, String>, _ content: String
    ) {
        element(name, attributes) { $0.write(content) }
    }

    /// Writes an element without attributes and with text in it.
    mutating func element(_ name: StaticString, _ content: String) {
        element(name, [:]) { $0.write(content) }
    }

    /// Writes an element that has nothing in it.
    mutating func empty(_ name: StaticString, _ attributes: KeyValuePairs<String, String> = [:]) {
        begin(name, attributes)
        text += "/>"
    }

    /// Writes text.
    mutating func write(_ content: String) { text += Self.escaped(content) }

    /// Writes a name such as "BadDeviceToken", which a line may break between its words.
    mutating func words(_ name: String) {
        var word = ""
        for character in name {
            if character.isUppercase, word.last?.isLowercase == true {
                write(word)
                text += "<wbr/>"
                word = ""
            }
            word.append(character)
        }
        write(word)
    }

    /// Writes text from outside: cleaned, and apart from its surroundings where it is written from
    /// right to left.
    mutating func outside(_ content: String) {
        element("bdi", OutsideText.cleaned(content))
    }

    /// Writes a figure of `summary.json`: as people read it, and as it stands there.
    mutating func figure(_ name: String, _ exact: String, _ shown: String) {
        element("data", ["data-figure": name, "value": exact], shown)
    }

    /// Writes a count of `summary.json`.
    mutating func count(_ name: String, _ count: UInt64) {
        figure(name, String(count), NumberText.count(count))
    }

    /// Writes the one thing that is no text: a style sheet of Peal's own.
    mutating func style(_ sheet: StaticString) { text += "<style>\n\(sheet)</style>\n" }

    private mutating func begin(
        _ name: StaticString, _ attributes: KeyValuePairs<String, String>
    ) {
        text += "<\(name)"
        for (key, value) in attributes { text += " \(key)=\"\(Self.escaped(value))\"" }
    }

    private static func escaped(_ content: String) -> String {
        var result = ""
        for scalar in content.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            // XML knows no other control characters, escaped or not.
            case "\0"..."\u{08}", "\u{0B}"..."\u{1F}", "\u{FFFE}"..."\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Elements after which a line ends, for people who read the source.
    private static func isBlock(_ name: StaticString) -> Bool {
        switch name.description {
        case "data", "bdi", "strong", "code", "time", "td", "th", "dt", "span": false
        default: true
        }
    }
}
