/// Writes JSON text. Commas, colons and, when `pretty`, line breaks are its own business.
package struct JSONWriter {
    /// What was written so far.
    package private(set) var bytes: [UInt8] = []
    private let pretty: Bool
    /// One entry per open array or object: whether it already holds something.
    private var hasContent: [Bool] = []
    private var followsKey = false

    /// `pretty`: one member per line, indented by two spaces. Otherwise no blank is written.
    package init(pretty: Bool = false) { self.pretty = pretty }

    /// Opens an object: keys, each with its value, follow until `endObject`.
    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Closes the innermost object.
    package mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Opens an array: values follow until `endArray`.
    package mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Closes the innermost array.
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes a key of the innermost object; its value comes next.
    package mutating func key(_ key: String) {
        precondition(!hasContent.isEmpty && !followsKey)
        separate()
        quoted(key)
        bytes.append(UInt8(ascii: ":"))
        if pretty { bytes.append(UInt8(ascii: " ")) }
        followsKey = true
    }

    /// Writes a string; only what JSON demands is escaped.
    package mutating func string(_ text: String) {
        separate()
        quoted(text)
    }

    /// Writes text that is given as UTF-8; what is not well-formed becomes U+FFFD, so that the
    /// output is always JSON.
    package mutating func string(utf8: UnsafeRawBufferPointer) {
        if UTF8Check.firstFault(in: utf8) != nil {
            string(String(decoding: utf8, as: UTF8.self))
            return
        }
        separate()
        bytes.append(UInt8(ascii: "\""))
        JSONEscape.append(utf8, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes an integer, whatever its size.
    package mutating func number(_ value: some BinaryInteger) {
        separate()
        bytes += String(value).utf8
    }

    /// Writes the shortest text that reads back as `value`, which must be finite.
    package mutating func number(_ value: Double) {
        precondition(value.isFinite, "JSON has no Infinity and no NaN")
        separate()
        bytes += value.description.utf8
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ value: Bool) {
        separate()
        bytes += (value ? "true" : "false").utf8
    }

    /// Writes `null`.
    package mutating func null() {
        separate()
        bytes += "null".utf8
    }

    /// Writes a value with all that is in it; numbers keep their text.
    package mutating func value(_ node: JSONNode) {
        switch node.value {
        case .null: null()
        case .bool(let truth): bool(truth)
        case .number(let text):
            separate()
            bytes += text.utf8
        case .string(let text): string(text)
        case .array(let elements):
            beginArray()
            for element in elements { value(element) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members {
                key(member.key)
                value(member.value)
            }
            endObject()
        }
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        hasContent.append(false)
    }

    private mutating func close(_ bracket: UInt8) {
        precondition(!followsKey, "a key without a value")
        let hadContent = hasContent.removeLast()
        if hadContent { breakLine() }
        bytes.append(bracket)
    }

    /// Writes what stands between the previous token and the next.
    private mutating func separate() {
        if followsKey {
            followsKey = false
            return
        }
        guard let hadContent = hasContent.last else { return }
        if hadContent { bytes.append(UInt8(ascii: ",")) }
        hasContent[hasContent.count - 1] = true
        breakLine()
    }

    private mutating func breakLine() {
        guard pretty else { return }
        bytes.append(10)
        bytes += repeatElement(UInt8(ascii: " "), count: hasContent.count * 2)
    }

    private mutating func quoted(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { JSONEscape.append(UnsafeRawBufferPointer($0), to: &bytes) }
        bytes.append(UInt8(ascii: "\""))
    }
}
