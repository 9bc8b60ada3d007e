internal import JSON

/// One key with its value, as a specification on the command line and an object of a file both come
/// down to it: there is one model, and two ways to write it.
struct FaultField {
    let key: String
    let keyPlace: String
    /// Empty for a key that stands alone (in a file: `true`).
    let value: String
    let valuePlace: String

    /// The words of a specification: `key=value` or `key`, with blanks or commas between them.
    ///
    /// Places are columns, counted in bytes from 1.
    static func fields(ofSpec spec: String) -> [FaultField] {
        var fields: [FaultField] = []
        let bytes = Array(spec.utf8)
        func isGap(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: " ") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\t")
        }
        var start = 0
        while start < bytes.count {
            guard !isGap(bytes[start]) else {
                start += 1
                continue
            }
            let end = bytes[start...].firstIndex(where: isGap) ?? bytes.count
            let word = bytes[start..<end]
            let equals = word.firstIndex(of: UInt8(ascii: "="))
            fields.append(
                FaultField(
                    key: String(decoding: word[..<(equals ?? end)], as: UTF8.self),
                    keyPlace: "column \(start + 1)",
                    value: equals.map { String(decoding: word[($0 + 1)...], as: UTF8.self) } ?? "",
                    valuePlace: "column \((equals.map { $0 + 1 } ?? start) + 1)"))
            start = end
        }
        return fields
    }

    /// The members of one object of a file. *Errors*: a value that is no text, number or `true`.
    static func fields(of node: JSONNode) throws(FaultError) -> [FaultField] {
        guard let members = node.members else {
            throw FaultError(
                place(node.position),
                "a fault is an object such as { status: 503, p: 0.01 }, not \(node.kindName)")
        }
        var fields: [FaultField] = []
        for member in members {
            let value: String
            switch member.value.value {
            case .string(let text), .number(let text): value = text
            case .bool(true): value = ""
            default:
                throw FaultError(
                    place(member.value.position),
                    "\(member.key) takes a number, a text or true, not \(member.value.kindName)")
            }
            fields.append(
                FaultField(
                    key: member.key, keyPlace: place(member.keyPosition), value: value,
                    valuePlace: place(member.value.position)))
        }
        return fields
    }

    static func place(_ position: JSONPosition) -> String { "\(position.line):\(position.column)" }
}

/// What is wrong with a fault, where, and what to write.
struct FaultError: Error {
    let place: String
    let text: String

    init(_ place: String, _ text: String) {
        self.place = place
        self.text = text
    }
}
