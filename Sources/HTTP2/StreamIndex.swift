/// Finds the slot of an open stream by its number: a hash table with linear probing in fixed
/// memory.
///
/// *Limits*: at most `capacity` streams, with which the table is at most half full.
struct StreamIndex: ~Copyable {
    private struct Cell {
        /// 0: the cell is empty.
        var stream: Int32 = 0
        var slot: Int32 = 0
    }

    private let cells: UnsafeMutablePointer<Cell>  // owned
    private let mask: Int
    private let shift: UInt32

    init(capacity: Int) {
        var cellCountLog2: UInt32 = 1
        while 1 << cellCountLog2 < 2 * capacity { cellCountLog2 += 1 }
        let cellCount = 1 << cellCountLog2
        cells = .allocate(capacity: cellCount)
        cells.initialize(repeating: Cell(), count: cellCount)
        mask = cellCount - 1
        shift = 32 - cellCountLog2
    }

    deinit { cells.deallocate() }

    /// The slot of a stream; nil when it is not open.
    func slot(of stream: Int32) -> Int? {
        var place = home(stream)
        while cells[place].stream != stream {
            guard cells[place].stream != 0 else { return nil }
            place = (place + 1) & mask
        }
        return Int(cells[place].slot)
    }

    /// *Limits*: the stream must be new, and not 0.
    func insert(_ stream: Int32, slot: Int) {
        var place = home(stream)
        while cells[place].stream != 0 { place = (place + 1) & mask }
        cells[place] = Cell(stream: stream, slot: Int32(slot))
    }

    /// Removes a stream, and moves those that had to make way for it: no marks are left behind.
    func remove(_ stream: Int32) {
        var hole = home(stream)
        while cells[hole].stream != stream {
            guard cells[hole].stream != 0 else { return }
            hole = (hole + 1) & mask
        }
        var place = hole
        while true {
            place = (place + 1) & mask
            let next = cells[place].stream
            guard next != 0 else { break }
            // It may move to the hole unless its home lies behind the hole.
            if (place &- home(next)) & mask >= (place &- hole) & mask {
                cells[hole] = cells[place]
                hole = place
            }
        }
        cells[hole] = Cell()
    }

    /// Fibonacci hashing: numbers in a row, which streams are, are spread evenly, so that there are
    /// no long runs to walk.
    private func home(_ stream: Int32) -> Int {
        Int((UInt32(bitPattern: stream) >> 1 &* 0x9E37_79B1) >> shift)
    }
}
