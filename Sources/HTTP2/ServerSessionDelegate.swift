/// Who answers the requests of a server session.
///
/// The calls come from inside `receive`, `pump` and `connectionEnded`, on the session's thread, and
/// may respond, reset and send GOAWAY.
package protocol ServerSessionDelegate: AnyObject {
    /// A whole request is here. The answer may be given at once or later.
    ///
    /// *Ownership*: `request` goes back to a pool after the call; keep its `stream`, copy the rest.
    func session(_ session: ServerSession, received request: ServerRequest)
    /// The stream is over, answered or not: nothing more can be sent on it.
    func session(_ session: ServerSession, streamClosed stream: StreamID, errorCode: HTTP2ErrorCode)
}

/// One header field of a response.
package struct ResponseField {
    /// In lower case.
    package let name: StaticString
    /// *Ownership*: borrowed until `respond` returns.
    package let value: UnsafeRawBufferPointer
    /// Whether other responses have the same: it then goes into the compression's table.
    let isConstant: Bool

    /// A field whose value is this response's own.
    package init(_ name: StaticString, _ value: UnsafeRawBufferPointer) {
        self.init(name, value, isConstant: false)
    }

    init(_ name: StaticString, _ value: UnsafeRawBufferPointer, isConstant: Bool) {
        self.name = name
        self.value = value
        self.isConstant = isConstant
    }

    /// A field whose value is known when the program is built.
    package init(_ name: StaticString, _ value: StaticString) {
        precondition(value.hasPointerRepresentation)
        self.init(
            name,
            UnsafeRawBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount),
            isConstant: true)
    }
}

/// The header fields of a response beside its status: a short list that lives on the stack.
///
/// *Limits*: at most `countMax` fields.
package struct ResponseHeaders {
    package static let countMax = 8
    private var fields: InlineArray<8, ResponseField>
    private(set) package var count = 0

    package init() {
        fields = InlineArray(repeating: ResponseField("", ""))
    }

    /// Adds a field behind the others.
    package mutating func add(_ field: ResponseField) {
        precondition(count < Self.countMax)
        fields[count] = field
        count += 1
    }

    package subscript(index: Int) -> ResponseField {
        precondition(index < count)
        return fields[index]
    }
}
