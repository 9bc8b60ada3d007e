internal import CNghttp2
internal import Glibc

/// Memory for nghttp2's header table, which takes and gives back a few small pieces with nearly
/// every response: pieces that come back are kept for the next ones, by size.
///
/// *Limits*: one slab of 64 KiB, more than a table of 4,096 bytes ever fills with what it holds; a
/// larger piece, or one that finds no room, is `malloc`'s.
struct InflaterMemory: ~Copyable {
    /// The functions for nghttp2. *Ownership*: valid as long as this value.
    let functions: UnsafeMutablePointer<nghttp2_mem>
    private let slab: UnsafeMutablePointer<Slab>

    init() {
        slab = .allocate(capacity: 1)
        slab.initialize(to: Slab())
        functions = .allocate(capacity: 1)
        functions.initialize(
            to: nghttp2_mem(
                mem_user_data: slab,
                malloc: { byteCount, slab in take(byteCount, slab) },
                free: { piece, slab in giveBack(piece, slab) },
                calloc: { count, byteCount, slab in
                    let (all, overflow) = count.multipliedReportingOverflow(by: byteCount)
                    guard !overflow, let piece = take(all, slab) else { return nil }
                    memset(piece, 0, all)
                    return piece
                },
                realloc: { piece, byteCount, slab in
                    guard let larger = take(byteCount, slab) else { return nil }
                    if let piece {
                        memcpy(larger, piece, min(byteCount, Slab.size(of: piece)))
                        giveBack(piece, slab)
                    }
                    return larger
                }))
    }

    deinit {
        slab.pointee.memory.deallocate()
        slab.deallocate()
        functions.deallocate()
    }
}

/// The slab: pieces in multiples of 64 bytes, with their size in front of them.
private struct Slab {
    static let slabBytes = 65_536
    static let unitBytes = 64
    /// Holds the size, and keeps what follows aligned for anything.
    static let headBytes = 16
    /// Pieces up to 1 KiB are kept.
    static let unitsMax = 16

    let memory = UnsafeMutableRawPointer.allocate(byteCount: slabBytes, alignment: unitBytes)
    var usedBytes = 0
    /// For each size the pieces that are free, each pointing to the next.
    var free = InlineArray<17, UnsafeMutableRawPointer?>(repeating: nil)

    /// The bytes that a piece has room for.
    static func size(of piece: UnsafeMutableRawPointer) -> Int {
        (piece - headBytes).load(as: Int.self) - headBytes
    }
}

private func take(
    _ byteCount: Int, _ user: UnsafeMutableRawPointer?
) -> UnsafeMutableRawPointer? {
    // nghttp2 hands back the slab that it was given.
    guard let slab = user?.assumingMemoryBound(to: Slab.self) else { return nil }
    let units = (byteCount + Slab.headBytes + Slab.unitBytes - 1) / Slab.unitBytes
    if units <= Slab.unitsMax {
        if let piece = slab.pointee.free[units] {
            slab.pointee.free[units] = piece.load(as: UnsafeMutableRawPointer?.self)
            return piece
        }
        if slab.pointee.usedBytes + units * Slab.unitBytes <= Slab.slabBytes {
            let start = slab.pointee.memory + slab.pointee.usedBytes
            slab.pointee.usedBytes += units * Slab.unitBytes
            start.storeBytes(of: units * Slab.unitBytes, as: Int.self)
            return start + Slab.headBytes
        }
    }
    guard let start = malloc(units * Slab.unitBytes) else { return nil }
    start.storeBytes(of: units * Slab.unitBytes, as: Int.self)
    return start + Slab.headBytes
}

private func giveBack(_ piece: UnsafeMutableRawPointer?, _ user: UnsafeMutableRawPointer?) {
    guard let piece, let slab = user?.assumingMemoryBound(to: Slab.self) else { return }
    let start = piece - Slab.headBytes
    let offset = start - slab.pointee.memory
    guard offset >= 0, offset < Slab.slabBytes else { return free(start) }
    let units = start.load(as: Int.self) / Slab.unitBytes
    piece.storeBytes(of: slab.pointee.free[units], as: UnsafeMutableRawPointer?.self)
    slab.pointee.free[units] = piece
}
