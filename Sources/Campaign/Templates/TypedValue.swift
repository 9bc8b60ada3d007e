internal import JSON

/// Checks and writes the values of placeholders with a type.
enum TypedValue {
    enum Result {
        case written
        /// The text is not of the type.
        case mismatch
        case noRoom
    }

    /// Writes `text` as the JSON value of `kind`. Blanks around it do not count. Allocates nothing.
    static func write(
        _ text: UnsafeRawBufferPointer, as kind: TemplateSegment.Kind, to buffer: inout RenderBuffer
    ) -> Result {
        let trimmed = trim(text)
        switch kind {
        case .int: return isInteger(trimmed) ? append(trimmed, &buffer) : .mismatch
        case .number: return isNumber(trimmed) ? append(trimmed, &buffer) : .mismatch
        case .bool:
            guard let truth = truth(trimmed) else { return .mismatch }
            return append(truth ? trueText : falseText, &buffer)
        case .json: return isJSON(trimmed) ? appendCompact(trimmed, &buffer) : .mismatch
        case .literal, .text, .plain: return .mismatch
        }
    }

    /// Writes JSON text that is known to be valid without the blanks between its tokens.
    static func appendCompact(
        _ json: UnsafeRawBufferPointer, _ buffer: inout RenderBuffer
    ) -> Result {
        var inString = false
        var index = 0
        while index < json.count {
            let byte = json[index]
            index += 1
            if !inString && (byte == 32 || byte == 9 || byte == 10 || byte == 13) { continue }
            if byte == UInt8(ascii: "\"") { inString.toggle() }
            if !buffer.append(byte) { return .noRoom }
            if inString && byte == UInt8(ascii: "\\") {
                if !buffer.append(json[index]) { return .noRoom }
                index += 1
            }
        }
        return .written
    }

    /// JSON's integer, `-?(0|[1-9][0-9]*)`, within a signed 64-bit number. A leading zero is
    /// refused rather than dropped: such a text is a code and no count.
    static func isInteger(_ text: UnsafeRawBufferPointer) -> Bool {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = text.dropFirst(isNegative ? 1 : 0)
        guard let first = digits.first, digits.count <= 19 else { return false }
        if first == UInt8(ascii: "0") && digits.count > 1 { return false }
        var value: UInt64 = 0  // 19 digits stay below 2^64
        for byte in digits {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return false }
            value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
        }
        return value <= UInt64(Int64.max) + (isNegative ? 1 : 0)
    }

    private static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        var scanner = JSONScanner(text)
        guard (try? scanner.next()) == .number, scanner.offset == text.count else { return false }
        return true
    }

    private static func isJSON(_ text: UnsafeRawBufferPointer) -> Bool {
        var scanner = JSONScanner(text)
        guard let first = try? scanner.next(), (try? scanner.finishValue(first)) != nil else {
            return false
        }
        return (try? scanner.next()) == .end
    }

    private static func truth(_ text: UnsafeRawBufferPointer) -> Bool? {
        if equals(text, trueText) { return true }
        if equals(text, falseText) { return false }
        guard text.count == 1 else { return nil }
        return text[0] == UInt8(ascii: "1") ? true : text[0] == UInt8(ascii: "0") ? false : nil
    }

    private static func append(
        _ text: UnsafeRawBufferPointer, _ buffer: inout RenderBuffer
    ) -> Result {
        buffer.append(text) ? .written : .noRoom
    }

    private static func append(_ text: StaticString, _ buffer: inout RenderBuffer) -> Result {
        append(
            UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), &buffer)
    }

    private static func equals(_ text: UnsafeRawBufferPointer, _ word: StaticString) -> Bool {
        text.elementsEqual(
            UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    private static func trim(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var start = 0
        var end = text.count
        while start < end, isBlank(text[start]) { start += 1 }
        while end > start, isBlank(text[end - 1]) { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: text[start..<end])
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

    private static let trueText: StaticString = "true"
    private static let falseText: StaticString = "false"
}
