internal import CNghttp2

/// Reads the header blocks of a server with nghttp2's HPACK, and keeps the table that they build.
///
/// Every block must be read, in order, also those that nobody waits for: the table is one for the
/// whole connection.
struct HeaderInflater: ~Copyable {
    private let inflater: OpaquePointer
    private let memory: InflaterMemory

    init() throws(HTTP2Error) {
        let memory = InflaterMemory()
        var made: OpaquePointer?
        guard nghttp2_hd_inflate_new2(&made, memory.functions) == 0, let made else {
            throw HTTP2Error(code: .internalError, message: "no memory for an HPACK table")
        }
        inflater = made
        self.memory = memory
    }

    deinit { nghttp2_hd_inflate_del(inflater) }

    /// Reads a whole block. *Errors*: a block that HPACK cannot read, or a list over our limit.
    func read(_ block: UnsafeRawBufferPointer) throws(HTTP2Error) -> ResponseHead {
        if isPlainAcceptance(block) { return .accepted }
        var head = ResponseHead()
        guard var place = block.baseAddress else { return head }
        let end = place + block.count
        while true {
            var field = nghttp2_nv()
            var flags: Int32 = 0
            let count = nghttp2_hd_inflate_hd2(
                inflater, &field, &flags, place.assumingMemoryBound(to: UInt8.self), end - place, 1)
            guard count >= 0 else {
                throw HTTP2Error(
                    code: .compressionError, message: "a header block that HPACK cannot read")
            }
            place += count
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                head.add(
                    UnsafeRawBufferPointer(start: field.name, count: field.namelen),
                    UnsafeRawBufferPointer(start: field.value, count: field.valuelen))
                guard head.listBytes <= ClientSession.headerListBytesMax else {
                    throw Self.tooLarge
                }
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
        }
        nghttp2_hd_inflate_end_headers(inflater)
        return head
    }

    /// Also for a block that is too large before it is read.
    static var tooLarge: HTTP2Error {
        .enhanceYourCalm(
            "the server's response headers are over \(ClientSession.headerListBytesMax) bytes")
    }
}

/// Whether a block is a 200 that neither changes nor needs the table, as most answers are: then
/// there is nothing in it to inflate.
///
/// That is `:status: 200` from the static table, and behind it fields from there, or literals that
/// are not indexed and have a name from there or of their own (RFC 7541, section 6); whatever else
/// can stand in a block, a change of the table's size too, is left to nghttp2. What the fields
/// say is nothing that a 200 is asked for.
func isPlainAcceptance(_ block: UnsafeRawBufferPointer) -> Bool {
    /// So short that the list is within our limit: a byte stands for 60 at most, those of
    /// `access-control-allow-origin` without a value.
    let blockBytesMax = 256
    let status200: UInt8 = 0x88
    /// The first entry of the static table that is no pseudo-header field, and the last of all.
    let ordinaryIndices: ClosedRange<UInt8> = 15...61
    guard block.count <= blockBytesMax, block.first == status200 else { return false }
    var place = 1

    /// Passes over a string of less than 127 bytes.
    func skipString() -> Bool {
        guard place < block.count, block[place] & 0x7F != 0x7F else { return false }
        place += 1 + Int(block[place] & 0x7F)
        return place <= block.count
    }

    /// Passes over a name, which must not be a pseudo-header field's: ":" begins those, or its
    /// Huffman code, seven bits (RFC 7541, appendix B).
    func skipName() -> Bool {
        guard place + 1 < block.count, block[place] & 0x7F != 0 else { return false }
        let isHuffman = block[place] & 0x80 != 0
        let first = block[place + 1]
        guard isHuffman ? first >> 1 != 0x5C : first != UInt8(ascii: ":") else { return false }
        return skipString()
    }

    while place < block.count {
        let first = block[place]
        place += 1
        if first & 0x80 != 0 {
            guard ordinaryIndices.contains(first & 0x7F) else { return false }
        } else if first & 0xE0 == 0 {
            if first & 0x0F == 0 {
                guard skipName() else { return false }
            } else if first & 0x0F == 0x0F {
                // 15 and what one more byte adds.
                guard place < block.count, block[place] <= ordinaryIndices.upperBound - 15 else {
                    return false
                }
                place += 1
            } else {
                return false
            }
            guard skipString() else { return false }
        } else {
            return false
        }
    }
    return true
}
