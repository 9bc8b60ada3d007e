/// A value of a JSON document and the place where it stands.
package struct JSONNode: Sendable {
    package var position: JSONPosition
    package var value: JSONValue
    /// A string that stands in the text as it is, without escapes: its first byte is the one after
    /// `position`, the others follow.
    package let isVerbatim: Bool

    package init(position: JSONPosition, value: JSONValue, isVerbatim: Bool = false) {
        self.position = position
        self.value = value
        self.isVerbatim = isVerbatim
    }
}

/// A JSON value that keeps what Foundation's parser loses: the order of keys and the text of
/// numbers.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// Valid JSON number text: as written, or what a JSON5 form stands for (`.5` is `0.5`).
    case number(String)
    case string(String)
    case array([JSONNode])
    /// In the order of the text; keys are unique.
    case object([JSONMember])
}

/// A key of an object with its value.
package struct JSONMember: Sendable {
    package var key: String
    package var keyPosition: JSONPosition
    package var value: JSONNode

    package init(key: String, keyPosition: JSONPosition, value: JSONNode) {
        self.key = key
        self.keyPosition = keyPosition
        self.value = value
    }
}

extension JSONNode {
    /// The value of `key`; nil when this is no object or has no such key. Keys are compared by
    /// their code points: Swift's `==` would also take a Kelvin sign for a "K".
    package subscript(key: String) -> JSONNode? {
        members?.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
    }

    package var members: [JSONMember]? {
        if case .object(let members) = value { members } else { nil }
    }

    package var elements: [JSONNode]? {
        if case .array(let elements) = value { elements } else { nil }
    }

    package var asString: String? {
        if case .string(let text) = value { text } else { nil }
    }

    package var asBool: Bool? {
        if case .bool(let truth) = value { truth } else { nil }
    }

    /// The number when it is written as an integer and fits 64 bits.
    package var asInt: Int? {
        if case .number(let text) = value { Int(text) } else { nil }
    }

    package var asDouble: Double? {
        if case .number(let text) = value { Double(text) } else { nil }
    }

    /// What kind of value this is, for messages: "a string", "an object", …
    package var kindName: String {
        switch value {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
