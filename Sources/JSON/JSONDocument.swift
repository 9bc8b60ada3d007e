/// Reads a whole JSON text into nodes.
package enum JSONDocument {
    /// Reads `bytes`, which must hold one value and nothing else. Repeated keys are refused.
    ///
    /// Errors: the first fault of the text. Limits: nesting as in `JSONScanner`; memory is a small
    /// multiple of the text, so bound the file before reading it.
    package static func parse(
        _ bytes: UnsafeRawBufferPointer, dialect: JSONDialect
    ) throws(JSONError) -> JSONNode {
        var scanner = JSONScanner(bytes, dialect: dialect)
        let node = try node(try scanner.next(), &scanner)
        _ = try scanner.next()
        return node
    }

    /// Reads `bytes`, which must hold one value and nothing else.
    package static func parse(
        _ bytes: [UInt8], dialect: JSONDialect
    ) throws(JSONError) -> JSONNode {
        // withUnsafeBytes rethrows untyped errors, hence the Result.
        try bytes.withUnsafeBytes { raw -> Result<JSONNode, JSONError> in
            do throws(JSONError) {
                return .success(try parse(raw, dialect: dialect))
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// The value that starts with `token`; recursion is bounded by the scanner's depth.
    private static func node(
        _ token: JSONToken, _ scanner: inout JSONScanner
    ) throws(JSONError) -> JSONNode {
        let position = scanner.position
        let isVerbatim = token == .string && !scanner.hasEscapes
        let value: JSONValue =
            switch token {
            case .beginObject: .object(try members(&scanner))
            case .beginArray: .array(try elements(&scanner))
            case .string: .string(scanner.text.string)
            case .number: .number(numberText(scanner.numberText))
            case .true: .bool(true)
            case .false: .bool(false)
            case .null: .null
            case .key, .endObject, .endArray, .end:
                preconditionFailure("the scanner's grammar gives no such token for a value")
            }
        return JSONNode(position: position, value: value, isVerbatim: isVerbatim)
    }

    private static func members(_ scanner: inout JSONScanner) throws(JSONError) -> [JSONMember] {
        var members: [JSONMember] = []
        var seen: Set<[UInt8]> = []  // bytes, because String's == follows Unicode equivalence
        while case let token = try scanner.next(), token != .endObject {
            let key = scanner.text.string
            let keyPosition = scanner.position
            guard seen.insert(Array(key.utf8)).inserted else {
                throw JSONError(position: keyPosition, fault: .repeatedKey)
            }
            let value = try node(try scanner.next(), &scanner)
            members.append(JSONMember(key: key, keyPosition: keyPosition, value: value))
        }
        return members
    }

    private static func elements(_ scanner: inout JSONScanner) throws(JSONError) -> [JSONNode] {
        var elements: [JSONNode] = []
        while case let token = try scanner.next(), token != .endArray {
            elements.append(try node(token, &scanner))
        }
        return elements
    }

    /// The number as JSON text: JSON's own forms unchanged, JSON5's further ones converted.
    private static func numberText(_ raw: UnsafeRawBufferPointer) -> String {
        var text = String(decoding: raw, as: UTF8.self)
        if text.hasPrefix("+") { text.removeFirst() }
        let sign = text.hasPrefix("-") ? "-" : ""
        var digits = text.dropFirst(sign.count)
        if digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            guard let value = UInt64(digits.dropFirst(2), radix: 16) else {
                preconditionFailure("the scanner refuses hexadecimal numbers above 64 bits")
            }
            return sign + String(value)
        }
        if digits.hasPrefix(".") { digits = "0" + digits }
        guard let point = digits.firstIndex(of: ".") else { return sign + digits }
        let after = digits.index(after: point)
        let hasFraction = after < digits.endIndex && digits[after].isNumber
        if !hasFraction { digits.remove(at: point) }
        return sign + digits
    }
}
