/// Writes the header blocks of a session's requests (RFC 7541). What all requests have in common
/// goes into the peer's header table with the first one and is a byte per field from then on.
///
/// Only the first block inserts, only constants, in a fixed order. The path and `authorization` are
/// literals that stay out of the tables, as Apple asks, and so are a request's own headers. So the
/// table is known at any time, whatever becomes of a request: a block that was written is never
/// taken back.
///
/// When the peer changes the size of its table, the next block says the new size and begins anew.
final class RequestBlockWriter {
    /// The longest path of a request after the prefix.
    static let pathBytesMax = 1_024
    /// The table that every peer has at first (RFC 9113, section 6.5.2); a larger one is not used.
    private static let tableBytesMax = 4_096
    /// The dynamic table begins behind the static one (RFC 7541, section 2.3.3).
    private static let dynamicIndexFirst = 62
    private static let sizeUpdatePattern: UInt8 = 0x20

    /// Owned: what stands before the path and behind it, in the form that the next block needs.
    private let parts: UnsafeMutablePointer<HeldBytes>
    private let pathPrefix: HeldBytes
    private let perRequest: UnsafeMutablePointer<PerRequestName>  // owned
    private let perRequestCount: Int
    private let perRequestBytes: Int

    private let pseudo: [HeaderField]  // before the path
    private let constants: [HeaderField]  // behind it
    private var authorization: HeaderField?

    /// The size of the peer's table as the last block left it, and what SETTINGS have said since.
    private var tableBytes = tableBytesMax
    private var tableBytesNext = tableBytesMax
    private var tableBytesSmallest = tableBytesMax
    /// The constants are in the peer's table, and `parts` names them there.
    private var isPrimed = false

    private(set) var partsBytes = 0
    /// What a request's header list counts without the end of the path and its own headers.
    private(set) var listBytes = 0

    init(_ template: RequestTemplate) {
        pseudo = [
            HeaderField(name: ":method", value: "POST", nameIndex: 3),
            HeaderField(name: ":scheme", value: template.scheme, nameIndex: 7),
            HeaderField(name: ":authority", value: template.authority, nameIndex: 1),
        ]
        constants = template.headers.map { HeaderField(name: $0.0.lowercased(), value: $0.1) }
        let names = template.perRequestHeaders.map {
            HeaderField(name: $0.lowercased(), value: "")
        }
        parts = .allocate(capacity: 2)
        for part in 0..<2 { (parts + part).initialize(to: HeldBytes()) }
        pathPrefix = HeldBytes(Array(template.pathPrefix.utf8))
        perRequestCount = names.count
        perRequest = .allocate(capacity: names.count)
        for (index, name) in names.enumerated() {
            (perRequest + index).initialize(to: PerRequestName(name))
        }
        perRequestBytes = names.reduce(0) { $0 + $1.byteCount }
        setAuthorization(template.authorization)
        rebuild()
    }

    deinit {
        perRequest.deinitialize(count: perRequestCount)
        perRequest.deallocate()
        parts.deinitialize(count: 2)
        parts.deallocate()
    }

    // MARK: Changes

    /// Takes a new value for `authorization`, from the next block on.
    func replaceAuthorization(_ value: String) {
        setAuthorization(value)
        rebuild()
    }

    /// The peer's table has another size from our acknowledgement on; `smallest` is the least of
    /// those that one SETTINGS frame named.
    func setTableBytes(smallest: UInt32, last: UInt32) {
        tableBytesSmallest = min(tableBytesSmallest, Int(min(smallest, UInt32(Self.tableBytesMax))))
        tableBytesNext = Int(min(last, UInt32(Self.tableBytesMax)))
        rebuild()
    }

    // MARK: Blocks

    /// The most bytes that the block of such a request takes.
    func blockBytesMax(valueBytes: Int) -> Int {
        partsBytes + pathPrefix.count + Self.pathBytesMax + perRequestBytes + valueBytes
            + 2 * HeaderText.integerBytesMax
    }

    /// What the header list of such a request counts.
    func listBytes(
        path: UnsafeRawBufferPointer, values: UnsafeBufferPointer<UnsafeRawBufferPointer>
    )
        -> Int
    {
        var count = listBytes + path.count
        for index in 0..<values.count where !values[index].isEmpty {
            count += perRequest[index].listBytes + values[index].count
        }
        return count
    }

    /// Writes one request's block, and returns the place behind it. *Limits*: `blockBytesMax` bytes
    /// must have room.
    func write(
        path: UnsafeRawBufferPointer, values: UnsafeBufferPointer<UnsafeRawBufferPointer>,
        to start: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        precondition(path.count <= Self.pathBytesMax, "the path is too long")
        precondition(values.count == perRequestCount, "one value for each named header")
        var place = parts[0].write(to: start)
        place = HeaderText.writeLength(pathPrefix.count + path.count, to: place)
        place = pathPrefix.write(to: place)
        place = Self.copy(path, to: place)
        place = parts[1].write(to: place)
        for index in 0..<perRequestCount where !values[index].isEmpty {
            place = perRequest[index].front.write(to: place)
            place = HeaderText.writeLength(values[index].count, to: place)
            place = Self.copy(values[index], to: place)
        }
        if !isPrimed { becomePrimed() }
        return place
    }

    private static func copy(
        _ bytes: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        guard let source = bytes.baseAddress else { return place }
        place.copyMemory(from: source, byteCount: bytes.count)
        return place + bytes.count
    }

    // MARK: Parts

    private func setAuthorization(_ value: String?) {
        authorization = value.map { HeaderField(name: "authorization", value: $0, nameIndex: 23) }
    }

    /// The block that has just been written has put the constants into the table.
    private func becomePrimed() {
        isPrimed = true
        tableBytes = tableBytesNext
        tableBytesSmallest = tableBytesNext
        rebuild()
    }

    /// Makes the parts in the form that the next block needs.
    private func rebuild() {
        let updates = sizeUpdates()
        if !updates.isEmpty { isPrimed = false }
        let indices = tableIndices()
        func bytes(_ fields: [HeaderField], firstAt offset: Int) -> [UInt8] {
            fields.enumerated().flatMap { place, field in
                if let index = indices[offset + place].known {
                    return HeaderText.integer(index, prefixBits: 7, pattern: 0x80)
                }
                return field.literal(indices[offset + place].isInserted ? .inserting : .plain)
            }
        }
        let path = HeaderField(name: ":path", value: "", nameIndex: 4).front(.plain)
        parts[0] = HeldBytes(updates + bytes(pseudo, firstAt: 0) + path)
        parts[1] = HeldBytes(
            bytes(constants, firstAt: pseudo.count)
                + (authorization?.literal(.neverIndexed) ?? []))
        partsBytes = parts[0].count + parts[1].count
        let fields = pseudo + constants + [authorization].compactMap { $0 }
        listBytes =
            fields.reduce(0) { $0 + $1.byteCount } + ":path".utf8.count + pathPrefix.count
            + HeaderField.overheadBytes
    }

    /// What the front of the next block must say about the table's size: the smallest since the
    /// last block if that took something away, and the final one (RFC 7541, section 4.2).
    private func sizeUpdates() -> [UInt8] {
        guard tableBytesSmallest < tableBytes || tableBytesNext != tableBytes else { return [] }
        var sizes = [tableBytesNext]
        if tableBytesSmallest < min(tableBytes, tableBytesNext) {
            sizes.insert(tableBytesSmallest, at: 0)
        }
        return sizes.flatMap {
            HeaderText.integer($0, prefixBits: 5, pattern: Self.sizeUpdatePattern)
        }
    }

    /// Where each constant stands: in the static table; in the dynamic one, as far as they fit,
    /// the last one inserted in front; or nowhere.
    private func tableIndices() -> [(known: Int?, isInserted: Bool)] {
        var free = tableBytesNext
        var insertedCount = 0
        let fields = pseudo + constants
        let places: [(known: Int?, insertion: Int?)] = fields.map { field in
            if let index = Self.staticIndex(field) { return (index, nil) }
            guard field.byteCount <= free else { return (nil, nil) }
            free -= field.byteCount
            insertedCount += 1
            return (nil, insertedCount)
        }
        return places.map { place in
            guard let insertion = place.insertion else { return (place.known, false) }
            let index = Self.dynamicIndexFirst + insertedCount - insertion
            return (isPrimed ? index : nil, !isPrimed)
        }
    }

    /// The whole fields of the static table that a request can have (RFC 7541, appendix A).
    private static func staticIndex(_ field: HeaderField) -> Int? {
        switch (field.name, field.value) {
        case (":method", "POST"): 3
        case (":scheme", "http"): 6
        case (":scheme", "https"): 7
        default: nil
        }
    }
}

/// A header of which each request has its own value, or none.
private struct PerRequestName: ~Copyable {
    /// The literal up to its value.
    let front: HeldBytes
    /// What it counts in a header list beside its value.
    let listBytes: Int

    init(_ name: HeaderField) {
        front = HeldBytes(name.front(.plain))
        listBytes = name.byteCount
    }
}
