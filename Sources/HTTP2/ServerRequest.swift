internal import Glibc

/// A request as a server session collects it: header fields and the beginning of the body, in
/// memory that is used again for later requests.
///
/// *Ownership*: the session's; valid during the delegate's call only. *Limits*: 16 KiB and 128
/// fields of headers (more are answered with 431 by the session), the first 8 KiB of the body.
package final class ServerRequest {
    static let headerBytesMax = 16_384
    static let fieldCountMax = 128
    package static let bodyBytesKeptMax = 8_192

    /// Where a field's name and value stand in the arena; 16 bits reach all of it.
    private struct Field {
        let start: UInt16
        let nameBytes: UInt16
        let valueBytes: UInt16
    }

    private let arena = UnsafeMutableRawPointer.allocate(
        byteCount: ServerRequest.headerBytesMax + ServerRequest.bodyBytesKeptMax, alignment: 64)
    private let fields = UnsafeMutablePointer<Field>.allocate(capacity: fieldCountMax)
    // Private, behind computed properties: a stored property that other modules can see costs a
    // dynamic exclusivity check at each use, here several for each header field.
    private var id = StreamID.max
    private var fieldsUsed = 0
    private var bodySeen = 0
    private var arenaUsed = 0
    private var listBytes = 0
    /// The header list is larger than the session takes.
    private(set) var isTooLarge = false
    // Where the pseudo-headers stand, which every request is asked for; -1: nowhere.
    private var methodIndex = -1
    private var pathIndex = -1

    init() {}

    deinit {
        arena.deallocate()
        fields.deallocate()
    }

    /// The stream to answer on.
    package var stream: StreamID { id }

    /// Header fields, pseudo-headers included; trailers are dropped.
    package var fieldCount: Int { fieldsUsed }

    /// The body's true size in bytes, of which `body` may hold only the beginning.
    package var bodyBytes: Int { bodySeen }

    /// The `:method`.
    package var method: UnsafeRawBufferPointer {
        methodIndex < 0 ? nothing : value(at: methodIndex)
    }

    /// The `:path`.
    package var path: UnsafeRawBufferPointer { pathIndex < 0 ? nothing : value(at: pathIndex) }

    /// The first 8 KiB of the body.
    package var body: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: arena + Self.headerBytesMax, count: min(bodySeen, Self.bodyBytesKeptMax))
    }

    /// The value of the first field called `name` (lower case); nil when there is none.
    package func header(_ name: StaticString) -> UnsafeRawBufferPointer? {
        for index in 0..<fieldsUsed where isNamed(index, name) { return value(at: index) }
        return nil
    }

    /// How many fields are called `name` (lower case).
    package func headerCount(_ name: StaticString) -> Int {
        var found = 0
        for index in 0..<fieldsUsed where isNamed(index, name) { found += 1 }
        return found
    }

    /// The name of the field at `index`, in the order of arrival.
    package func name(at index: Int) -> UnsafeRawBufferPointer {
        precondition(index < fieldsUsed)
        let field = fields[index]
        return UnsafeRawBufferPointer(start: arena + Int(field.start), count: Int(field.nameBytes))
    }

    /// The value of the field at `index`, in the order of arrival.
    package func value(at index: Int) -> UnsafeRawBufferPointer {
        precondition(index < fieldsUsed)
        let field = fields[index]
        let start = arena + Int(field.start) + Int(field.nameBytes)
        return UnsafeRawBufferPointer(start: start, count: Int(field.valueBytes))
    }

    func begin(_ stream: StreamID) {
        id = stream
        fieldsUsed = 0
        bodySeen = 0
        arenaUsed = 0
        listBytes = 0
        isTooLarge = false
        methodIndex = -1
        pathIndex = -1
    }

    /// Takes a field in, unless the list becomes larger than `listBytesMax` or than the memory.
    func addField(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, listBytesMax: Int
    ) {
        // RFC 9113, section 6.5.2: a field counts its bytes and 32 more.
        listBytes += name.count + value.count + 32
        let end = arenaUsed + name.count + value.count
        guard !isTooLarge, listBytes <= listBytesMax, end <= Self.headerBytesMax,
            fieldsUsed < Self.fieldCountMax
        else {
            isTooLarge = true
            return
        }
        fields[fieldsUsed] = Field(
            start: UInt16(arenaUsed), nameBytes: UInt16(name.count), valueBytes: UInt16(value.count)
        )
        copy(name, to: arenaUsed)
        copy(value, to: arenaUsed + name.count)
        if name.first == UInt8(ascii: ":") {
            // The first of its name counts; nghttp2 refuses a second one anyway.
            if methodIndex < 0, isNamed(fieldsUsed, ":method") { methodIndex = fieldsUsed }
            if pathIndex < 0, isNamed(fieldsUsed, ":path") { pathIndex = fieldsUsed }
        }
        arenaUsed = end
        fieldsUsed += 1
    }

    /// Counts body bytes and keeps what fits.
    func addBody(_ bytes: UnsafeRawBufferPointer) {
        let room = max(0, Self.bodyBytesKeptMax - bodySeen)
        let kept = UnsafeRawBufferPointer(rebasing: bytes.prefix(room))
        copy(kept, to: Self.headerBytesMax + bodySeen)
        bodySeen += bytes.count
    }

    private var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    private func isNamed(_ index: Int, _ name: StaticString) -> Bool {
        let field = fields[index]
        return Int(field.nameBytes) == name.utf8CodeUnitCount
            && memcmp(arena + Int(field.start), name.utf8Start, name.utf8CodeUnitCount) == 0
    }

    private func copy(_ bytes: UnsafeRawBufferPointer, to offset: Int) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        (arena + offset).copyMemory(from: source, byteCount: bytes.count)
    }
}

@available(*, unavailable) extension ServerRequest: Sendable {}
