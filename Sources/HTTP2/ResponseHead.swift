internal import Glibc

/// What a client wants to know of one header list of a response: a 1xx, the final one or trailers.
struct ResponseHead {
    /// Three digits; 0: there was none.
    private(set) var status: UInt16 = 0
    /// The `retry-after` header; -1: none, or no plain number.
    private(set) var retryAfterSeconds: Int32 = -1
    /// A rule of RFC 9113, section 8, is broken. Those about connection headers and the length of
    /// the body are not looked at: a row's answer is not worth less for them.
    private(set) var isMalformed = false
    /// Names, values and 32 bytes a field (RFC 9113, section 6.5.2).
    private(set) var listBytes = 0
    private var hasOrdinaryField = false

    init() {}

    /// A final 200 of which nothing more is wanted.
    static let accepted = ResponseHead(status: 200)

    private init(status: UInt16) { self.status = status }

    /// Takes the next field.
    mutating func add(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        listBytes += name.count + value.count + HeaderField.overheadBytes
        guard let first = name.first else {
            isMalformed = true
            return
        }
        if first == UInt8(ascii: ":") {
            addPseudo(name, value)
        } else {
            hasOrdinaryField = true
            if name.contains(where: { $0 >= 0x41 && $0 <= 0x5A }) { isMalformed = true }
            if isText(name, "retry-after") { retryAfterSeconds = decimal(value) ?? -1 }
        }
    }

    /// The only pseudo-header field of a response, once, and in front.
    private mutating func addPseudo(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) {
        guard isText(name, ":status"), value.count == 3, let number = decimal(value),
            number >= 100, status == 0, !hasOrdinaryField
        else {
            isMalformed = true
            return
        }
        status = UInt16(number)
    }
}

private func isText(_ bytes: UnsafeRawBufferPointer, _ text: StaticString) -> Bool {
    guard let start = bytes.baseAddress, bytes.count == text.utf8CodeUnitCount else { return false }
    return memcmp(start, text.utf8Start, bytes.count) == 0
}

/// A decimal number of at most nine digits; nil when it is anything else.
private func decimal(_ text: UnsafeRawBufferPointer) -> Int32? {
    guard !text.isEmpty, text.count <= 9 else { return nil }
    var number: Int32 = 0
    for byte in text {
        guard byte >= 0x30, byte <= 0x39 else { return nil }
        number = number * 10 + Int32(byte - 0x30)
    }
    return number
}
