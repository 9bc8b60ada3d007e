/// Pieces of a request's header block (RFC 7541), without the Huffman code.
///
/// These are the parts that are made once; what a request adds is written straight to its place.
enum HeaderText {
    /// The most bytes that an integer takes here: its prefix and 28 bits more.
    static let integerBytesMax = 5

    /// An integer behind `pattern`, in a prefix of so many bits (section 5.1).
    static func integer(_ value: Int, prefixBits: Int, pattern: UInt8 = 0) -> [UInt8] {
        let limit = 1 << prefixBits - 1
        guard value >= limit else { return [pattern | UInt8(value)] }
        var bytes = [pattern | UInt8(limit)]
        var rest = value - limit
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    /// A string (section 5.2).
    static func string(_ text: String) -> [UInt8] {
        integer(text.utf8.count, prefixBits: 7) + text.utf8
    }

    /// Writes the length of a string, and returns where the string goes.
    static func writeLength(
        _ byteCount: Int, to place: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        guard byteCount >= 0x7F else {
            place.storeBytes(of: UInt8(byteCount), as: UInt8.self)
            return place + 1
        }
        place.storeBytes(of: 0x7F, as: UInt8.self)
        var rest = byteCount - 0x7F
        var end = place + 1
        while rest >= 0x80 {
            end.storeBytes(of: UInt8(rest & 0x7F) | 0x80, as: UInt8.self)
            rest >>= 7
            end += 1
        }
        end.storeBytes(of: UInt8(rest), as: UInt8.self)
        return end + 1
    }
}

/// A header field with its form in the header tables.
struct HeaderField {
    let name: String
    let value: String
    /// The entry of the static table that has the name (RFC 7541, appendix A); 0: none.
    var nameIndex = 0

    /// What the field counts in a header table and in a header list (RFC 7541, section 4.1; RFC
    /// 9113, section 6.5.2).
    var byteCount: Int { name.utf8.count + value.utf8.count + Self.overheadBytes }
    static let overheadBytes = 32

    /// How a literal treats the tables (RFC 7541, section 6.2), as the bits in front of the name's
    /// index, and how many bits that index has.
    enum Form {
        case inserting
        case plain
        case neverIndexed

        fileprivate var pattern: UInt8 {
            switch self {
            case .inserting: 0x40
            case .plain: 0x00
            case .neverIndexed: 0x10
            }
        }

        fileprivate var prefixBits: Int { self == .inserting ? 6 : 4 }
    }

    /// The field as a literal.
    func literal(_ form: Form) -> [UInt8] {
        front(form) + HeaderText.string(value)
    }

    /// A literal up to its value.
    func front(_ form: Form) -> [UInt8] {
        HeaderText.integer(nameIndex, prefixBits: form.prefixBits, pattern: form.pattern)
            + (nameIndex == 0 ? HeaderText.string(name) : [])
    }
}

/// Memory of its own for bytes that are written again and again.
struct HeldBytes: ~Copyable {
    private let memory: UnsafeMutableRawBufferPointer  // owned

    init(_ bytes: [UInt8] = []) {
        memory = .allocate(byteCount: bytes.count, alignment: 16)
        memory.copyBytes(from: bytes)
    }

    deinit { memory.deallocate() }

    var count: Int { memory.count }

    /// Writes the bytes, and returns the place behind them.
    func write(to place: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        guard let source = memory.baseAddress else { return place }
        place.copyMemory(from: source, byteCount: memory.count)
        return place + memory.count
    }
}
